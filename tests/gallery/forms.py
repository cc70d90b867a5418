"""Modals: the form of an edit, reasons and answers, everything that will run."""

from __future__ import annotations

from typing import Any

from bot.card import arguments_of
from bot.channels.slack import modals, pages, turns
from bot.channels.slack.asking_form import AnswerForm
from bot.channels.slack.editing import Answers, Editing
from hitl_core.forms import FormErrors
from hitl_core.model import Review
from tests.channels.scenes import BOB, DEFAULT, EMAIL, THREE, asking, decided, review_of
from tests.gallery.showing import Json, Scene, Shown, Slack, meta_of, modal
from tests.gallery.waiting import CONTRACT, REFUND, REFUND_RULE

EVERYTHING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "trip_id": {"type": "string", "title": "Trip", "readOnly": True},
        "traveller": {"type": "string", "title": "Traveller", "maxLength": 80},
        "email": {"type": "string", "format": "email", "title": "E-mail"},
        "website": {"type": "string", "format": "uri", "title": "Website"},
        "notes": {"type": "string", "title": "Notes", "maxLength": 2000},
        "nights": {"type": "integer", "title": "Nights", "minimum": 1, "maximum": 30},
        "budget": {"type": "number", "title": "Budget in EUR", "maximum": 5000},
        "refundable": {"type": "boolean", "title": "Refundable"},
        "class": {"enum": ["economy", "business", "first"], "title": "Class"},
        "country": {"enum": [f"Country {n}" for n in range(1, 13)], "title": "Country"},
        "extras": {
            "type": "array",
            "title": "Extras",
            "items": {"enum": ["breakfast", "parking", "late check-out"]},
        },
        "guests": {"type": "array", "items": {"type": "string"}, "title": "Guests"},
        "arrival": {"type": "string", "format": "date", "title": "Arrival"},
        "pick_up": {"type": "string", "format": "time", "title": "Pick-up"},
        "deadline": {"type": "string", "format": "date-time", "title": "Free until"},
        "address": {
            "type": "object",
            "title": "Address",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            "required": ["city"],
        },
        "metadata": {"type": "array", "title": "Metadata", "items": {"type": "object"}},
        "pin": {"type": "string", "writeOnly": True, "title": "PIN"},
    },
    "required": ["traveller", "nights", "class"],
}
TRIP: dict[str, Any] = {
    "trip_id": "trip_2207",
    "traveller": "Jo Martin",
    "email": "jo@example.com",
    "website": "https://hotel.example/rooms",
    "notes": "Arrives late.\nQuiet room, please.",
    "nights": 3,
    "budget": 640.5,
    "refundable": True,
    "class": "economy",
    "country": "Country 3",
    "extras": ["breakfast"],
    "guests": ["Jo Martin", "Ann Lee"],
    "arrival": "2027-03-01",
    "pick_up": "14:30:00Z",
    "deadline": "2027-02-20T18:00:00Z",
    "address": {"street": "Hauptstrasse 1", "city": "Wien"},
    "metadata": [{"source": "chat", "score": 0.92}],
    "pin": "1234",
}
BRANCHES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "title": "Amount", "maximum": 200},
        "payout": {
            "title": "Pay to",
            "oneOf": [
                {
                    "title": "Bank account",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "bank"},
                        "iban": {"type": "string", "title": "IBAN"},
                        "holder": {"type": "string", "title": "Holder"},
                    },
                    "required": ["kind", "iban", "holder"],
                },
                {
                    "title": "Gift card",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "gift_card"},
                        "email": {"type": "string", "format": "email"},
                    },
                    "required": ["kind", "email"],
                },
            ],
        },
    },
    "required": ["amount", "payout"],
}
BANK = {
    "amount": 120.0,
    "payout": {"kind": "bank", "iban": "AT611904300234573201", "holder": "Jo Martin"},
}
MANY = {f"argument_{n:03}": f"value {n}" for n in range(1, 221)}


def _one(name: str, args: Json, **rule: Any) -> Review:
    return review_of((name, args), policy={"interrupt_on": {"*": rule}} if rule else None)


def _refund() -> Review:
    return _one("refund_order", REFUND, **REFUND_RULE)


def _editing(review: Review, answers: Answers | None = None, page: int = 0) -> Editing:
    action = review.action("1")
    assert action is not None
    return Editing(review, action, meta_of(review, page=page), answers or {})


