"""Why the agent wants its calls: the text of the AI message that has them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from hitl_core.integrations.langgraph.pauses.model_turn import read_reason
from hitl_core.model import MAX_REASON
from tests.integrations.agents import Lab, call, go

BLOCKS = [
    {"type": "reasoning", "reasoning": "the user is rude"},
    {"type": "thinking", "thinking": "secret thought", "signature": "x"},
    {"type": "text", "text": "Jo asked for it. "},
    {"type": "tool_use", "id": "c1", "name": "send_email", "input": {"to": "jo"}},
    "So I send it.",
    {"type": "text", "text": ["no text"]},
]


def turn(content: Any) -> AIMessage:
    calls = [call("c1", "send_email", to="jo"), call("c2", "run_sql", query="SELECT 1")]
    return AIMessage(content=content, tool_calls=[{**c, "type": "tool_call"} for c in calls])


@pytest.mark.parametrize("content", ["Jo asked for it. So I send it.", BLOCKS])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_the_messages_text_is_the_reason_of_each_of_its_calls(
    lab: Lab, content: Any, mode: str
) -> None:
    """Given a message of text, of blocks with reasoning among them; then each call that it carries has the
    text as its reason, and no reasoning, in both modes of LangChain."""
    options = {} if mode == "batched" else {"interrupt_mode": "per_call"}
    driver = lab.driver(turn(content), "Done.", **options)
    run = await driver.run(go(), thread_id="t-1")
    review = await lab.review(run.review_id)
    assert [each.reason for each in review.calls] == ["Jo asked for it. So I send it."] * 2
    assert "thought" not in review.model_dump_json()


async def test_a_message_without_text_has_no_reason(lab: Lab) -> None:
    driver = lab.driver([call("c1", "send_email", to="jo")], "Done.")
    run = await driver.run(go(), thread_id="t-1")
    assert (await lab.review(run.review_id)).calls[0].reason is None


@pytest.mark.parametrize("content", ["x" * 9_000, [{"type": "text", "text": "x" * 900}] * 10])
def test_a_long_text_is_cut_with_a_mark_and_stops_no_review(content: Any) -> None:
    reason = read_reason(AIMessage(content=content))
    assert reason is not None
    assert len(reason) == MAX_REASON
    assert reason.endswith("…")


def test_half_a_surrogate_pair_stops_no_review() -> None:
    assert read_reason(AIMessage.model_construct(content="so \ud800 it")) == "so ? it"


async def test_a_call_after_a_rejected_one_in_the_same_run_is_another_attempt(lab: Lab) -> None:
    """Given a rejected call; when the model calls the tool again in the next message; then the
    new review knows the rejection, its reason and its arguments."""
    again = AIMessage(
        content="With his new address.",
        tool_calls=[{**call("c2", "send_email", to="jo2"), "type": "tool_call"}],
    )
    driver = lab.driver([call("c1", "send_email", to="jo")], again, "Done.")
    async with lab.serving(driver):
        first = await driver.run(go(), thread_id="t-1")
        await lab.decide(first.review_id, ("reject", "He moved."))
        await lab.done(first.review_id)
        second = next(r for r in await lab.all_reviews("t-1") if r.id != first.review_id)

    earlier = second.actions[0].rejected_before
    assert earlier is not None
    assert (earlier.review_id, earlier.times, earlier.message) == (first.review_id, 1, "He moved.")
    assert second.arguments("1", 0).parse() == {"to": "jo"}
    assert second.calls[0].reason == "With his new address."
