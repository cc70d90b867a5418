"""A real LangGraph agent with a scripted model, and tools that record their calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException, tool

from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver, HumanReview, Run
from hitl_core.model import Action, Event, Review, Reviewer, encode
from hitl_core.policy import Policy
from hitl_core.review import Decide, claims
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.runs.claims import DoubtAnswer
from hitl_core.review.transition import Transition
from tests.support.waiting import wait_until

ALICE = Reviewer(channel="slack", team="T1", id="U1", name="Alice")
ASKING = {"send_email": True, "run_sql": {"allowed_decisions": ["approve", "reject"]}}
POLICY = Policy.from_mapping({"default": "allow"})

Turn = Sequence[dict[str, Any]]


class Script(BaseChatModel):
    """Returns its turns in order: lists of calls, whole messages, or a final text."""

    turns: list[Any]

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        number = sum(isinstance(message, AIMessage) for message in messages)
        if number and os.environ.get("DIE_IN_MODEL"):
            os.kill(os.getpid(), signal.SIGKILL)
        turn = self.turns[number] if number < len(self.turns) else "the end"
        if isinstance(turn, AIMessage):
            message = turn.model_copy()
        elif isinstance(turn, str):
            message = AIMessage(content=turn)
        else:
            message = AIMessage(content="", tool_calls=[{**c, "type": "tool_call"} for c in turn])
        return ChatResult(generations=[ChatGeneration(message=message)])


class ByTask(Script):
    """An agent plays its own turns: the sub-agents share their parent's model, and are known by the task."""

    parts: dict[str, list[Any]]

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        first = next(m.text for m in messages if m.type == "human")
        turns = self.parts.get(first, self.turns)
        number = sum(isinstance(message, AIMessage) for message in messages)
        turn = turns[number] if number < len(turns) else f"the end of {first}"
        calls = [] if isinstance(turn, str) else [{**c, "type": "tool_call"} for c in turn]
        message = AIMessage(content=turn if isinstance(turn, str) else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def call(id: str | None, name: str, **args: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "args": args}


def tools(effects: Path) -> list[BaseTool]:
    """Each writes one line to `effects` when it really runs."""

    def note(line: str) -> str:
        with effects.open("a") as file:
            file.write(line + "\n")
        return line

    @tool
    def send_email(to: str) -> str:
        """Send an e-mail."""
        return note(f"sent {to}")

    @tool
    def run_sql(query: str) -> str:
        """Run SQL."""
        return note(f"ran {query}")

    @tool
    def read(topic: str) -> str:
        """Read something."""
        return note(f"read {topic}")

    @tool
    def explode(fuse: str) -> str:
        """Raise after the effect."""
        note(f"lit {fuse}")
        raise RuntimeError(f"boom {fuse}\nsecond line")

    @tool
    def refuse(why: str) -> str:
        """Raise a ToolException."""
        raise ToolException(f"no: {why}")

    refuse.handle_tool_error = True
    return [send_email, run_sql, read, explode, refuse]


def _with(tool: BaseTool, during: Callable[[], Awaitable[None]]) -> BaseTool:
    """The same tool, with something that happens after its effect and before its result."""

    async def run(**args: Any) -> Any:
        result = cast(StructuredTool, tool).func(**args)  # type: ignore[misc]
        await during()
        return result

    return tool.model_copy(update={"coroutine": run})


class Lab:
    """One agent of one process. `process()` makes another one over the same store and checkpointer."""

    def __init__(self, gate: Gate, saver: Any, folder: Path) -> None:
        self.gate, self.saver, self.folder = gate, saver, folder
        self.reviews = HumanReview(gate)
        self.stops: list[Run] = []

    @property
    def effects(self) -> list[str]:
        path = self.folder / "effects"
        return path.read_text().splitlines() if path.exists() else []

    def agent(
        self,
        *turns: Turn | str | AIMessage,
        asking: Any = ASKING,
        between: Sequence[Any] = (),
        before: Sequence[Any] = (),
        during: Callable[[], Awaitable[None]] | None = None,
        **hitl: Any,
    ) -> Any:
        """`before` and `between` are middlewares around LangChain's pauses; `during` is awaited in each
        tool."""
        own = tools(self.folder / "effects")
        return create_agent(
            Script(turns=list(turns)),
            [_with(tool, during) for tool in own] if during else own,
            middleware=[*before, HumanInTheLoopMiddleware(asking, **hitl), *between],
            checkpointer=self.saver,
        )

    def sync_agent(self, *turns: Turn | str) -> Any:
        """Without a checkpointer: AsyncSqliteSaver has no sync side."""
        agent = create_agent(Script(turns=list(turns)), tools(self.folder / "effects"))
        return self.reviews.guard(agent)

    def set_policy(self, **config: Any) -> None:
        self.gate.policy = Policy.from_mapping(config)

    def driver(self, *turns: Turn | str | AIMessage, **options: Any) -> Driver:
        return self.reviews.drive(self.agent(*turns, **options), allow_in_memory=True)

    @contextlib.asynccontextmanager
    async def serving(
        self, driver: Driver, on_stop: Any = None, **options: Any
    ) -> AsyncIterator[None]:
        async def keep(run: Run) -> None:
            self.stops.append(run)

        async with self.firing(), running(driver.serve(on_stop or keep, **options)):
            yield

    def firing(self) -> contextlib.AbstractAsyncContextManager[None]:
        """The bot's clock."""
        return running(self._fire())

    async def _fire(self) -> None:
        """What the bot does when a lease ends, or a deadline comes."""
        while True:
            for review_id in await self.gate.reviews.store.due_reviews():
                await self.gate.reviews.apply_due(review_id)
            await asyncio.sleep(0.05)

    async def decide(
        self, review_id: str | None, *decisions: str | dict[str, Any] | tuple[str, str]
    ) -> None:
        """In the order of the actions: "approve", {new args}, or ("reject" | "respond", "message")."""
        assert review_id
        review = await self.review(review_id)
        for action, decision in zip(review.actions, decisions, strict=True):
            await self.decide_one(review_id, action, decision)

    async def decide_one(
        self, review_id: str, action: Action, decision: str | dict[str, Any] | tuple[str, str]
    ) -> None:
        if isinstance(decision, dict):
            proposal = Proposal("edit", action.revision, None, encode(decision))
        elif isinstance(decision, tuple):
            proposal = Proposal(decision[0], action.revision, decision[1])  # type: ignore[arg-type]
        else:
            proposal = Proposal(decision, action.revision)  # type: ignore[arg-type]
        await self.gate.reviews.apply(Decide(review_id, action.key, proposal, ALICE, uuid4().hex))

    async def resolve(self, review_id: str | None, answer: DoubtAnswer) -> None:
        """Answers what became of the first call, which is in doubt."""

        def resolve(review: Review, now: float) -> Transition:
            return claims.resolve(review, "1", answer, ALICE, now)

        assert review_id
        await self.gate.reviews.change(review_id, uuid4().hex, resolve)

    async def review(self, review_id: str | None) -> Review:
        assert review_id
        return (await self.gate.reviews.load(review_id)).review

    async def all_reviews(self, thread_id: str) -> list[Review]:
        return [await self.review(id) for id in await self.gate.reviews.store.thread_ids(thread_id)]

    async def claimed(self, review_id: str | None, fence: int) -> None:
        async def find() -> bool:
            return (await self.review(review_id)).fence >= fence

        await wait_until(f"claim {fence}", find)

    async def end_lease(self, review_id: str | None) -> None:
        """As if the process that holds the review had been suspended for long."""

        def end_lease(review: Review, now: float) -> Transition:
            assert review.lease
            lease = review.lease.model_copy(update={"until": now})
            event = Event(kind="renewed", review_id=review.id, at=now)
            return Transition(review.model_copy(update={"lease": lease}), event)

        assert review_id
        await self.gate.reviews.change(review_id, uuid4().hex, end_lease)

    async def done(self, review_id: str | None) -> Review:
        """Wait until the agent has finished it."""

        async def find() -> Review | None:
            review = await self.review(review_id)
            return review if review.status == "done" else None

        return await wait_until("the review is done", find)


@contextlib.asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def go(text: str = "go") -> dict[str, Any]:
    return {"messages": [("user", text)]}


def answers(run: Run) -> dict[str, tuple[str, str]]:
    """What the model was told of each call: by call id, (status, text)."""
    messages = [m for m in run.state["messages"] if isinstance(m, ToolMessage)]
    return {m.tool_call_id: (m.status, m.text) for m in messages}


def flipping(*values: bool) -> Callable[[Any], bool]:
    """A `when` predicate with another result at each call; the last one stays."""
    rest: Iterator[bool] = iter(values[:-1])
    return lambda request: next(rest, values[-1])
