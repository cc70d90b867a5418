"""One walk for each trip of the data: a new review each time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from benchmarks.walks.fixture import ARGS, CALL, REQUESTER, Fixture, draw
from benchmarks.walks.recorder import Recorder, Walk
from bot.api import Submit, judge_turn
from hitl_core import Gate
from hitl_core.gate import ReviewKey


async def walk_submit(fixture: Fixture) -> Walk:
    thread_id = fixture.name()
    with Recorder() as recorder:
        await fixture.gate.submit([CALL], thread_id=thread_id, requester=REQUESTER)
    return recorder.walk


async def walk_http_submit(fixture: Fixture) -> Walk:
    """From the parsed body of an HTTP request to the review that is stored."""
    body = {
        "thread_id": fixture.name(),
        "calls": [{"id": "call-1", "name": "send_email", "args": ARGS}],
    }
    submission = Submit.model_validate(body)
    with Recorder() as recorder:
        [judged] = await judge_turn(fixture.policy, submission)
        judged.build(ReviewKey("bench", submission.thread_id, "", REQUESTER), 1, time.time())
    return recorder.walk


async def walk_card(fixture: Fixture) -> Walk:
    review = await fixture.submit()
    with Recorder() as recorder:
        draw(review)
    return recorder.walk


async def walk_approve(fixture: Fixture) -> Walk:
    review = await fixture.submit()
    walk = await _record(fixture.send(fixture.press(review, "approve")))
    assert (await fixture.load(review.id)).status == "settled"
    return walk


async def walk_resume(fixture: Fixture) -> Walk:
    review = await fixture.submit()
    await fixture.send(fixture.press(review, "approve"))
    async with Gate(fixture.store, policy=fixture.policy, agent="bench") as gate:
        with Recorder() as recorder:
            outcome = await gate.wait(review.id)
            assert await outcome.once(outcome.execute[0])
            await outcome.finish({CALL.id: "sent"})
    return recorder.walk


async def walk_edit_press(fixture: Fixture) -> Walk:
    review = await fixture.submit()
    walk = await _record(fixture.send(fixture.press(review, "edit")))
    assert fixture.slack.views
    return walk


async def walk_edit_submission(fixture: Fixture) -> Walk:
    review = await fixture.submit()
    await fixture.send(fixture.press(review, "edit"))
    walk = await _record(fixture.send(fixture.send_form(fixture.slack.views[-1])))
    assert (await fixture.load(review.id)).actions[0].revision == 2
    return walk


async def _record(work: Awaitable[None]) -> Walk:
    with Recorder() as recorder:
        await work
    return recorder.walk


TRIPS: Mapping[str, Callable[[Fixture], Awaitable[Walk]]] = {
    "submit": walk_submit,
    "submit by HTTP": walk_http_submit,
    "card → blocks": walk_card,
    "Approve → stored": walk_approve,
    "resume": walk_resume,
    "Edit pressed → modal": walk_edit_press,
    "Edit sent → stored": walk_edit_submission,
}
