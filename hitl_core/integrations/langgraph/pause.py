"""What a run waits at, as one review: in its own dialect in, in the same dialect out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hitl_core import dialects
from hitl_core.errors import DialectError, IntegrationError
from hitl_core.gate import Outcome, Request
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.words import decided_as_asked
from hitl_core.model import DialectName, ToolCall
from hitl_core.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """`path` names the graphs in which it happened, the outermost first; it is empty for the driven one.
    `failed`: what paused had an answer, which LangGraph keeps, and raised. `guarded`: a guard stands in
    front of what is decided.
    """

    turn: str
    dialect: DialectName
    wire: Any
    state: Mapping[str, Any]
    path: tuple[str, ...] = ()
    failed: bool = False
    guarded: bool = True

    def calls(self) -> list[ToolCall]:
        """All of the turn, so that the review's id doesn't hang on what interrupts; [] where only the
        interrupt is known. Raises InvalidToolCall."""
        return []

    def asked(self, thread_id: str) -> Request:
        """What the agent asks, before our policy says anything. Raises DialectError, InvalidToolCall."""
        return dialects.get(self.dialect).load_request(self.wire, thread_id, self.calls())

    async def request(
        self, thread_id: str, policy: Policy, schema_of: Callable[[str], Json | None]
    ) -> Request:
        """What people are asked. Raises InvalidToolCall, IntegrationError."""
        asked = self.asked(thread_id)
        said = [await policy.judged(call, self.state) for call in asked.calls]
        tightened = [
            rulings.gated(ours, theirs, call, schema_of(call.name) if not self.path else None)
            if theirs.verdict.kind == "review"
            else rulings.free(ours, call)
            for ours, theirs, call in zip(said, asked.rulings, asked.calls, strict=True)
        ]
        return asked._replace(rulings=tightened, path=(*self.path, *asked.path))

    def said(self, outcome: Outcome, refused: str | None = None) -> Any:
        """The answer in the agent's own words; `refused` says why the first action can't be as decided.

        Raises IntegrationError where the agent takes none that says what was decided.
        """
        view = decided_as_asked(self.asked(outcome.thread_id), outcome, self.guarded, refused)
        try:
            return dialects.get(self.dialect).dump_decisions(view)
        except DialectError as error:
            raise IntegrationError(f"{error} The run stays where it is.") from error
