"""What every integration promises, whatever its framework. A subclass of `IntegrationContract` provides the
`world`: an agent of that framework with a scripted model. People decide through the store, as with any chat
system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from hitl_core.errors import IntegrationError, Refused
from hitl_core.model import Action, DecisionType, Review, Reviewer, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import Cancel, Decide, Proposal, Reviews
from hitl_core.store import RedisStore, Store
from tests.support.waiting import wait_until

ALICE = Reviewer(channel="slack", team="T1", id="U1", name="Alice")
AGENT, THREAD, REQUESTER = "contract", "t-1", "U0MARIA"
_RULE = {"allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"]}
#: People decide about these tools; `read` is allowed, and `drop_table` is denied.
POLICY = Policy.from_mapping(
    {
        "default": "deny",
        "interrupt_on": {
            "send_email": _RULE,
            "explode": _RULE,
            "hurry": {**_RULE, "expire": {"after": "1s"}},
            "read": False,
        },
    }
)
ASKED = ("send_email", "explode", "hurry")

Turn = Sequence[ToolCall]
Tools = Mapping[str, Callable[..., str]]


class Answer(NamedTuple):
    """What the model gets for one call. `failed`: its framework marks it as an error."""

    text: str
    failed: bool


class World(ABC):
    """An agent, and the processes in which it runs. `effects`: what its tools did, in order."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    @property
    def tools(self) -> Tools:
        """The agent's tools by name. Give them to the framework as they are."""

        def send_email(to: str) -> str:
            """Send an e-mail."""
            self.effects.append(f"sent {to}")
            return f"sent {to}"

        def read(topic: str) -> str:
            """Read something."""
            self.effects.append(f"read {topic}")
            return f"read {topic}"

        def drop_table(table: str) -> str:
            """Drop a table."""
            self.effects.append(f"dropped {table}")
            return f"dropped {table}"

        def explode(fuse: str) -> str:
            """Raise after the effect."""
            self.effects.append(f"lit {fuse}")
            raise RuntimeError(f"boom {fuse}")

        def hurry(to: str) -> str:
            """Do something that has a deadline."""
            self.effects.append(f"hurried {to}")
            return f"hurried {to}"

        return {tool.__name__: tool for tool in (send_email, read, drop_table, explode, hurry)}

    @abstractmethod
    async def start(self, *turns: Turn) -> None:
        """A process begins a run of THREAD for REQUESTER, with POLICY, as AGENT. The model makes these turns,
        each after the results of the one before, and then ends. May return before the run pauses.
        """

    @abstractmethod
    async def end_processes(self) -> None:
        """All processes end, whatever they do at the moment."""

    @abstractmethod
    async def start_again(self) -> None:
        """Another process of the agent continues the run, with nothing but what is stored. The one before
        may still live.
        """

    @abstractmethod
    async def answers(self) -> Mapping[str, Answer]:
        """Wait until the run has ended. What the model got, by call id."""

    @abstractmethod
    async def run_unguardable(self) -> None:
        """Guard something that can't be guarded, and run it. Raises IntegrationError, or TypeError for a
        function, before a tool runs.
        """


class People:
    """What people see and do."""

    def __init__(self, store: Store) -> None:
        self.reviews = Reviews(store)

    async def find(self, call: ToolCall) -> tuple[Review, Action] | None:
        """The action that waits for people with this tool and these arguments."""
        store = self.reviews.store
        for review_id in await store.live_ids():
            review = (await self.reviews.load(review_id)).review
            for action in review.actions:
                args = review.arguments(action.key).parse()
                if action.is_pending and (action.request.name, args) == (call.name, call.args):
                    return review, action
        return None

    async def wait_for(self, call: ToolCall) -> tuple[Review, Action]:
        return await wait_until(f"people are asked about {call}", lambda: self.find(call))

    async def decide(
        self,
        call: ToolCall,
        decision: DecisionType,
        message: str | None = None,
        args: dict[str, Any] | None = None,
    ) -> None:
        review, action = await self.wait_for(call)
        new = None if args is None else encode(args)
        proposal = Proposal(decision, action.revision, message, new)
        await self.reviews.apply(Decide(review.id, action.key, proposal, ALICE, uuid4().hex))

    async def cancel(self, call: ToolCall, reason: str) -> None:
        review, _ = await self.wait_for(call)
        await self.reviews.apply(Cancel(review.id, ALICE, uuid4().hex, reason=reason))

    async def let_expire(self, call: ToolCall) -> None:
        """What the bot does when the deadline comes."""
        review, _ = await self.wait_for(call)

        async def is_settled() -> bool:
            for due in await self.reviews.store.due_reviews():
                await self.reviews.apply_due(due)
            return (await self.reviews.load(review.id)).review.status != "pending"

        await wait_until("the deadline passes", is_settled)


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
