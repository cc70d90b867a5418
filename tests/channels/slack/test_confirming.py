"""If an edit removes something, the form names it, and the edit counts only if the person sends the same
again.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.card import find_open_action
from bot.channels.slack.modals.form_modal import ACTION_ID
from bot.channels.slack.render import action_blocks, place_names
from bot.forms import EditForm
from hitl_core.forms import FormErrors, find_removed
from hitl_core.model import Review, encode
from hitl_core.review import Proposal
from slack_sandbox.validation.states import fill_state
from tests.channels.filled import edit_form, entries_of, modal_of
from tests.channels.scenes import name_of, review_of

TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "properties": {
        "to": TEXT,
        "cc": TEXT,
        "bcc": {"type": ["string", "null"]},
        "body": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "level": {"enum": ["low", "high"]},
        "due": {"type": "string", "format": "date"},
        "copies": {"type": "integer"},
        "urgent": {"type": "boolean"},
    },
    "required": ["to"],
}
ARGS: dict[str, Any] = {
    "to": "jo", "cc": "al", "bcc": "bo", "body": "Hi", "tags": ["a"], "level": "low",
    "due": "2026-11-21", "copies": 2, "urgent": False,
}  # fmt: skip


def review() -> Review:
    rule = {"allowed_decisions": ["approve", "edit"], "args_schema": SCHEMA}
    return review_of(("mail", ARGS), policy={"interrupt_on": {"*": rule}})


def open_modal(of: Review) -> tuple[EditForm, dict[str, Any]]:
    """The form, and the state of its inputs as nobody touched them, by argument."""
    form = edit_form(of)
    return form, fill_state(modal_of(form)["blocks"], {})


def block_of(state: dict[str, Any], name: str) -> str:
    return next(id for id in state if id.startswith(f"f:/{name}#"))


def to_null(element: dict[str, Any]) -> dict[str, Any]:
    """As some clients send what nobody touched."""
    return {key: value if key == "type" else None for key, value in element.items()}


def change_state(state: dict[str, Any], null: set[str], absent: set[str] = frozenset()) -> Any:  # type: ignore[assignment]
    made = dict(state)
    for name in null:
        id = block_of(state, name)
        made[id] = {ACTION_ID: to_null(state[id][ACTION_ID])}
    for name in absent:
        id = block_of(state, name)
        made[id] = {ACTION_ID: {"type": state[id][ACTION_ID]["type"]}}
    body = block_of(state, "body")
    if "body" not in null | absent:
        made[body] = {ACTION_ID: {**state[body][ACTION_ID], "value": "Hello"}}
    return made


def test_removals_are_named_and_confirmed() -> None:
    """Given a client that sends null for cc and bcc; then nothing is sent, both
    are named, and the same form sent again is an edit without them."""
    form, state = open_modal(review())
    filled = form.enter(entries_of(change_state(state, {"cc", "bcc"})))
    proposal = filled.proposal()
    assert filled.warning(proposal) == "This removes bcc and cc. Send the form again to confirm."

    asked = filled.with_confirmation(proposal)
    view = modal_of(asked, "…")
    again = edit_form(review(), view)
    same = again.enter(entries_of(change_state(state, {"cc", "bcc"})))
    assert same.warning(same.proposal()) == ""
    assert same.proposal().args == proposal.args


@pytest.mark.parametrize("null", [{"cc"}, {"cc", "bcc", "tags"}, {"bcc"}])
def test_another_edit_is_confirmed_on_its_own(null: set[str]) -> None:
    """Given that the removal of cc and bcc was asked about; then no other values
    pass with that."""
    of = review()
    form, state = open_modal(of)
    filled = form.enter(entries_of(change_state(state, {"cc", "bcc"})))
    asked = filled.with_confirmation(filled.proposal())
    again = edit_form(of, modal_of(asked))
    other = again.enter(entries_of(change_state(state, null)))
    assert other.warning(other.proposal()) != ""


def test_a_null_for_a_required_input_stands_beside_it() -> None:
    form, state = open_modal(review())
    with pytest.raises(FormErrors) as wrong:
        form.enter(entries_of(change_state(state, {"to"}))).proposal()
    assert wrong.value.fields == {"/to": "is required"}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(sorted(ARGS)), st.sampled_from(["null", "absent"]), max_size=9)
)
def test_whatever_a_client_leaves_out(odd: dict[str, str]) -> None:
    """Given null, or nothing, for any inputs; then the form says so beside them,
    asks about each value that would go, or keeps it."""
    of = review()
    form, state = open_modal(of)
    null = {name for name, how in odd.items() if how == "null"}
    absent = {name for name, how in odd.items() if how == "absent"}
    filled = form.enter(entries_of(change_state(state, null, absent)))
    try:
        proposal = filled.proposal()
    except FormErrors:
        assert "to" in null
        return
    assert proposal.args is not None
    after = proposal.args.parse()
    gone = find_removed(ARGS, after)
    text = filled.warning(proposal)
    assert {each[1:] for each in gone} == null
    assert all(name in text for name in null)
    assert (text == "") == (not gone)
    assert all(after[name] == ARGS[name] for name in absent)


@pytest.mark.parametrize("confirm", [True, False])
def test_an_answer_that_runs_the_tool_asks_once_more(confirm: bool) -> None:
    """Given a tool that runs with an answer, and `confirm: true`, then each answer's button asks
    once more, as Approve does."""
    rule: dict[str, Any] = {
        "confirm": confirm,
        "allowed_decisions": ["approve", "reject"],
        "answer_schema": {"enum": ["fast", "slow"]},
        "output": {"key": "mode", "into": "input"},
    }
    review = review_of(("wipe", {"disk": "sda"}), policy={"interrupt_on": {"wipe": rule}})
    blocks = action_blocks(review.id, find_open_action(review, "1"), place_names(name_of))
    (buttons,) = [block["elements"] for block in blocks if block["type"] == "actions"]
    asks = {each["action_id"]: "confirm" in each for each in buttons}
    assert asks == {"answer:0": confirm, "answer:1": confirm, "reject": False}


@pytest.mark.parametrize("key", ["日" * 500, "\u202e" * 500, "k" * 5_000])
def test_an_agents_long_keys_hide_no_part_of_the_question(key: str) -> None:
    """Given an edit that removes values with very long keys; then the form names ten of them, counts the
    others and says what to do: all after the first key was cut, and Teams showed no form at all."""
    args = {f"{key}{at}": "x" for at in range(12)}
    rule = {"allowed_decisions": ["approve", "edit"]}
    form = edit_form(review_of(("mail", args), policy={"interrupt_on": {"*": rule}}))
    proposal = Proposal("edit", 1, args=encode({"to": "jo"}), name="mail")
    text = json.dumps(modal_of(form, form.warning(proposal))["blocks"][0], ensure_ascii=False)
    assert text.count("…") == 10
    assert "and 2 more. Send the form again to confirm." in text
