"""One model turn of one thread: all of its tool calls, with their frozen verdicts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import Field

from hitl_core.model.action import Action, Grant
from hitl_core.model.arguments import Arguments
from hitl_core.model.call import AgentProblem, Call, Run
from hitl_core.model.decision import Reviewer, Vote
from hitl_core.model.place import DEFAULT_PLACE, Place, person_key
from hitl_core.model.route import Reviewers
from hitl_core.model.value import Value

SCHEMA_VERSION = 1

Status = Literal["pending", "settled", "claimed", "done"]

#: The formats in which other systems write interrupts and answers.
DialectName = Literal[
    "langchain", "langchain_per_call", "langchain_js", "xpertai", "sagents", "agent_inbox", "arcgis"
]
DIALECTS: tuple[DialectName, ...] = get_args(DialectName)

_REVIEW_ID = re.compile(r"[0-9]{1,4}-[0-9a-f]{32}")
_ID_PREFIX = re.compile(r"[0-9]{1,4}-[0-9a-f]{4,32}")


def is_review_id(text: str) -> bool:
    return bool(_REVIEW_ID.fullmatch(text))


def is_digest_id(text: str) -> bool:
    """Whether this is the id of a digest, which is one message for many reviews: `d<partition>-<32 hex>`."""
    return text.startswith("d") and is_review_id(text[1:])


def is_id_prefix(text: str) -> bool:
    """Whether this is the beginning of a review's id, with at least four characters of its hash."""
    return bool(_ID_PREFIX.fullmatch(text))


def short_id(review_id: str) -> str:
    """The short form of an id for people, with eight characters of its hash: `0-93b4c7d2`. The command line
    and `/approvals` accept it.
    """
    return review_id[: review_id.find("-") + 9]


class Lease(Value):
    """Which process has claimed the review, and until when. `fence` counts the claims: the holder of an older
    claim can no longer write. `seconds` is for how long it was claimed or renewed.
    """

    holder: str
    fence: int
    until: float
    seconds: float


class Cancellation(Value):
    """The review was cancelled. `by` is None if the agent itself cancelled it."""

    by: Reviewer | None
    at: float
    reason: str | None = None


class DeliveryProblem(Value):
    """Why a place can't show the review, or why its members are unknown. `since` is when this began.
    `is_shown`: the card is there, but too few people are left who may approve, or nobody. `is_unknown`: a
    look-up failed, so it is not known whether there is a problem.
    """

    why: str
    since: float
    is_shown: bool = False
    is_unknown: bool = False


