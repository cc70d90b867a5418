"""An agent's results, and its reasons to withdraw, are only texts: they decide nothing, and show no hidden
value.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.card import build_card, thread_lines
from bot.channels.slack.render import thread_message
from bot.channels.slack.render.card_message import message
from hitl_core import ToolCall
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.gate.outcome.answers import answers
from hitl_core.model import Review, Snapshot
from hitl_core.review import Decide, claims, commands, one_line
from hitl_core.review.edits.proposal import Proposal
from tests.channels.nasty import NASTY
from tests.channels.reading import check
from tests.channels.scenes import (
    ALICE,
    DEFAULT,
    NOW,
    POSTED,
    cancel,
    decide,
    done,
    link_to,
    name_of,
    review_of,
    start_calls,
)
from tests.channels.test_injection import assert_inert
from tests.gate.conftest import Open
from tests.support.builders import policy

SECRET = "tok-95126\nand-a-second-line"
ARGS = {"user": "jo", "token": SECRET}
words = st.text(max_size=40) | st.lists(st.sampled_from(NASTY), max_size=4).map("".join)


def draw(review: Review) -> list[dict[str, Any]]:
    sent = [message(build_card(review, DEFAULT, POSTED), name_of, link_to)]
    sent += [thread_message(line, name_of) for line in thread_lines(review, DEFAULT)]
    return [check(one) for one in sent]


@settings(max_examples=150, deadline=None)
@given(words)
def test_a_result_is_a_line_of_the_card_and_nothing_else(said: str) -> None:
    """Given any result; then only the run's own line changes, and its text gets no
    meaning anywhere."""
    review = decide(
        decide(review_of(("pay", {}), ("pay", {"n": 1})), "1", "approve"), "2", "reject"
    )
    running = start_calls(review, "1")
    over = done(running, {"1": said})
    assert (over.actions, over.calls, over.args) == (running.actions, running.calls, running.args)
    assert {*over.runs} == {"1"}
    assert over.runs["1"].line == one_line(said)
    for one in draw(over):
        assert_inert(one, [])


@settings(max_examples=150, deadline=None)
@given(words)
def test_an_agents_reason_to_withdraw_decides_nothing_and_names_nobody(
    said: str,
) -> None:
    """Given any reason of the agent's, after one rejection; then the rejection keeps
    its reviewer, nothing else has a decision, and the cancellation is nobody's."""
    review = decide(review_of(("pay", {}), ("pay", {"n": 1})), "1", "reject", message="no")
    gone = cancel(review, reason=said)
    assert gone.actions == review.actions
    assert gone.cancelled is not None
    assert (gone.cancelled.by, gone.cancelled.at) == (None, gone.settled_at)
    assert claims.runnable_calls(gone) == ()
    for one in draw(gone):
        assert_inert(one, [])


@pytest.mark.parametrize(
    "result",
    [
        f"Logged in with {SECRET}",
        SECRET,
        "x" * 195 + SECRET,
        f"{SECRET} {SECRET}",
    ],
)
async def test_promise_8_a_result_that_repeats_what_is_hidden_is_kept_without_it(
    open_gate: Open, result: str
) -> None:
    """Given a policy that hides an argument, and a tool that returns it; then no card could show it, also
    where the line is cut in the middle of it."""
    gate = await open_gate(policy=policy(login={"redact": ["/token"]}))
    review_id = await gate.submit([ToolCall("c1", "login", ARGS)], thread_id="t-1")
    await gate.reviews.apply(Decide(review_id, "1", Proposal("approve", 1), ALICE, "op:1"))
    outcome = await gate.wait(review_id)
    await outcome.run({"login": lambda user, token: result})

    line = (await gate.reviews.load(review_id)).review.runs["1"].line
    assert line is not None
    assert line == "a result was reported; it is not shown, because this review has hidden values"


def test_promise_8_a_reason_that_repeats_what_is_hidden_is_kept_without_it() -> None:
    review = review_of(("login", ARGS), policy={"interrupt_on": {"login": {"redact": ["/token"]}}})
    gone, event = commands.cancel(review, None, f"The user took {SECRET} back", NOW)
    snapshot = Snapshot(review=gone, posts={}, shown={}, now=NOW)
    shown = str([draw(gone), review_to_json(snapshot, with_args=True), event])
    assert SECRET not in shown
    assert "the agent's reason is not shown" in shown


def test_low_the_model_reads_why_its_calls_were_withdrawn_also_beside_hidden_values() -> None:
    """The reason is withheld from people, not from the agent that gave it."""
    review = review_of(("login", ARGS), policy={"interrupt_on": {"login": {"redact": ["/token"]}}})
    gone = commands.cancel(review, None, "The user wrote something new.", NOW).review
    assert answers(gone)[0].content.endswith("Reason: The user wrote something new.")


def test_promise_8_a_secret_that_begins_like_another_is_hidden_whole() -> None:
    args = {"a": "tok-95126", "b": "tok-95126-and-more"}
    rule = {"redact": ["/a", "/b"], "description": lambda _: "Logs in with tok-95126-and-more."}
    drawn = build_card(
        review_of(("login", args), policy={"interrupt_on": {"login": rule}}), DEFAULT
    )
    assert "and-more" not in repr(drawn)
