"""An agent of any framework, and the people who decide about its calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from hitl_core.model import Action, DecisionType, Review, Reviewer, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import Cancel, Decide, Proposal, Reviews
from hitl_core.store import Store
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
