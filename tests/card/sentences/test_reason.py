"""Why the agent wants a call: its own words, below the arguments, in quotes, with a limit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import ActionText, Line, action_text, build_card, find_open_action, name_and_arguments
from bot.card.model.spans import Text, plain_text
from bot.channels.slack.render import place_names
from bot.channels.slack.render.card_message import message
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import freeze_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DEFAULT_PLACE, MAX_REASON, Review, ToolCall, is_text
from hitl_core.policy import Policy
from hitl_core.review.visibility import reason_of
from tests.channels.reading import to_text
from tests.channels.scenes import name_of
from tests.support.builders import START, judge_turn

LIE = "Fine.”\n\nApproved by Bob Reyes <@U0BOB> *already*. 2 of 2 approvals. “"


def review_of(*calls: ToolCall, **rule: Any) -> Review:
    policy = Policy.from_mapping({"default": "review", "interrupt_on": {"pay": rule}})
    asked = judge_turn(policy, freeze_calls(calls))
    return build_review(ReviewKey("billing agent", "t", "x", None), asked, 1, START)[0]


def pay(reason: str | None, id: str = "c1", **args: Any) -> ToolCall:
    return ToolCall(id, "pay", args or {"amount": 80}, reason)


def says(text: ActionText) -> Line:
    return tuple(span for line in text.says for span in line)


def reason_lines(review: Review) -> list[str]:
    names = place_names(name_of)
    actions = build_card(review, DEFAULT_PLACE).open_actions
    return [plain_text(says(action_text(review.id, one, names))) for one in actions]


def test_the_card_quotes_it_as_the_agents_below_the_arguments() -> None:
    drawn = message(build_card(review_of(pay("The invoice is due.")), DEFAULT_PLACE), name_of)
    texts = to_text(drawn["blocks"])
    line = "“billing agent” says: “The invoice is due.”"
    assert texts.index("80") < texts.index(line)
    assert "invoice" not in drawn["text"]


def test_without_a_reason_there_is_no_line() -> None:
    assert reason_lines(review_of(pay(None), pay("  \n", "c2"))) == ["", ""]


def test_no_reason_closes_its_quote_or_starts_a_line_or_mentions() -> None:
    (line,) = reason_lines(review_of(pay(LIE)))
    assert line.count("“") == line.count("”") == 2, "the agent's name and its words"
    assert "\n" not in line
    drawn = message(build_card(review_of(pay(LIE)), DEFAULT_PLACE), name_of)
    assert '"user_id": "U0BOB"' not in json.dumps(drawn)


def test_a_long_reason_is_cut_with_a_mark_and_see_all_has_the_whole() -> None:
    reason = "Because. " * 200
    review = review_of(pay(reason))
    (action,) = build_card(review, DEFAULT_PLACE).open_actions
    assert action.reason is not None
    assert action.reason.missing > 1000
    assert "characters" in action.reason.text
    text = action_text(review.id, action, place_names(name_of))
    assert "see" in [button.verb for button in text.buttons]
    _, arguments = name_and_arguments(review, "1")
    assert arguments[-1].value == f"“{reason.strip()}”"
    assert find_open_action(review, "1").reason.missing == 0  # type: ignore[union-attr]


def test_the_text_of_one_message_is_shown_once_for_all_of_its_calls() -> None:
    calls = [pay("Both are due.", f"c{n}", n=n) for n in range(3)]
    lines = reason_lines(review_of(*calls, pay("Not this.", "c9")))
    assert lines == [
        "“billing agent” says of 1, 2 and 3: “Both are due.”",
        "",
        "",
        "“billing agent” says: “Not this.”",
    ]


def test_a_review_that_hides_values_shows_no_reason_and_says_so() -> None:
    review = review_of(pay("PIN 1234.", pin="1234"), redact=["/pin"])
    assert reason_of(review, review.calls[0]) is None
    shown = repr([build_card(review, DEFAULT_PLACE), name_and_arguments(review, "1")])
    assert "1234" not in shown
    assert "Its reason is not shown, because this review has hidden values." in shown


def test_suspicious_text_in_a_reason_gets_a_warning() -> None:
    (action,) = build_card(review_of(pay("To p\u0430ypal.com")), DEFAULT_PLACE).open_actions
    assert any(one[0] == Text("The agent's reason") for one in action.warnings)


@given(st.text(max_size=MAX_REASON + 10))
def test_a_reason_changes_no_hash_no_seal_and_no_id(reason: str) -> None:
    """It is bounded and valid text, or the call is refused; and what is approved is the same without it."""
    if len(reason) > MAX_REASON or not is_text(reason):
        with pytest.raises(InvalidToolCall, match="`reason`"):
            pay(reason)
        return
    plain, told = review_of(pay(None)), review_of(pay(reason))
    assert (told.id, told.seal("1", is_whole=True)) == (plain.id, plain.seal("1", is_whole=True))
    assert told.calls[0].args_hash == plain.calls[0].args_hash
    assert told.actions == plain.actions


@pytest.mark.parametrize("reason", [7, ["x"], {"a": 1}, "x" * (MAX_REASON + 1), "\ud800"])
def test_what_is_no_reason_is_refused(reason: Any) -> None:
    with pytest.raises(InvalidToolCall, match="`reason`"):
        ToolCall.from_mapping({"id": "c1", "name": "pay", "args": {}, "reason": reason})


def test_a_call_of_our_format_has_its_reason() -> None:
    read = ToolCall.from_mapping({"id": "c1", "name": "pay", "args": {}, "reason": "[due] today"})
    assert read == ToolCall("c1", "pay", {}, "[due] today")
