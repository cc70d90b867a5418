"""What every dialect offers: doors between another system's wire format and ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hitl_core.dialects.parts.decisions import FinalDecision
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal

#: Plain JSON, as `json.loads` makes it.
Wire = Any


class Dialect(Protocol):
    """What the system has no word for raises Unsayable."""

    @property
    def name(self) -> DialectName: ...

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        """Its configuration, its meaning kept and its tools' names taken literally. Raises PolicyError."""
        ...

    def dump_request(self, review: Review) -> Wire:
        """The interrupt that asks for this review's decisions."""
        ...

    def load_request(
        self, wire: Wire, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        """An interrupt, as `gate.submit` takes it. `calls` are those of the whole turn, where they are known:
        their ids are kept then, and those that are not asked about are allowed. Raises DialectError,
        InvalidToolCall.
        """
        ...

    def load_decisions(self, wire: Wire, review: Review) -> dict[str, Proposal]:
        """An answer, checked whole, as `Reviews.answer` takes it: by the actions' keys. Empty where it
        answers nothing. Raises DecisionError, and changes nothing.
        """
        ...

    @property
    def can_rename(self) -> bool:
        """Whether an edit may name another tool than the one asked about."""
        ...

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Wire | None:
        """What the interrupt's answer says for one action that ended so, None where its system has no word
        for that: no yes that no person gave, no decision that the interrupt doesn't take, no option that is
        none. `dump_decisions` says these, and `offer.sayable` asks for them before anybody is asked.
        """
        ...

    def dump_decisions(self, review: Review) -> Wire:
        """The answer to the interrupt. Raises Refused while an action waits."""
        ...
