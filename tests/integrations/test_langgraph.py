"""The main job: a LangGraph agent pauses, people decide, any process of the agent goes on."""

from __future__ import annotations

from tests.integrations.agents import Lab, answers, call, go
from tests.support.waiting import wait_until

TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "send_email", to="b"),
    call("c4", "run_sql", query="DROP TABLE t"),
]


async def test_approved_edited_and_rejected_calls_do_what_was_decided(lab: Lab) -> None:
    """Given a turn of four calls, when one is approved, one edited and one rejected, then the tools get exactly
    the decided arguments, the free call runs as well, and the model hears of all."""
    driver = lab.driver(TURN)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
        assert paused.review_id
        assert not paused.finished
        assert lab.effects == []
        await lab.decide(paused.review_id, "approve", {"to": "E"}, ("reject", "not on my watch"))
        [run] = await wait_until("the run to end", lambda: lab.stops)
    assert run.finished
    assert sorted(lab.effects) == ["read x", "sent E", "sent a"]
    told = answers(run)
    assert told["c1"] == ("success", "sent a")
    assert told["c3"][1].endswith("Tool response:\nsent E")
    assert told["c4"] == ("error", "User rejected the tool call for `run_sql` with reason: not on my watch")
    review = await wait_until("done", lambda: _when_done(lab, paused.review_id))
    assert review.requester == "U0MARIA"
    assert [review.runs[key].line for key in ("1", "3")] == ["sent a", "sent E"]
    assert "2" not in review.runs


async def _when_done(lab: Lab, review_id: str | None):
    review = await lab.review(str(review_id))
    return review if review.status == "done" else None
