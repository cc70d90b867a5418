"""Other code runs a thread of the driver, exactly while the driver is about to continue it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.errors import Refused
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver
from hitl_core.store import MemoryStore
from tests.integrations.agents import POLICY, Lab, call, go
from tests.integrations.graphs import asking

ANN: dict[str, Any] = {"requester": "U0ANN", "origin": "slack:C0123ABCD/1700000000.000100"}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}
QUESTION = {
    "action_requests": [{"name": "pay", "args": {}, "description": "Pay?"}],
    "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]}],
}


class MovingSaver(AsyncSqliteSaver):
    """After the next read of a thread, before the reader gets its state, it awaits `after_read`."""

    after_read: Callable[[], Awaitable[Any]] | None = None

    async def aget_tuple(self, config: Any) -> Any:
        saved = await super().aget_tuple(config)
        if after_read := self.after_read:
            self.after_read = None
            await after_read()
        return saved


@pytest.fixture
async def moving(lab: Lab) -> Lab:
    return Lab(lab.gate, MovingSaver(lab.saver.conn), lab.folder)


def make_agent(lab: Lab) -> Any:
    return lab.agent(*([call(f"c{number}", "send_email", to="a")] for number in (1, 2)))


def bob_writes(lab: Lab, agent: Any) -> None:
    """As soon as the driver has read the thread, other code begins a run of it for Bob."""
    lab.saver.after_read = lambda: agent.ainvoke(go("Bob's message"), THREAD)


async def test_a_run_that_other_code_began_is_not_continued_as_that_of_the_last_requester(
    moving: Lab,
) -> None:
    """Given Ann's saved message, when other code begins Bob's run of the thread between the driver's look at
    it and the run, then the driver is refused, and asks nobody about Bob's call as Ann's."""
    agent = make_agent(moving)
    driver = moving.reviews.drive(agent)
    await driver.save_input(go(), thread_id="t-1", **ANN)
    bob_writes(moving, agent)
    with pytest.raises(Refused, match="run of 't-1' began"):
        await driver.run(None, thread_id="t-1")
    assert await moving.all_reviews("t-1") == []


async def test_decisions_do_not_continue_a_run_that_other_code_began(moving: Lab) -> None:
    """Given Ann's approved call, when other code begins Bob's run of the thread as the driver is about to
    resume Ann's, then her call does not run, its card says so, and Bob's call is not hers."""
    agent = make_agent(moving)
    driver = moving.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1", **ANN)
    await moving.decide(run.review_id, "approve")
    bob_writes(moving, agent)
    async with moving.serving(driver):
        review = await moving.done(run.review_id)
    assert moving.effects == []
    assert review.runs["1"].line == "not executed: the agent did not start it"
    assert [r.requester for r in await moving.all_reviews("t-1")] == [None, "U0ANN"]


async def test_an_answer_that_reached_no_question_is_told_on_the_card(moving: Lab) -> None:
    """Given the approved question of a node, when other code begins another run of the thread as the driver
    is about to answer, then the card says that the call was not executed."""
    driver: Driver = asking(moving, QUESTION)
    run = await driver.run({"out": []}, thread_id="t-1", **ANN)
    await moving.decide(run.review_id, "approve")
    graph = driver._agent
    moving.saver.after_read = lambda: graph.ainvoke({"out": ["Bob"]}, THREAD)
    async with moving.serving(driver):
        review = await moving.done(run.review_id)
    assert review.runs["1"].line == "not executed: another run of its thread began"


async def test_new_input_waits_for_what_people_decided_just_now(lab: Lab, moving: Lab) -> None:
    """Given a review that people decide just after new input has looked at its thread, then the new input is
    told to come again, and what was approved runs before it."""
    run = await lab.driver([call("c1", "send_email", to="a")]).run(go(), thread_id="t-1")
    ours = moving.driver([call("c1", "send_email", to="a")])
    moving.saver.after_read = lambda: lab.decide(run.review_id, "approve")
    async with lab.serving(lab.driver([call("c1", "send_email", to="a")])):
        with pytest.raises(Refused) as caught:
            await ours.run(go("again"), thread_id="t-1")
        assert caught.value.code == "busy"
        await lab.done(run.review_id)
    assert (await ours.run(go("again"), thread_id="t-1")).finished
    assert lab.effects == ["sent a"]


class HoldingSaver(AsyncSqliteSaver):
    """Holds the first checkpoint back, until it is `released`."""

    def __init__(self, conn: Any) -> None:
        super().__init__(conn)
        self.reached, self.released = asyncio.Event(), asyncio.Event()

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        self.reached.set()
        await self.released.wait()
        return await super().aput(*args, **kwargs)


@pytest.mark.parametrize("only_saves", [False, True])
async def test_of_two_runs_that_begin_at_once_one_is_refused(lab: Lab, only_saves: bool) -> None:
    """Given messages of Ann and Bob for one thread, which two processes take at once, and Bob's is saved with
    delay, then people are asked about Bob's call as his, and Ann's process is told."""
    other = Lab(lab.gate, HoldingSaver(lab.saver.conn), lab.folder)
    theirs, ours = other.reviews.drive(make_agent(other)), lab.reviews.drive(make_agent(lab))
    bob = asyncio.create_task(theirs.run(go("Bob"), thread_id="t-1", requester="U0BOB"))
    await other.saver.reached.wait()
    with pytest.raises(Refused, match="goes on"):
        await (ours.save_input if only_saves else ours.run)(go("Ann"), thread_id="t-1", **ANN)
    other.saver.released.set()
    review_id = (await bob).review_id
    assert [(r.id, r.requester) for r in await lab.all_reviews("t-1")] == [(review_id, "U0BOB")]


class SlowSaver(AsyncSqliteSaver):
    """Before it saves its first checkpoint, it awaits `before_put`."""

    before_put: Callable[[], Awaitable[Any]] | None = None

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        if before_put := self.before_put:
            self.before_put = None
            await before_put()
        return await super().aput(*args, **kwargs)


@pytest.mark.parametrize("other_is_saved", [True, False])
async def test_a_message_that_is_saved_too_late_is_refused(
    saver: AsyncSqliteSaver, tmp_path: Path, other_is_saved: bool
) -> None:
    """Given Bob's process, which is suspended for long while it saves his message; when Ann's is saved
    meanwhile, then Bob's process is told, and Ann's message is answered. Otherwise Bob's is."""
    clock = [1000.0]
    store = MemoryStore(lambda: clock[0])
    async with Gate(store, policy=POLICY, agent="billing") as gate:
        slow, ours = Lab(gate, SlowSaver(saver.conn), tmp_path), Lab(gate, saver, tmp_path)
        driver = ours.driver("Hello.")

        async def be_slow() -> None:
            clock[0] += gate.lease + 1
            if other_is_saved:
                await driver.save_input(go("Ann"), thread_id="t-1", **ANN)

        slow.saver.before_put = be_slow
        bob = slow.driver("Hello.").save_input(go("Bob"), thread_id="t-1")
        if other_is_saved:
            with pytest.raises(Refused, match="at the same time"):
                await bob
        else:
            await bob
        run = await driver.run(None, thread_id="t-1")
    asked = [message.text for message in run.state["messages"] if message.type == "human"]
    assert asked == (["Ann"] if other_is_saved else ["Bob"])


