"""The plan of one run: its sizes, and (from its seed) each review and what people do with it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

from benchmarks.chaos.names import CHANNELS, ChatName, names_of
from hitl_core import Policy, ToolCall

#: `chat`: faults of Slack or Teams itself.
FaultGroup = Literal["bots", "agents", "redis", "network", "chat"]
FAULT_GROUPS: tuple[FaultGroup, ...] = get_args(FaultGroup)

#: The kind of Redis.
Setup = Literal["single", "sentinel", "cluster"]
SETUPS: tuple[Setup, ...] = get_args(Setup)

#: How the chat system reaches the bots: `socket` is Slack's Socket Mode.
Mode = Literal["http", "socket"]
MODES: tuple[Mode, ...] = get_args(Mode)

#: How people act on one review.
Kind = Literal[
    "approve",
    "reject",
    "quorum",
    "pair",
    "race",
    "double",
    "stranger",
    "requester",
    "edit",
    "stale",
    "deadline",
    "timer",
]
#: How many percent of the reviews are of each kind.
SHARES: Mapping[Kind, int] = {
    "approve": 28,
    "pair": 6,
    "reject": 8,
    "quorum": 10,
    "race": 10,
    "double": 8,
    "stranger": 5,
    "requester": 5,
    "edit": 6,
    "stale": 4,
    "deadline": 6,
    "timer": 4,
}
BOTS, WORKERS, AGENTS = 2, 2, 4
#: The times in the rules, in seconds. Reviews of the kinds `deadline` and `timer` have them, from their
#: submit.
DEADLINE, ESCALATION, EXPIRY = 4, 2, 6


@dataclass(frozen=True)
class Item:
    """One review. `at`: when people act on it, in seconds from the start of the load; a review of the kind
    `deadline` or `timer` is submitted at this time. `waits`: a process of its agent waits for it.
    """

    number: int
    kind: Kind
    at: float
    agent: int
    waits: bool
    chat: ChatName = "slack"

    @property
    def tool(self) -> str:
        names: Mapping[Kind, str] = {
            "quorum": "wire",
            "stale": "wire",
            "deadline": "rush",
            "timer": "slow",
        }
        return f"{names.get(self.kind, 'pay')}_{self.number % CHANNELS}"

    @property
    def channel(self) -> str:
        return names_of(self.chat).channel(self.number % CHANNELS)

    @property
    def requester(self) -> str:
        requesters = names_of(self.chat).requesters
        return requesters[self.number % len(requesters)]

    @property
    def is_timed(self) -> bool:
        return self.kind in ("deadline", "timer")

    @property
    def calls(self) -> list[ToolCall]:
        """One call, or two for a `pair`, which is settled only when both are decided."""
        first = ToolCall("c1", self.tool, self.arguments)
        if self.kind != "pair":
            return [first]
        return [first, ToolCall("c2", self.tool, {**self.arguments, "amount": 7})]

    @property
    def arguments(self) -> dict[str, Any]:
        return {"to": f"account-{self.number}", "amount": 100 + self.number}

    @property
    def edited_arguments(self) -> dict[str, Any]:
        return {**self.arguments, "amount": 5}


@dataclass(frozen=True)
class Plan:
    """`pending`: how many reviews wait before the load begins. `rate`: on how many of them people act in each
    second, for `seconds`. `bots`, `agents`, `redis`: the seconds between two faults of this group; `small`:
    the same for the groups `network` and `chat`. `lease`: the seconds of an agent's claim. `scale`: how many
    times faster than in the chat system the rate limits are.
    """

    seed: int
    faults: tuple[FaultGroup, ...] = FAULT_GROUPS
    bug: str = ""
    setup: Setup = "single"
    chat: ChatName = "slack"
    mode: Mode = "http"
    #: If more cards wait for one channel, reviews share a message. 0: never.
    digest_after: int = 0
    pending: int = 10_000
    rate: float = 100.0
    seconds: float = 60.0
    bots: float = 2.0
    agents: float = 3.0
    redis: float = 10.0
    small: float = 1.0
    lease: float = 4.0
    scale: float = 1000.0

    @property
    def patience(self) -> float:
        """At the end of the run, remaining work counts as stuck if nothing changes for this many seconds. In
        Teams the update of a card waits a minute for a form that somebody has left.
        """
        return 60.0 if self.chat == "slack" else 120.0

    @classmethod
    def short(cls, **given: Any) -> Self:
        """A run of about 60 s on two cores."""
        return cls(
            **{
                "pending": 250,
                "rate": 12.0,
                "seconds": 20.0,
                "bots": 4.0,
                "agents": 4.0,
                "redis": 8.0,
            }
            | given
        )

    @classmethod
    def tiny(cls, **given: Any) -> Self:
        """The smallest run, for tests."""
        return cls.short(**{"pending": 60, "rate": 12.0, "seconds": 6.0, "redis": 3.0} | given)

    def items(self) -> list[Item]:
        """All reviews of the run, the same for the same seed. People act only on the first
        `rate * seconds`.
        """
        chance = random.Random(f"items {self.seed}")
        kinds, shares = list(SHARES), list(SHARES.values())
        busy = int(self.rate * self.seconds)
        return [
            Item(
                number=number,
                kind=chance.choices(kinds, shares)[0] if number < busy else "approve",
                at=number / self.rate if number < busy else float("inf"),
                agent=chance.randrange(AGENTS),
                waits=number < busy and chance.random() < 0.15,
                chat=self.chat,
            )
            for number in range(max(self.pending, busy))
        ]

    def save(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, file: Path) -> Self:
        fields = json.loads(file.read_text())
        return cls(**{**fields, "faults": tuple(fields["faults"])})


def agent_name(process: int) -> str:
    """Two processes run each agent."""
    return f"chaos-{process % 2}"


#: This agent has no access to Redis: it uses the HTTP API of the bots, with a token. The other one uses the
#: library.
HTTP_AGENT = "chaos-1"


def policy(chat: ChatName) -> Policy:
    return Policy.from_mapping(policy_mapping(chat))


def policy_mapping(chat: ChatName) -> dict[str, Any]:
    names = names_of(chat)
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["to", "amount"],
    }
    excluded = {"channel_members": True, "exclude_requester": True}
    rules: dict[str, Any] = {}
    for number in range(CHANNELS):
        other = names.place((number + 1) % CHANNELS)
        common = {"args_schema": schema, "notify": names.place(number), "reviewers": excluded}
        rules[f"pay_{number}"] = common
        rules[f"wire_{number}"] = {**common, "reviewers": {**excluded, "quorum": 2}}
        rules[f"rush_{number}"] = {**common, "expire": {"after": f"{DEADLINE}s"}}
        rules[f"slow_{number}"] = {
            **common,
            "escalate": [{"after": f"{ESCALATION}s", "to": other}],
            "expire": {"after": f"{EXPIRY}s"},
        }
    return {"default": "deny", "interrupt_on": rules}
