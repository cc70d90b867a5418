"""What every dialect offers: doors between another system's wire format and ours. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from hitl_core.gate import Request
from hitl_core.model import DecisionType, DialectName, Review, ToolCall
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

    def load_request(self, wire: Wire, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
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

    def takes(
        self,
        kind: DecisionType,
        allowed: Collection[DecisionType],
        *,
        message: str | None = None,
        renames: bool = False,
    ) -> bool:
        """Whether `dump_decisions` has a word for this decision, with this message, where the interrupt
        allows those. `renames`: it is on another tool than the one asked about.
        """
        ...

    def dump_decisions(self, review: Review) -> Wire:
        """The answer to the interrupt. Raises Refused while an action waits."""
        ...
