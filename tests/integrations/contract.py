"""What every integration promises, whatever its framework. A subclass of `IntegrationContract` provides the
`world`: an agent of that framework with a scripted model. People decide through the store, as with any chat
system.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hitl_core.errors import IntegrationError, Refused
from hitl_core.model import ToolCall
from hitl_core.store import RedisStore
from tests.integrations.world import AGENT, REQUESTER, THREAD, Answer, People, World
from tests.support.waiting import wait_until


def send(id: str, to: str) -> ToolCall:
    return ToolCall(id, "send_email", {"to": to})


class IntegrationContract:
    """Each test is one promise. A tool call is decided by its arguments, so it doesn't matter whether a
    framework asks about a whole turn or about each call.
    """

    @pytest.fixture
    def world(self) -> World:
        raise NotImplementedError

    @pytest.fixture
    async def people(self, redis_url: str) -> AsyncIterator[People]:
        store = await RedisStore.open(redis_url)
        yield People(store)
        await store.close()

    # ------------------------------------------------------------------ what people decide

    async def test_an_approved_call_runs_once_with_its_arguments(
        self, world: World, people: People
    ) -> None:
        """Given a call that people are asked about, then nothing runs before they approve; after that it runs
        once, the model gets its result, and the review has its thread, its requester and the result."""
        call = send("c1", "a")
        await world.start([call])
        review, _ = await people.wait_for(call)
        assert world.effects == []

        await people.decide(call, "approve")

        assert await world.answers() == {"c1": Answer("sent a", failed=False)}
        assert world.effects == ["sent a"]

        async def is_done() -> bool:
            return (await people.reviews.load(review.id)).review.status == "done"

        await wait_until("the review is done", is_done)
        stored = (await people.reviews.load(review.id)).review
        assert (stored.agent, stored.thread_id, stored.requester) == (AGENT, THREAD, REQUESTER)
        assert [run.line for run in stored.runs.values()] == ["sent a"]

    async def test_an_edited_call_runs_once_with_the_new_arguments(
        self, world: World, people: People
    ) -> None:
        call = send("c1", "a")
        await world.start([call])

        await people.decide(call, "edit", args={"to": "b"})

        answer = (await world.answers())["c1"]
        assert "sent b" in answer.text
        assert not answer.failed
        assert world.effects == ["sent b"]

    async def test_an_edit_that_the_tool_cannot_take_never_runs(
        self, world: World, people: People
    ) -> None:
        """Given an edit with an argument that the tool doesn't have, then it is refused, or the model is
        told; the tool does not run with other arguments than the edit's."""
        call = send("c1", "a")
        await world.start([call])

        try:
            await people.decide(call, "edit", args={"to": "b", "bcc": "everybody"})
        except Refused:
            await people.cancel(call, "It can't be edited like this.")

        assert (await world.answers())["c1"].failed
        assert world.effects == []

    async def test_a_rejected_call_never_runs_and_the_model_gets_the_reason(
        self, world: World, people: People
    ) -> None:
        call = send("c1", "a")
        await world.start([call])

        await people.decide(call, "reject", "not on my watch")

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "not on my watch" in answer.text
        assert world.effects == []

    async def test_an_answer_in_place_of_the_tool_is_its_result(
        self, world: World, people: People
    ) -> None:
        call = send("c1", "a")
        await world.start([call])

        await people.decide(call, "respond", "I called them.")

        assert await world.answers() == {"c1": Answer("I called them.", failed=False)}
        assert world.effects == []

    async def test_a_skipped_call_never_runs_and_the_model_is_told(
        self, world: World, people: People
    ) -> None:
        call = send("c1", "a")
        await world.start([call])

        await people.decide(call, "ignore")

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "was skipped" in answer.text
        assert world.effects == []

    async def test_each_call_of_a_turn_does_what_was_decided_about_it(
        self, world: World, people: People
    ) -> None:
        """Given a turn of five calls, when one is approved, one edited, one rejected and one answered, then
        the tools run with exactly that, the free call runs as well, and the model gets an answer to each."""
        a, b, c, d = (send(id, id.upper()) for id in "abcd")
        await world.start([a, b, ToolCall("free", "read", {"topic": "x"}), c, d])

        await people.decide(a, "approve")
        await people.decide(b, "edit", args={"to": "E"})
        await people.decide(c, "reject", "too many")
        await people.decide(d, "respond", "I did it.")

        answers = await world.answers()
        assert sorted(world.effects) == ["read x", "sent A", "sent E"]
        assert [answers[id].failed for id in ("a", "b", "free", "c", "d")] == [
            *(False, False, False),
            *(True, False),
        ]
        assert (answers["a"].text, answers["d"].text) == ("sent A", "I did it.")
        assert "too many" in answers["c"].text

    # ------------------------------------------------------------------ what nobody decides

    async def test_a_cancelled_call_never_runs_and_the_model_is_told(
        self, world: World, people: People
    ) -> None:
        call = send("c1", "a")
        await world.start([call])

        await people.cancel(call, "the user went on")

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "the user went on" in answer.text
        assert world.effects == []

    async def test_a_call_whose_deadline_passes_never_runs_and_the_model_is_told(
        self, world: World, people: People
    ) -> None:
        call = ToolCall("c1", "hurry", {"to": "a"})
        await world.start([call])

        await people.let_expire(call)

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "in time" in answer.text
        assert world.effects == []

    async def test_a_call_that_the_policy_allows_runs_without_a_person(self, world: World) -> None:
        await world.start([ToolCall("c1", "read", {"topic": "x"})])

        assert await world.answers() == {"c1": Answer("read x", failed=False)}
        assert world.effects == ["read x"]

    async def test_a_call_that_the_policy_denies_never_runs_and_the_model_is_told(
        self, world: World
    ) -> None:
        await world.start([ToolCall("c1", "drop_table", {"table": "users"})])

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "The policy doesn't allow `drop_table`" in answer.text
        assert world.effects == []

    # ------------------------------------------------------------------ what happens then

    async def test_a_tool_that_raises_counts_as_run(self, world: World, people: People) -> None:
        """Given an approved tool that raises after its effect, then it is not run again: the card and the
        model get the error."""
        call = ToolCall("c1", "explode", {"fuse": "f"})
        await world.start([call])
        review, _ = await people.wait_for(call)

        await people.decide(call, "approve")

        answer = (await world.answers())["c1"]
        assert answer.failed
        assert "boom f" in answer.text
        assert world.effects == ["lit f"]
        [run] = (await people.reviews.load(review.id)).review.runs.values()
        assert run.line
        assert run.line.startswith("failed")

    async def test_the_same_call_in_a_later_turn_is_asked_again(
        self, world: World, people: People
    ) -> None:
        """Given two turns with the same call, when the first is approved, then that says nothing about the
        second."""
        first, second = send("c1", "a"), send("c2", "a")
        await world.start([first], [second])
        one, _ = await people.wait_for(first)

        await people.decide(first, "approve")
        other, _ = await people.wait_for(second)
        assert (other.id != one.id, world.effects) == (True, ["sent a"])
        await people.decide(second, "reject", "once is enough")

        answers = await world.answers()
        assert [answers[id].failed for id in ("c1", "c2")] == [False, True]
        assert world.effects == ["sent a"]

    async def test_another_process_continues_with_the_decision(
        self, world: World, people: People
    ) -> None:
        """Given a process that ends while people decide, when they edit the call and another process of the
        agent starts, then the call runs there, once, and people are not asked a second time."""
        call = send("c1", "a")
        await world.start([call])
        await people.wait_for(call)
        await world.end_processes()

        await people.decide(call, "edit", args={"to": "b"})
        await world.start_again()

        answer = (await world.answers())["c1"]
        assert "sent b" in answer.text
        assert world.effects == ["sent b"]
        assert await people.find(call) is None

    async def test_another_process_waits_for_the_same_review(
        self, world: World, people: People
    ) -> None:
        """Given a process that ends while people decide, when another one starts before they do, then it
        waits for the same review, and runs nothing before."""
        call = send("c1", "a")
        await world.start([call])
        before, _ = await people.wait_for(call)
        await world.end_processes()

        await world.start_again()
        after, _ = await people.wait_for(call)
        assert (after.id, world.effects) == (before.id, [])
        await people.decide(call, "approve")

        assert await world.answers() == {"c1": Answer("sent a", failed=False)}
        assert world.effects == ["sent a"]

    async def test_of_two_processes_one_runs_it(self, world: World, people: People) -> None:
        """Given two living processes that wait for the same review, then the call runs in one of them."""
        call = send("c1", "a")
        await world.start([call])
        await people.wait_for(call)
        await world.start_again()

        await people.decide(call, "approve")

        await world.answers()
        assert world.effects == ["sent a"]

    async def test_what_cannot_be_guarded_is_refused_before_anything_runs(
        self, world: World
    ) -> None:
        with pytest.raises((IntegrationError, TypeError)):
            await world.run_unguardable()

        assert world.effects == []