class Review(Value):
    """One review: what was frozen at submission, and everything that happened since.

    Times are seconds since the epoch, by the store's clock.

    - `path`: the names of the agents that led to it, the outermost first;
    - `dialect`: the model gets the texts of this dialect;
    - `policy`: the hash of the policy that judged the calls; None if an integration judged them;
    - `origin`: the chat thread in which the requester asked the agent;
    - `tools`: the tools that an edit may choose, each with its JSON Schema or None;
    - `kept_policy`: the policy's rules for these tools (`dump_kept_policy`). An edit is judged by them;
    - `edit_notice`: the result of an edited call begins with this text;
    - `version`: the counter for compare-and-set, and nothing else;
    - `cancel_votes`: votes to cancel the review, if the quorum is more than one person;
    - `trace`: the trace in which it was submitted, as W3C's `traceparent`; None without OpenTelemetry;
    - `waiting_process`: the process that waits for the result;
    - `ops`: the ids of the last operations, with what each one did. A reply can be lost after the write, and
      then the operation is sent again;
    - `delivery_problems`: the current ones of its places; `agent_problem`: of its agent, after the decisions.
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
    kept_policy: str | None = None
    edit_notice: str | None = None
    trace: str | None = None
    version: int = 1
    status: Status = "pending"
    settled_at: float | None = None
    done_at: float | None = None
    cancelled: Cancellation | None = None
    cancel_votes: tuple[Vote, ...] = ()
    waiting_process: str | None = None
    lease: Lease | None = None
    fence: int = 0
    runs: dict[str, Run] = Field(default_factory=dict)
    ops: dict[str, str] = Field(default_factory=dict)
    delivery_problems: dict[Place, DeliveryProblem] = Field(
        default_factory=dict[Place, DeliveryProblem]
    )
    agent_problem: AgentProblem | None = None
    #: The arguments, by "key:revision". Each is stored once, in its own field, not in `data`.
    args: Mapping[str, Arguments] = Field(default_factory=dict, exclude=True, repr=False)

    def call(self, key: str) -> Call | None:
        return next((call for call in self.calls if call.key == key), None)

    def action(self, key: str) -> Action | None:
        return next((action for action in self.actions if action.key == key), None)

    @property
    def hides_values(self) -> bool:
        """Whether some values are hidden from people. Then people read no text of the agent either: a text
        may quote a hidden value, of this call or another one, in a form that no search finds.
        """
        return any(call.hides_values for call in self.calls)

    def arguments(self, key: str, revision: int | None = None) -> Arguments:
        """The arguments of one call, by default of its newest revision."""
        if revision is None:
            action = self.action(key)
            revision = action.revision if action else 1
        return self.args[f"{key}:{revision}"]

    def seal(self, *keys: str, is_whole: bool) -> str:
        """A hash (64 bits, in hex) of what people see of these calls: tools, arguments, possible answers,
        and whether everything is shown (`is_whole`) or some of it is cut.

        A button carries the seal of what its card shows. So it never counts for other data, even if Redis
        lost the review and a new review has the same numbers; and it says whether the person saw everything.
        """
        parts = [*(self._seal_parts(key) for key in keys), *([] if is_whole else ["cut"])]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _seal_parts(self, key: str) -> tuple[object, ...]:
        if (action := self.action(key)) is not None:
            return action.name, action.args_hash, action.config.answer_schema
        call = self.call(key)
        return (call.name, call.args_hash, None) if call else ()

    def tool_name(self, call: Call) -> str:
        """The tool that runs for this call: the requested one, or the one that an edit chose."""
        action = self.action(call.key)
        return (action and action.decision and action.decision.name) or call.name

    @property
    def calls_in_doubt(self) -> tuple[Call, ...]:
        """The calls whose side effect may or may not have happened."""
        return tuple(
            c for c in self.calls if c.key in self.runs and self.runs[c.key].state == "in_doubt"
        )

    @property
    def calls_asked_about(self) -> tuple[Call, ...]:
        """The calls in doubt, and those about which a person answered."""
        asked = self.runs.items()
        keys = {key for key, run in asked if run.state == "in_doubt" or run.answered_by is not None}
        return tuple(call for call in self.calls if call.key in keys)

    def is_requester(self, who: Reviewer) -> bool:
        """Whether this human is the requester, with any of their identities."""
        return self.requester is not None and who.is_named(self.requester)

    def places_of(self, call: Call) -> tuple[Place, ...]:
        """Where people are asked about this call if it is in doubt."""
        run = self.runs.get(call.key)
        more = run.escalations if run else ()
        return tuple(dict.fromkeys((*self._own_places(call), *(one.to for one in more))))

    def grants_of(self, call: Call) -> tuple[Grant, ...]:
        """Who may decide on a call, and answer if it is in doubt. A call that the policy allowed has no
        action: then the people of its rule may answer, or else the members of the places where they are
        asked. An open fallback adds its members.
        """
        action, run = self.action(call.key), self.runs.get(call.key)
        own = action.grants if action else (Grant(self._own_places(call), call.route.reviewers),)
        opened = (one for one in run.escalations if one.open) if run else ()
        return (*own, *(Grant((one.to,), Reviewers()) for one in opened))

    def _own_places(self, call: Call) -> tuple[Place, ...]:
        action = self.action(call.key)
        return action.places if action else call.route.notify or (DEFAULT_PLACE,)

    @property
    def places(self) -> tuple[Place, ...]:
        """All places with a card: the current and the former places of its actions, and the places where
        people were asked about a call in doubt.
        """
        all_places = [place for a in self.actions for place in (*a.places, *a.former_places)]
        for call in self.calls_asked_about:
            all_places.extend(self.places_of(call))
        return tuple(dict.fromkeys(all_places))

    @property
    def audiences(self) -> frozenset[str]:
        """Who sees this review in a list while it waits for people: `user:U1` and `group:S1` for named
        reviewers, `place:slack:#ops` for the members of a place (for a thread: of its channel), and
        `requester:slack:U1`.
        """
        grants = [grant for call in self.calls_in_doubt for grant in self.grants_of(call)]
        if self.status == "pending":
            grants += [grant for a in self.actions if a.is_pending for grant in a.grants]
        if not grants:
            return frozenset()
        names = {f"requester:{person_key(self.requester)}"} if self.requester else set[str]()
        for grant in grants:
            names |= {f"user:{user}" for user in grant.reviewers.users}
            names |= {f"group:{group}" for group in grant.reviewers.groups}
            if grant.includes_members:
                names |= {f"place:{place.conversation}" for place in grant.places}
        return frozenset(names)