def _edit(name: str, told: str, review: Any, page: int = 0) -> Scene:
    return modal(name, told, lambda _: _editing(review(), page=page).view())


def _wrong(review: Review, answers: Answers) -> tuple[Editing, FormErrors]:
    editing = _editing(review, answers)
    try:
        editing.arguments()
    except FormErrors as wrong:
        return editing, wrong
    raise AssertionError("the form takes these answers")


def _errors(_: Slack) -> Shown:
    editing, wrong = _wrong(_refund(), {"/amount": "500", "/currency": ""})
    return Shown("modal", editing.view(), errors=editing.errors(wrong))


def _errors_at_the_top(_: Slack) -> Shown:
    """As when an error of another page is told at the end."""
    editing, wrong = _wrong(_refund(), {"/amount": "500"})
    return Shown("modal", editing.view(f"Not sent yet: {wrong}"))


def _two_of_finance() -> Review:
    policy = {
        "reviewers": {"groups": ["S0FINANCE"], "quorum": 2},
        "interrupt_on": {"*": REFUND_RULE},
    }
    return review_of(("refund_order", REFUND), policy=policy)


def _answering(_: Slack) -> Json:
    review = asking(
        {
            "type": "object",
            "properties": {
                "address": {"type": "string", "title": "Address"},
                "express": {"type": "boolean", "title": "Express"},
            },
            "required": ["address"],
        },
        text="Where do we send it?",
    )
    action = review.action("1")
    assert action is not None
    return AnswerForm(action, "respond").view(meta_of(review))


def _seen(name: str, told: str, args: Json, page: int = 0) -> Scene:
    def shown(_: Slack) -> Json:
        review = _one("send_contract", args)
        return pages.see(meta_of(review, page=page), "send_contract", arguments_of(args, None))

    return modal(name, told, shown)


def _reviewing(to: Slack) -> Json:
    names = (("update_customer", {"customerId": f"cus_{n}", "status": "vip"}) for n in range(40))
    review = decided(review_of(*names), "1", "reject", BOB, message="Not this one.")
    meta = meta_of(review, "3", under=DEFAULT, turn=2)
    return turns.turn(review, meta, to.channel.name_of)


def _reviewed(to: Slack) -> Json:
    review = decided(review_of(*THREE), "1", "edit", args={**EMAIL, "subject": "Your refund"})
    return turns.turn(review, meta_of(review, "1", under=DEFAULT), to.channel.name_of)


SCENES = (
    _edit("edit", "A form made of the schema", _refund),
    _edit("edit-every-field", "Every kind of field", lambda: _one("book", TRIP, args_schema=EVERYTHING)),
    _edit("edit-branches", "What follows a choice", lambda: _one("pay", BANK, args_schema=BRANCHES)),
    _edit("edit-page-two", "More fields than a page holds", lambda: _one("wide", MANY), 1),
    _edit("edit-locked", "Too long for an input", lambda: _one("send_contract", {"to": "Globex", "text": CONTRACT})),
    _edit("edit-for-others", "An edit that others must approve", _two_of_finance),
    _edit("edit-without-schema", "A form made of the arguments", lambda: review_of(THREE[0])),
    Scene("edit-errors", "What is wrong, beside its field", _errors),
    Scene("edit-errors-top", "What is wrong on another page", _errors_at_the_top),
    modal("reject", "Why not", lambda _: modals.reason(meta_of(_refund()), "refund_order", required=False)),
    modal("answer", "An answer in the tool's place", lambda _: modals.answer(meta_of(_refund()), "refund_order")),
    modal("answer-form", "An answer with a schema", _answering),
    modal("escalate", "Pass it on", lambda to: modals.passing_on(meta_of(_refund()), to.channel.name_of("slack:#team-ops"))),
    _seen("see", "Everything that will run", {"supplier": "Globex", "text": CONTRACT[:2500]}),
    _seen("see-page-two", "Its second page", {"supplier": "Globex", "text": CONTRACT * 25}, 1),
    modal("review", "One of forty at a time", _reviewing),
    modal("review-decided", "One that is decided", _reviewed),
    modal("too-late", "Somebody was quicker", lambda _: modals.notice("Bob Reyes already approved refund_order.")),
)  # fmt: skip
