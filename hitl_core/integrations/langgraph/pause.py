"""What a run waits at, as one review: in its own dialect in, in the same dialect out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hitl_core import dialects
from hitl_core.dialects.interrupted import under_policy
from hitl_core.dialects.offer import sayable
from hitl_core.errors import DialectError, IntegrationError
from hitl_core.gate import Outcome, Request
from hitl_core.integrations.langgraph.graph import Json, Tools
from hitl_core.integrations.langgraph.words import decided_as_asked
from hitl_core.model import DialectName, ToolCall, Verdict
from hitl_core.policy import Policy, Ruling


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

    async def request(self, thread_id: str, policy: Policy, tools: Tools) -> Request:
        """What people are asked. `tools` are those of the driven agent. Raises InvalidToolCall,
        IntegrationError.
        """
        asked = self.asked(thread_id)
        own: Mapping[str, Json | None] = {} if self.path else tools.schemas
        rulings = [  # an interrupt's schema is LangChain's copy of the tool's own
            replace(ruling, args_schema=None) if own.get(call.name) else ruling
            for call, ruling in zip(asked.calls, asked.rulings, strict=True)
        ]
        bare = asked._replace(rulings=rulings)
        try:
            made = await under_policy(policy, bare, tools=own, state=self.state)
            if not self.guarded:  # a guard obeys the review, whatever the agent is told
                made = sayable(dialects.get(self.dialect), made, asked)
        except DialectError as error:
            raise IntegrationError(str(error)) from error
        if self.guarded:  # what a node asks about by itself is no tool
            judged = zip(made.calls, made.rulings, strict=True)
            made = made._replace(rulings=[self._fitting(each, tools) for each in judged])
        renames = self.guarded and dialects.get(self.dialect).renames
        named = {n: t for n, t in made.tools.items() if renames and n not in tools.unedited}
        return made._replace(tools=named, path=(*self.path, *asked.path))

    def _fitting(self, judged: tuple[ToolCall, Ruling], tools: Tools) -> Ruling:
        """Nobody is asked about arguments that are not what would run: the model may call again."""
        call, ruling = judged
        why = tools.why_not(call, self.path) if ruling.verdict.kind != "deny" else None
        if why is None:
            return ruling
        verdict = Verdict(kind="deny", rule=None, reason=why, retry=True)
        return replace(ruling, verdict=verdict, allowed_decisions=(), args_schema=None)

    def said(self, outcome: Outcome, refused: str | None = None) -> Any:
        """The answer in the agent's own words; `refused` says why the first action can't be as decided.

        Raises IntegrationError where the agent takes none that says what was decided.
        """
        view = decided_as_asked(self.asked(outcome.thread_id), outcome, self.guarded, refused)
        try:
            return dialects.get(self.dialect).dump_decisions(view)
        except DialectError as error:
            raise IntegrationError(f"{error} The run stays where it is.") from error
