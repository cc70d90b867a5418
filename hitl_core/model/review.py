"""One model turn of one thread: all of its tool calls, with their frozen verdicts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from hitl_core.model.action import Action, Grant
from hitl_core.model.arguments import Arguments
from hitl_core.model.decision import Reviewer, Vote
from hitl_core.model.dialect import DialectName
from hitl_core.model.route import DEFAULT_PLACE, Place, Route
from hitl_core.model.run import Run
from hitl_core.model.value import Value
from hitl_core.model.verdict import Verdict

SCHEMA_VERSION = 1

Status = Literal["pending", "settled", "claimed", "done"]


_REVIEW_ID = re.compile(r"[0-9]{1,4}-[0-9a-f]{32}")
_ID_PREFIX = re.compile(r"[0-9]{1,4}-[0-9a-f]{4,32}")


def is_review_id(given: str) -> bool:
    """Whether this is a review's id."""
    return bool(_REVIEW_ID.fullmatch(given))


def is_id_prefix(given: str) -> bool:
    """Whether this is the beginning of a review's id, long enough to be one that a person means."""
    return bool(_ID_PREFIX.fullmatch(given))


class Call(Value):
    """One tool call as the model made it. `key` is its position in the turn, from "1"."""

    key: str
    tool_call_id: str
    name: str
    digest: str
    verdict: Verdict
    route: Route
    idempotent: bool = False


class Lease(Value):
    """Who has the review, until when. `fence` counts the claims; an older one writes nothing."""

    holder: str
    fence: int
    until: float


class Cancellation(Value):
    """Why nobody is asked any more. `by` is None where the agent itself withdrew the review."""

    by: Reviewer | None
    at: float
    reason: str | None = None


class DeliveryProblem(Value):
    """Why something can't be shown at a place, or who may decide there is not known; `since` when."""

    why: str
    since: float


class Review(Value):
    """Everything that was decided when it was submitted, and everything decided since.

    Times are seconds since the epoch by the store's clock. `version` is the compare-and-set counter
    and nothing else. `ops` remembers the last operations' ids with what each did, because a reply can
    be lost after the write. `waiter` is the process that waits for the hand-off. `cancels` are the votes of
    people who want to cancel it, where that takes several.

    `path` names the agents that led to it, the outermost first. `dialect` is the one whose texts the model
    gets. `policy` is the digest of the policy that judged, None where an integration did. `origin` is the
    thread in which its requester asked the agent. `tools` are those that an edit may name, each with its own
    JSON Schema or None, and `excerpt` is what the policy says of them (`Policy.excerpt`): by that an edit is
    judged. `edit_notice` is what the result of an edited call begins with. `troubles` are those of its places
    at the moment.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    agent: str
    thread_id: str
    turn: str
    requester: str | None
    path: tuple[str, ...] = ()
    dialect: DialectName = "langchain"
    policy: str | None = None
    origin: Place | None = None
    created_at: float
    calls: tuple[Call, ...]
    actions: tuple[Action, ...]
    tools: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    excerpt: dict[str, Any] | None = None
    edit_notice: str | None = None
    version: int = 1
    status: Status = "pending"
    settled_at: float | None = None
    done_at: float | None = None
    cancelled: Cancellation | None = None
    cancels: tuple[Vote, ...] = ()
    waiter: str | None = None
    lease: Lease | None = None
    fence: int = 0
    runs: dict[str, Run] = Field(default_factory=dict)
    ops: dict[str, str] = Field(default_factory=dict)
    troubles: dict[Place, DeliveryProblem] = Field(default_factory=dict)
    #: The bytes, by "key:revision". Stored beside `data`, each in a field of its own, written once.
    args: Mapping[str, Arguments] = Field(default_factory=dict, exclude=True, repr=False)

    def call(self, key: str) -> Call | None:
        return next((call for call in self.calls if call.key == key), None)

    def action(self, key: str) -> Action | None:
        return next((action for action in self.actions if action.key == key), None)

    def arguments(self, key: str, revision: int | None = None) -> Arguments:
        """The bytes of one call; without a revision those of the newest."""
        if revision is None:
            action = self.action(key)
            revision = action.revision if action else 1
        return self.args[f"{key}:{revision}"]

    def seal(self, *keys: str) -> str:
        """64 bits of what people are asked about these calls: tools, arguments, the choice of answers. A
        button carries those of what its card shows, as lost data may have been replaced by other data under
        the same numbers.
        """
        parts = [self._seal_parts(key) for key in keys]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _seal_parts(self, key: str) -> tuple[object, ...]:
        if (action := self.action(key)) is not None:
            return action.name, action.digest, action.config.answer_schema
        call = self.call(key)
        return (call.name, call.digest, None) if call else ()

    def tool_name(self, call: Call) -> str:
        """Which tool runs for this call: the one asked for, or the one that an edit named."""
        action = self.action(call.key)
        return (action and action.decision and action.decision.name) or call.name

    @property
    def calls_in_doubt(self) -> tuple[Call, ...]:
        """The calls whose side effect may or may not have happened."""
        return tuple(
            c for c in self.calls if c.key in self.runs and self.runs[c.key].state == "in_doubt"
        )

    def places_of(self, call: Call) -> tuple[Place, ...]:
        """Where a call is asked about, were it in doubt: with its action, or where its rule says."""
        action = self.action(call.key)
        return action.places if action else call.route.notify or (DEFAULT_PLACE,)

    def grants_of(self, call: Call) -> tuple[Grant, ...]:
        """Who may decide on a call, or say what became of it: of one that the policy allowed without asking
        the people of its rule, else the members of the place where they are asked.
        """
        action = self.action(call.key)
        return action.grants if action else (Grant(self.places_of(call), call.route.reviewers),)

    @property
    def places(self) -> tuple[Place, ...]:
        """Everywhere it has cards: where its actions stand, or stood before an edit took them away, and where
        a doubt is asked about.
        """
        all_places = [place for a in self.actions for place in (*a.places, *a.former_places)]
        for call in self.calls:
            run = self.runs.get(call.key)
            if run is not None and (run.state == "in_doubt" or run.by is not None):
                all_places.extend(self.places_of(call))
        return tuple(dict.fromkeys(all_places))

    @property
    def audiences(self) -> frozenset[str]:
        """Who has to do with it while it waits for people, for a decision or for what became of a call:
        `user:U1` and `group:S1` where they are named, the members of `place:slack:#ops` (of a thread: of its
        conversation), and `requester:U1`.
        """
        grants = [grant for call in self.calls_in_doubt for grant in self.grants_of(call)]
        if self.status == "pending":
            grants += [grant for a in self.actions if a.is_pending for grant in a.grants]
        if not grants:
            return frozenset()
        names = {f"requester:{self.requester}"} if self.requester else set[str]()
        for grant in grants:
            names |= {f"user:{user}" for user in grant.reviewers.users}
            names |= {f"group:{group}" for group in grant.reviewers.groups}
            if grant.includes_members:
                names |= {f"place:{place.partition('/')[0]}" for place in grant.places}
        return frozenset(names)


class MessageRef(Value):
    """Where a card was posted: Slack's channel id and ts."""

    channel: str
    conversation: str
    ts: str


class Snapshot(Value):
    """A review as it was read: where its cards are, which version each shows, and the store's time.

    `chain` is the head of its audit: how many entries it has, and the last one's hash. `marks` are what was
    noted of it that is no decision: who has read what.
    """

    review: Review
    posts: dict[Place, MessageRef]
    shown: dict[Place, int]
    now: float
    chain: str = ""
    marks: frozenset[str] = frozenset()