class FailsThenWaits(AgentMiddleware[Any, Any, Any]):
    """Raises before the first call of the model, and holds the second one until it is `released`."""

    def __init__(self) -> None:
        self.has_failed = False
        self.reached, self.released = asyncio.Event(), asyncio.Event()

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        if not self.has_failed:
            self.has_failed = True
            raise RuntimeError("away")
        self.reached.set()
        await self.released.wait()


@pytest.mark.parametrize("only_saves", [False, True])
async def test_a_retry_does_not_replace_the_input_of_another_process(
    lab: Lab, only_saves: bool
) -> None:
    """Given Ann's run, which raised and which its process tries again, when another process begins Bob's run
    of the thread meanwhile, or saves his input, then that process is told, and Ann is answered."""
    other, waits = Lab(lab.gate, lab.saver, lab.folder), FailsThenWaits()
    ours, theirs = lab.driver("To Ann.", between=[waits]), other.driver("To Bob.")
    with pytest.raises(RuntimeError, match="away"):
        await ours.run(go("Ann"), thread_id="t-1", **ANN)
    again = asyncio.create_task(ours.run(None, thread_id="t-1"))
    await waits.reached.wait()
    begin = theirs.save_input if only_saves else theirs.run
    with pytest.raises(Refused, match="goes on"):
        await begin(go("Bob"), thread_id="t-1", requester="U0BOB")
    waits.released.set()
    await again
    state = await theirs._agent.aget_state(THREAD)
    assert [message.text for message in state.values["messages"]] == ["Ann", "To Ann."]


