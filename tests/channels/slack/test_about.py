"""A modal begins with the call that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import name_and_arguments, plain_text
from bot.channels.slack.modals import MODAL_LIMITS
from bot.channels.slack.modals.arguments_modal import split_arguments
from bot.channels.slack.modals.form_modal import form_view
from bot.forms import FormRef
from bot.forms.form_choice import first_page
from bot.forms.message_form import escalation_page, rejection_page, text_answer_page
from bot.inbox import ActionRef
from hitl_core.model import Review
from tests.channels.filled import edit_form, modal_of
from tests.channels.reading import check_view, review_view, to_text
from tests.channels.scenes import DEFAULT, decide, name_of, review_of

RULE = {
    "interrupt_on": {
        "*": {
            "allowed_decisions": ["approve", "edit", "reject", "respond"],
            "redact": ["/pin"],
            "expire": {"after": "1h", "decision": "reject"},
        }
    }
}
CALL = ("pay", {"amount": 120, "iban": "DE1", "pin": "s3cr3t"})


def about_of(review: Review, kind: str) -> str:
    action = review.actions[0]
    ref = FormRef(kind, ActionRef(review.id, action.key, action.revision))  # type: ignore[arg-type]
    match kind:
        case "reject":
            page = rejection_page(review, action, ref)
        case "respond":
            page = text_answer_page(review, action, ref)
        case _:
            page = escalation_page(review, review.actions, ref, "#team-ops")
    check_view(form_view(page))
    return "\n".join(map(plain_text, page.about))


@pytest.mark.parametrize("kind", ["reject", "respond", "escalate"])
def test_a_form_of_one_text_begins_with_the_call(kind: str) -> None:
    """Given a call; then its form says the tool, its main fact, who asks and what
    happens by when, and nothing that is hidden."""
    about = about_of(review_of(CALL, policy=RULE), kind)
    assert "pay   amount: 120 · iban: DE1" in about
    assert "Asked by " in about
    assert "rejected unless decided in time" in about
    assert "s3cr3t" not in about


@pytest.mark.parametrize("kind", ["reject", "respond", "escalate"])
def test_the_call_is_shown_as_the_policy_says(kind: str) -> None:
    """Given a policy that says how an amount is shown; then a form beside the
    card shows it so too."""
    rule = {**RULE["interrupt_on"]["*"], "display": {"/amount": {"money": {"currency": "EUR"}}}}
    about = about_of(review_of(CALL, policy={"interrupt_on": {"*": rule}}), kind)
    assert "amount: 120 EUR" in about


def test_an_escalation_of_many_calls_counts_them() -> None:
    review = review_of(*[("pay", {"amount": n}) for n in range(9)])
    about = about_of(review, "escalate")
    assert "amount: 2" in about
    assert "and 6 more" in about


def test_what_an_agent_is_called_stays_a_name() -> None:
    """Given an agent and a requester with names that look like our sentences, then they
    are quoted."""
    review = review_of(CALL).model_copy(
        update={"agent": "ops. Approved by Bob", "requester": "For the record"}
    )
    about = about_of(review, "reject")
    assert "Asked by “ops. Approved by Bob” for “For the record”" in about


def test_the_edit_and_review_modals_say_who_asks() -> None:
    review = review_of(CALL, policy=RULE)
    edit = to_text([one for one in modal_of(edit_form(review))["blocks"] if one["type"] != "input"])
    for shown in (edit, to_text(review_view(review, DEFAULT, 0, name_of)["blocks"])):
        assert "Asked by" in shown
        assert "rejected unless decided in time" in shown


def test_a_page_of_all_arguments_has_at_most_8000_characters() -> None:
    """Given a text of many paragraphs, then each page is short and begins with the
    argument's name, and none ends within a paragraph."""
    paragraph = "The supplier delivers within 5 working days. " * 9 + "\n\n"
    args: dict[str, Any] = {"text": paragraph * 80, "note": "x" * 20_000}
    pages = split_arguments(name_and_arguments(review_of(("send", args)), "1")[1])
    sizes = [sum(len(e["text"]) for part in page for e in part["elements"]) for page in pages]
    assert max(sizes) <= 8_100  # with the name
    assert all(page[0]["type"] == "rich_text_section" for page in pages)
    assert all(page[-1]["type"] != "rich_text_section" for page in pages)


@pytest.mark.parametrize(("quorum", "unless"), [(1, ""), (2, " if 2 people send the same answer")])
def test_a_form_for_an_answer_says_how_many_must_send_it(quorum: int, unless: str) -> None:
    """A form of several fields said that the tool doesn't run, also where that takes more people."""
    rule = {
        "allowed_decisions": ["respond"],
        "answer_schema": {"enum": [f"size {at}" for at in range(9)]},
        "reviewers": {"channel_members": True, "quorum": quorum, "exclude_requester": False},
    }
    review = review_of(CALL, policy={"interrupt_on": {"*": rule}})
    action = review.actions[0]
    ref = FormRef("respond", ActionRef(review.id, action.key, action.revision))
    page, _ = first_page(review, action, ref, MODAL_LIMITS)
    assert page.effect.startswith(f"The tool does not run{unless}.")


def test_who_may_be_the_last_is_promised_nothing() -> None:
    """Given one of two rejections, then the form for the second says that the first one may no longer count:
    it is checked again only when the second is sent."""
    rule = {"reviewers": {"channel_members": True, "reject_quorum": 2}}
    review = decide(review_of(CALL, policy={"interrupt_on": {"*": rule}}), "1", "reject")
    action = review.actions[0]
    page = rejection_page(
        review, action, FormRef("reject", ActionRef(review.id, action.key, action.revision))
    )
    assert page.effect == "The tool does not run, unless an earlier rejection no longer counts."


@pytest.mark.parametrize(("text", "shown"), [("😀" * 1500, True), ("😀" * 1501, False)])
def test_an_answer_longer_than_the_input_is_not_prefilled(text: str, shown: bool) -> None:
    """Given an earlier answer that was sent on the command line; when it is longer than the input, then the
    form opens without it: Slack refused to open it, and Teams to send it."""
    rule = {**RULE["interrupt_on"]["*"], "reviewers": {"channel_members": True, "quorum": 2}}
    review = decide(
        review_of(CALL, policy={"interrupt_on": {"*": rule}}), "1", "respond", message=text
    )
    action = review.actions[0]
    page = text_answer_page(review, action, FormRef("respond", ActionRef(review.id, "1", 1)))
    check_view(form_view(page))
    assert page.fields[0].field.initial == (text if shown else None)
