"""Fields of a modal: warnings above them, and names that are quoted."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bot.forms import EditForm
from tests.channels.filled import Page, edit_form, entries_of, modal_of
from tests.channels.reading import to_text
from tests.channels.scenes import review_of
from tests.channels.slack.test_fields import Json

LOOK_ALIKE = "jo@p\u0430ypal.com"


def blocks_of(policy: Json, args: Json, problem: str = "") -> list[Json]:
    review = review_of(("mail", args), policy={"interrupt_on": {"*": policy}})
    return modal_of(edit_form(review), problem)["blocks"]


def test_an_odd_value_is_warned_about_above_its_field() -> None:
    """Given an odd value among plain ones, and one in a list; then the form has
    the card's words directly above their fields, and above no other."""
    blocks = blocks_of({}, {"note": "Hi", "to": LOOK_ALIKE, "cc": ["a", LOOK_ALIKE]})
    warned = {
        below["label"]["text"]: to_text([above])
        for above, below in pairwise(blocks)
        if above["block_id"].startswith("odd:")
    }
    assert warned.keys() == {"to", "cc"}
    assert warned["to"] == (
        "*⚠ *“to” is *not* jo@paypal.com: it has Cyrillic letters (xn--pypal-4ve.com).\n"
    )


def test_a_hidden_value_has_no_warning() -> None:
    """Given odd values that the policy hides, alone and in a list; then the form
    says nothing of them."""
    rule = {"redact": ["/token", "/keys/0"]}
    drawn = str(blocks_of(rule, {"token": LOOK_ALIKE, "keys": [LOOK_ALIKE], "to": "jo"}))
    assert "⚠" not in drawn


def test_a_form_of_odd_values_only_is_a_modal_that_slack_takes() -> None:
    """Given as many odd values as a page can have; then it is within Slack's
    limits, which `modal_of` checks."""
    odd = {f"{n}\u202e{LOOK_ALIKE * 20}": f"\u202e {LOOK_ALIKE * 100} ⅠⅡ²" for n in range(60)}
    assert len(blocks_of({}, odd)) <= 100


def test_what_a_person_enters_is_confirmed_if_it_is_odd() -> None:
    """Given an edit to an address in look-alike letters, when it is sent; then the
    form says what is odd, and counts when the same is sent again. What was odd before is not asked about."""
    review = review_of(("mail", {"to": "jo@example.com", "from": LOOK_ALIKE}))
    form = edit_form(review)
    filled = form.enter(entries_of(Page(form.session).state(to={"value": LOOK_ALIKE})))
    assert isinstance(filled, EditForm)
    proposal = filled.proposal()

    warning = filled.warning(proposal)
    assert warning.startswith("“to” is not jo@paypal.com")
    assert warning.endswith(" Send the form again to confirm.")
    assert "from" not in warning
    asked = filled.with_confirmation(proposal)
    assert asked.warning(proposal) == ""
    (field,) = (each for each in asked.page(warning).fields if each.field.label == "to")
    assert field.warnings


@pytest.mark.parametrize(
    ("allowed", "how"),
    [
        (["approve", "edit", "reject"], "press “Reject” and say what should change"),
        (["approve", "edit"], "on the command line"),
    ],
)
def test_a_locked_value_says_how_it_can_be_changed(allowed: list[str], how: str) -> None:
    """Given a value that is too long for an input, and one that may not be changed at all; then the first
    says why, and what to do instead; the other only why."""
    schema = {"properties": {"id": {"type": "string", "readOnly": True}}}
    rule = {"allowed_decisions": allowed, "args_schema": schema}
    blocks = blocks_of(rule, {"body": "x" * 5000, "id": "7", "to": "jo"})
    (body,) = (each for each in blocks if "longer than" in str(each))
    (fixed,) = (each for each in blocks if "This can't be changed." in str(each))
    assert how in str(body)
    assert how not in str(fixed)


def labels_of(blocks: list[Json]) -> dict[str, str]:
    """The labels of the inputs, each with its hint."""
    inputs = (block for block in blocks if block["type"] == "input")
    return {one["label"]["text"]: one.get("hint", {}).get("text", "") for one in inputs}


def test_a_key_that_could_be_a_line_of_ours_is_quoted() -> None:
    """Given keys that pretend to be ours, with and without a schema; then their
    labels are quoted, and the form says which keys the schema does not have."""
    args = {"Approved by": "Bob", "to": "jo"}
    schema = {"properties": {"to": {"type": "string"}}}

    assert labels_of(blocks_of({}, args)) == {'"Approved by"': "", "to": ""}
    assert labels_of(blocks_of({"args_schema": schema}, args)) == {
        "to": "",
        '"Approved by"': "Not in the tool's schema.",
    }


def test_a_form_without_a_schema_has_the_order_of_the_card_and_says_so() -> None:
    args = {"body": "Hi\nJo", "subject": "Hello", "to": "jo"}
    blocks = blocks_of({}, args)
    assert [*labels_of(blocks)] == ["subject", "to", "body"]
    assert "This tool has no schema" in str(blocks[1])
