"""Modals: the form of an edit, reasons and answers, everything that will run."""

from __future__ import annotations

from typing import Any

from tests.gallery.calls import BY_TWO, MAILING, QUERYING, REFUNDING, UPDATING, WITH_OPS
from tests.gallery.office import Calls, Office, scene
from tests.gallery.showing import Json, Scene, Shown
from tests.gallery.waiting import CONTRACT
from tests.support.slack import ALICE, BOB

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
#: Two of these can't be together, which no single field shows.
COUPON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "coupon": {"type": "string", "title": "Coupon"},
        "discount": {"type": "number", "title": "Discount in %", "maximum": 50},
    },
    "not": {"required": ["coupon", "discount"]},
}
MANY = {f"argument_{n:03}": f"value {n}" for n in range(1, 221)}
FORTY: Calls = tuple(
    ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip"}) for n in range(1, 41)
)
ADDRESS: dict[str, Any] = {
    "type": "object",
    "title": "Where do we send it?",
    "properties": {
        "street": {"type": "string", "title": "Street"},
        "city": {"type": "string", "title": "City"},
        "express": {"type": "boolean", "title": "Express"},
    },
    "required": ["street", "city"],
}


def _press(
    name: str,
    text: str,
    button: str,
    call: tuple[str, Json],
    rule: Json | None = None,
    policy: Json | None = None,
    *,
    option: int | None = None,
) -> Scene:
    """The modal behind a button of a card with one tool, for which the policy has this rule."""

    async def act(office: Office) -> Shown:
        rules = {} if rule is None else {"interrupt_on": {"*": rule}}
        card = await office.ask((call,), {**rules, **(policy or {})})
        await office.press(card, button, option=option)
        return Shown("modal", office.view())

    return scene(name, text, act)


async def _page_two(office: Office) -> Shown:
    rule = {"interrupt_on": {"*": {"must_read": False}}}
    await office.press(await office.ask((("wide", MANY),), rule), "edit")
    await office.actor.submit(ALICE)
    return Shown("modal", office.answer_modal())


async def _errors(office: Office) -> Shown:
    await office.press(await office.ask((REFUNDING,)), "edit")
    return await office.wrong(amount="500", Customer="")


async def _errors_of_the_whole(office: Office) -> Shown:
    rule = {"interrupt_on": {"*": {"args_schema": COUPON}}}
    await office.press(await office.ask((("set_price", {"coupon": "SPRING"}),), rule), "edit")
    return await office.wrong(discount="20")


async def _nothing_changed(office: Office) -> Shown:
    await office.press(await office.ask((REFUNDING,)), "edit")
    await office.actor.submit(ALICE)
    return Shown("modal", office.answer_modal())


async def _locked(office: Office) -> Shown:
    await office.press(await office.ask((_CONTRACT,)), "edit")
    await office.actor.click_view(ALICE, "edit")
    return Shown("modal", office.view())


async def _see_page_two(office: Office) -> Shown:
    card = await office.ask((("send_contract", {"supplier": "Globex", "text": CONTRACT * 25}),))
    await office.press(card, "see")
    await office.actor.click_view(ALICE, "see_page:next")
    return Shown("modal", office.view())


async def _review(office: Office) -> Shown:
    await office.press(await office.ask(FORTY), "review")
    await office.actor.click_view(ALICE, "review_page:next")
    return Shown("modal", office.view())


async def _review_decided(office: Office) -> Shown:
    card = await office.ask((MAILING, QUERYING, UPDATING))
    await office.press(card, "edit", block_id="do:1:1")
    await office.actor.submit(ALICE, {"subject": "Your refund"})
    card = await office.workplace.card("edited and approved")
    await office.press(card, "review")
    return Shown("modal", office.view())


async def _too_late(office: Office) -> Shown:
    card = await office.ask((MAILING,))
    await office.press(card, "edit")
    await office.press(card, "approve", BOB)
    await office.actor.submit(ALICE, {"subject": "Your refund"})
    return Shown("modal", office.answer_modal())


_ODD = (
    "send_email",
    {
        "to": "Jo Martin <jo@p\u0430ypal.com>",
        "subject": "Your refund",
        "body": "Dear Jo, sign in at https://paypal.com@evil.example to get it.",
    },
)
_SEE_ODD = (_ODD[0], {**_ODD[1], "terms": CONTRACT[:2500]})
_BOOK = ("book_trip", TRIP)
_PAY_OUT = ("pay_out", BANK)
_CONTRACT = ("send_contract", {"supplier": "Globex", "text": CONTRACT})
_PARAGRAPHS_LONG = ("send_contract", {"supplier": "Globex", "text": CONTRACT[:3100]})
_PARAGRAPHS = ("send_contract", {"supplier": "Globex", "text": CONTRACT[:2500]})
_QUESTION = ("ask_human", {"about": "order 1042"})
_MORE = {"allowed_decisions": ["approve", "reject", "respond"]}
_STRICT = {"reject_reason": "required"}
_ASKS = {
    "allowed_decisions": ["respond"],
    "answer_schema": ADDRESS,
    "description": "The parcel came back: the address was wrong.",
}

SCENES = (
    _press("edit", "A form made of the schema", "edit", REFUNDING),
    _press("edit-every-field", "Every kind of field", "edit", _BOOK, {"args_schema": EVERYTHING}),
    _press("edit-branches", "What follows a choice", "edit", _PAY_OUT, {"args_schema": BRANCHES}),
    scene("edit-page-two", "More fields than a page holds", _page_two),
    _press("edit-read-first", "What no form shows whole is read first", "edit", _PARAGRAPHS_LONG),
    scene("edit-locked", "Too long for an input", _locked),
    _press("edit-odd", "What is odd, above its field", "edit", _ODD),
    _press("edit-for-others", "Others must approve it", "edit", REFUNDING, policy=BY_TWO),
    _press("edit-without-schema", "A form made of the arguments", "edit", MAILING, {}),
    scene("edit-errors", "What is wrong, beside its field", _errors),
    scene("edit-errors-top", "What is wrong with two fields together", _errors_of_the_whole),
    scene("edit-unchanged", "What is wrong with all of it", _nothing_changed),
    _press("reject", "Why not", "reject", REFUNDING),
    _press("reject-required", "A reason that the policy wants", "reject", REFUNDING, _STRICT),
    _press("answer", "An answer in the tool's place", "more", REFUNDING, _MORE, option=0),
    _press("answer-form", "An answer with a schema", "respond", _QUESTION, _ASKS),
    _press("escalate", "Pass it on", "escalate", REFUNDING, policy=WITH_OPS),
    _press("see", "Everything that will run", "see", _PARAGRAPHS),
    _press("see-odd", "What is odd, above its argument", "see", _SEE_ODD),
    scene("see-page-two", "Its second page", _see_page_two),
    scene("review", "Forty tools, one at a time", _review),
    scene("review-decided", "One that is decided", _review_decided),
    scene("too-late", "Somebody was quicker", _too_late),
)
