"""The interface of every dialect. A dialect translates between another system's format and ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hitl_core.dialects.parts import FinalDecision
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.policy import Policy

#: Plain JSON, as `json.loads` makes it.
Wire = Any


class Dialect(Protocol):
    """A method raises UnsupportedByDialect for a decision or value that the system can't receive."""

    @property
    def name(self) -> DialectName: ...

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        """The system's configuration as a policy with the same meaning. Tool names are literal, not globs.
        Raises PolicyError.
        """
        ...

    def dump_request(self, review: Review) -> Wire:
        """The interrupt that asks for this review's decisions."""
        ...

    def load_request(
        self, wire: Wire, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        """Reads an interrupt. The result is an argument for `gate.submit`. If the `calls` of the turn are
        known (all of them), their ids are kept, and calls without an interrupt are allowed. Raises
        DialectError, InvalidToolCall.
        """
        ...

    @property
    def can_rename(self) -> bool:
        """Whether an edit may switch to another tool."""
        ...

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Wire | None:
        """The part of the answer to the interrupt that is about one action; None if the system can't receive
        this decision. For example, some systems accept an approval only from a person, and only the selection
        of an existing option. `dump_decisions` uses it, and `limit_decisions` calls it before a card is
        shown.
        """
        ...

    def dump_decisions(self, review: Review) -> Wire:
        """The answer to the interrupt. Raises Refused while an action is undecided."""
        ...
