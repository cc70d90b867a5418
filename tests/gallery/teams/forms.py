"""Forms, and the pages that are shown in place of a card: all arguments, the actions one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.card import asker_line, name_and_arguments, reading_buttons
from bot.card.actions import find_open_action
from bot.channels.teams.render import (
    TEAMS_LIMITS,
    CardBuilder,
    arguments_card,
    form_card,
    notice_card,
    review_card,
    split_arguments,
)
from bot.forms import Entries, FormKind, FormPage, FormRef, ReviewForm
from bot.forms.form_choice import first_page, make_review_form
from bot.forms.message_form import escalation_page
from bot.inbox import ActionRef, action_page, arguments_page
from hitl_core.forms import FormErrors
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, decide
from tests.gallery.calls import (
    BY_TWO,
    MAILING,
    QUERYING,
    REFUNDING,
    UPDATING,
    WITH_OPS,
    ask,
)
from tests.gallery.forms import (
    ADDRESS,
    BANK,
    BRANCHES,
    COUPON,
    EVERYTHING,
    FORTY,
    MANY,
    TRIP,
)
from tests.gallery.teams.acme import KEY, link_to, name_of, of_teams
from tests.gallery.teams.showing import Json, Scene, Shown
from tests.gallery.waiting import CONTRACT

PEN = CardBuilder.of(name_of, KEY, link_to)
SESSION = "session-1"
ODD = (
    "send_email",
    {
        "to": "Jo Martin <jo@p\u0430ypal.com>",
        "subject": "Your refund",
        "body": "Dear Jo, sign in at https://paypal.com@evil.example to get it.",
    },
)


def _make_review(call: tuple[str, Json], rule: Json | None = None, **policy: Any) -> Review:
    rules = {} if rule is None else {"interrupt_on": {"*": rule}}
    return of_teams(ask(call, **{"escalate": [], **rules, **policy}))


def _ref(review: Review, kind: FormKind, page: int = 0) -> FormRef:
    [action] = review.actions
    seal = review.seal(action.key, is_whole=True)
    return FormRef(kind, ActionRef(review.id, action.key, action.revision, seal), page)


def _form(review: Review, kind: FormKind) -> ReviewForm:
    return make_review_form(review, review.actions[0], _ref(review, kind), TEAMS_LIMITS)


def _shown(page: FormPage, **more: Any) -> Shown:
    return Shown(form_card(page, SESSION, PEN, **more), private=True)


def _opened(
    name: str,
    text: str,
    kind: FormKind,
    call: tuple[str, Json],
    rule: Json | None = None,
    **policy: Any,
) -> Scene:
    """The form behind a button of a card with one tool, for which the policy has this rule."""

    def make() -> Shown:
        review = _make_review(call, rule, **policy)
        page, _ = first_page(review, review.actions[0], _ref(review, kind), TEAMS_LIMITS)
        return _shown(page)

    return Scene(name, text, make)


def _entries(form: ReviewForm, values: Mapping[str, str | None]) -> Entries:
    """What is sent after a person entered these values, by label."""
    given = {one.id: one.field.initial for one in form.page().fields if one.field.locked is None}
    named = {one.field.label: one.id for one in form.page().fields}
    return Entries(given | {named[label]: value for label, value in values.items()})


def _refused(form: ReviewForm, **values: str | None) -> Shown:
    """The form after a submission that the bot refuses."""
    entries = _entries(form, values)
    filled = form.enter(entries)
    try:
        filled.proposal()
    except FormErrors as errors:
        by_field = filled.session.field_errors(errors)
        problem = "" if by_field else f"Not sent yet: {filled.session.error_text(errors)}"
        return _shown(filled.page(problem), entries=entries, errors=by_field)
    raise AssertionError("it was accepted")


def _confirmed(form: ReviewForm, **values: str | None) -> Shown:
    """The form that asks once more."""
    entries = _entries(form, values)
    filled = form.enter(entries)
    proposal = filled.proposal()
    warning = filled.warning(proposal)
    assert warning
    return _shown(filled.with_confirmation(proposal).page(warning), entries=entries)


def _page_two() -> Shown:
    form = _form(_make_review(("wide", MANY), {"must_read": False}), "edit")
    return _shown(form.at_page(1, draft="1").page())


def _escalation() -> Shown:
    review = of_teams(ask(REFUNDING, **WITH_OPS))
    page = escalation_page(review, review.actions, _ref(review, "escalate"), "Operations > General")
    return _shown(page)


def _read(call: tuple[str, Json], number: int = 0) -> Callable[[], Shown]:
    def make() -> Shown:
        review = _make_review(call)
        [action] = review.actions
        target = ActionRef(review.id, action.key, action.revision)
        name, arguments = name_and_arguments(review, action.key)
        page = arguments_page(
            target,
            name,
            arguments,
            number,
            split_arguments,
            reading_buttons(review.id, find_open_action(review, action.key)),
            asker_line(review, action),
        )
        return Shown(arguments_card(page, PEN), private=True)

    return make


def _review(review: Review, number: int) -> Shown:
    page = action_page(of_teams(review), DEFAULT, number)
    return Shown(review_card(page, PEN), private=True)


def _decided() -> Review:
    args = {**MAILING[1], "subject": "Your refund"}
    return decide(ask(MAILING, QUERYING, UPDATING), "1", "edit", args=args)


def _too_late() -> Shown:
    text = "“Bob Reyes” (b0b00000) has approved this already. Your entries were not sent."
    return Shown(notice_card(text, "Edit send_email", PEN, "0-1376821e"), private=True)


_LONG = ("send_contract", {"supplier": "Globex", "text": CONTRACT})
_MORE = {"allowed_decisions": ["approve", "reject", "respond"]}
_ASKS = {
    "allowed_decisions": ["respond"],
    "answer_schema": ADDRESS,
    "description": "The parcel came back: the address was wrong.",
}

LONG_BODY = ("send_contract", {"supplier": "Globex", "text": CONTRACT[:2500]})
FULL = ("send_contract", {"supplier": "Globex", "text": CONTRACT * 25})
ODD_BODY = (ODD[0], {**ODD[1], "terms": CONTRACT[:2500]})

SCENES = (
    _opened("edit", "A form made of the schema", "edit", REFUNDING),
    _opened(
        "edit-every-field",
        "Every kind of field",
        "edit",
        ("book_trip", TRIP),
        {"args_schema": EVERYTHING},
    ),
    _opened(
        "edit-branches",
        "What follows a choice",
        "edit",
        ("pay_out", BANK),
        {"args_schema": BRANCHES},
    ),
    Scene("edit-page-two", "More fields than a page holds", _page_two),
    _opened("edit-locked", "Too long for an input", "edit", _LONG),
    _opened("edit-odd", "What is odd, above its field", "edit", ODD),
    _opened("edit-for-others", "Others must approve it", "edit", REFUNDING, None, **BY_TWO),
    _opened("edit-without-schema", "A form made of the arguments", "edit", MAILING, {}),
    Scene(
        "edit-errors",
        "What is wrong, beside its field",
        lambda: _refused(_form(_make_review(REFUNDING), "edit"), amount="500"),
    ),
    Scene(
        "edit-errors-top",
        "What is wrong with two fields together",
        lambda: _refused(
            _form(
                _make_review(("set_price", {"coupon": "SPRING"}), {"args_schema": COUPON}), "edit"
            ),
            **{"Discount in %": "20"},
        ),
    ),
    Scene(
        "edit-removes",
        "What a submission would remove is asked once more",
        lambda: _confirmed(_form(_make_review(REFUNDING), "edit"), Customer=None),
    ),
    _opened("reject", "Why not", "reject", REFUNDING),
    _opened(
        "reject-required",
        "A reason that the policy wants",
        "reject",
        REFUNDING,
        {"reject_reason": "required"},
    ),
    _opened("answer", "An answer in the tool's place", "respond", REFUNDING, _MORE),
    _opened(
        "answer-form",
        "An answer with a schema",
        "respond",
        ("ask_human", {"about": "order 1042"}),
        _ASKS,
    ),
    Scene("escalate", "Pass it on", _escalation),
    Scene("see", "Everything that will run", _read(LONG_BODY)),
    Scene("see-odd", "What is odd, above its argument", _read(ODD_BODY)),
    Scene("see-page-two", "Its second page", _read(FULL, 1)),
    Scene("review", "Forty tools, one at a time", lambda: _review(ask(*FORTY), 1)),
    Scene("review-decided", "One that is decided", lambda: _review(_decided(), 0)),
    Scene("too-late", "Somebody was quicker", _too_late),
)