async def test_a_run_does_not_replace_a_change_of_its_state(lab: Lab) -> None:
    """Given a state that somebody changes by hand while a tool runs, then the run stops, and the change
    stays."""

    async def change() -> None:
        await agent.aupdate_state(THREAD, go("by hand"))

    agent = lab.agent([call("c1", "read", topic="a")], "the end", during=change)
    with pytest.raises(Refused, match="its state was changed"):
        await lab.reviews.drive(agent).run(go(), thread_id="t-1")
    state = await agent.aget_state(THREAD)
    assert "by hand" in [message.text for message in state.values["messages"]]


class ReplacingSaver(AsyncSqliteSaver):
    """When a node has a result, another context awaits `at_result` before the next read."""

    at_result: Callable[[], Coroutine[Any, Any, Any]] | None = None
    has_result = False

    async def aput_writes(self, config: Any, writes: Any, *args: Any, **kwargs: Any) -> None:
        self.has_result = any(channel == "out" for channel, _ in writes)
        await super().aput_writes(config, writes, *args, **kwargs)

    async def aget_tuple(self, config: Any) -> Any:
        if self.has_result and (at_result := self.at_result):
            self.at_result = None
            await asyncio.create_task(at_result(), context=contextvars.Context())
        return await super().aget_tuple(config)


async def test_a_question_whose_run_is_replaced_after_the_answer_is_told_as_handed_over(
    lab: Lab,
) -> None:
    """Given the approved question of a node, when another run of the thread begins after the node got its
    answer, then the card doesn't say that the call was not executed."""
    saver = ReplacingSaver(lab.saver.conn)
    own = Lab(lab.gate, saver, lab.folder)
    driver: Driver = asking(own, QUESTION)
    run = await driver.run({"out": []}, thread_id="t-1", **ANN)
    await own.decide(run.review_id, "approve")
    graph = driver._agent
    saver.at_result = lambda: graph.ainvoke({"out": ["Bob"]}, THREAD)
    async with own.serving(driver):
        review = await own.done(run.review_id)
    assert review.runs["1"].line == "handed to the agent"


class SlotsSaver(AsyncSqliteSaver):
    """Has attributes that are not in its `__dict__`."""

    __slots__ = ("reads",)

    def __init__(self, conn: Any) -> None:
        super().__init__(conn)
        self.reads = 0

    async def aget_tuple(self, config: Any) -> Any:
        self.reads += 1
        return await super().aget_tuple(config)


async def test_a_checkpointer_keeps_attributes_of_any_kind(lab: Lab) -> None:
    own = Lab(lab.gate, SlotsSaver(lab.saver.conn), lab.folder)
    run = await own.reviews.drive(make_agent(own)).run(go(), thread_id="t-1")
    assert run.review_id is not None
    assert own.saver.reads > 0


async def test_a_checkpointer_whose_methods_were_replaced_is_checked_too(moving: Lab) -> None:
    """Given a library that traces the reads of a checkpointer by a function in place of its method, then a
    run that other code began is not continued."""
    agent = make_agent(moving)
    driver = moving.reviews.drive(agent)
    await driver.save_input(go(), thread_id="t-1", **ANN)
    read = moving.saver.aget_tuple
    moving.saver.aget_tuple = read
    bob_writes(moving, agent)
    with pytest.raises(Refused, match="run of 't-1' began"):
        await driver.run(None, thread_id="t-1")


class ClosingSaver(AsyncSqliteSaver):
    """Closes itself when nobody has it any more."""

    is_closed = False

    def __new__(cls, conn: Any) -> ClosingSaver:
        return super().__new__(cls)

    def __del__(self) -> None:
        self.is_closed = True


async def test_a_run_does_not_close_its_checkpointer(lab: Lab) -> None:
    own = Lab(lab.gate, ClosingSaver(lab.saver.conn), lab.folder)
    run = await own.reviews.drive(make_agent(own)).run(go(), thread_id="t-1")
    assert run.review_id is not None
    gc.collect()
    assert not own.saver.is_closed
