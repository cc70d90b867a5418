"""The interface of every dialect: it translates between another system's wire format and ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hitl_core.dialects.parts import FinalDecision
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import Proposal

#: Plain JSON, as `json.loads` makes it.
Wire = Any


class Dialect(Protocol):
    """A decision or value that the system can't receive raises UnsupportedByDialect."""

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
        """An interrupt, as an argument for `gate.submit`. `calls` are all calls of the turn, if they are
        known: then their ids are kept, and calls without an interrupt are allowed. Raises DialectError,
        InvalidToolCall.
        """
        ...

    def load_decisions(self, wire: Wire, review: Review) -> dict[str, Proposal]:
        """An answer as proposals by action key, as an argument for `DecideAll`. All of it is checked.
        Empty for an answer without decisions. Raises DecisionError.
        """
        ...

    @property
    def can_rename(self) -> bool:
        """Whether an edit may switch to another tool."""
        ...

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Wire | None:
        """One action's part of the answer to the interrupt; None if the system can't receive this decision.
        For example, some systems accept an approval only from a person, and a selection only of an existing
        option. `dump_decisions` uses it, and `limit_decisions` calls it before a card is shown.
        """
        ...

    def dump_decisions(self, review: Review) -> Wire:
        """The answer to the interrupt. Raises Refused while an action is undecided."""
        ...
