"""What a run waits at, as one review: in its own dialect in, in the same dialect out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hitl_core import dialects
from hitl_core.dialects import apply_policy, limit_decisions
from hitl_core.errors import DialectError, IntegrationError
from hitl_core.gate import JudgedCalls, Outcome
from hitl_core.integrations.langgraph.answers import to_agent_view
from hitl_core.integrations.langgraph.graph import AgentTools, Json
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

    def turn_calls(self) -> list[ToolCall]:
        """All of the turn, so that the review's id doesn't hang on what interrupts; [] where only the
        interrupt is known. Raises InvalidToolCall."""
        return []

    def interrupt_calls(self, thread_id: str) -> JudgedCalls:
        """What the agent asks, before our policy says anything. Raises DialectError, InvalidToolCall."""
        return dialects.get(self.dialect).load_request(self.wire, thread_id, self.turn_calls())

    async def judge(self, thread_id: str, policy: Policy, tools: AgentTools) -> JudgedCalls:
        """What people are asked. `tools` are those of the driven agent. Raises InvalidToolCall,
        IntegrationError.
        """
        from_agent = self.interrupt_calls(thread_id)
        own: Mapping[str, Json | None] = {} if self.path else tools.schemas
        rulings = [  # an interrupt's schema is LangChain's copy of the tool's own
            replace(ruling, args_schema=None) if own.get(call.name) else ruling
            for call, ruling in zip(from_agent.calls, from_agent.rulings, strict=True)
        ]
        bare = from_agent._replace(rulings=rulings)
        try:
            made = await apply_policy(policy, bare, tools=own, state=self.state)
            if not self.guarded:  # a guard obeys the review, whatever the agent is told
                made = limit_decisions(dialects.get(self.dialect), made, from_agent)
        except DialectError as error:
            raise IntegrationError(str(error)) from error
        if self.guarded:  # what a node asks about by itself is no tool
            judged = zip(made.calls, made.rulings, strict=True)
            made = made._replace(rulings=[self._fitting(each, tools) for each in judged])
        renames = self.guarded and dialects.get(self.dialect).can_rename
        named = {n: t for n, t in made.tools.items() if renames and n not in tools.not_editable}
        return made._replace(tools=named, path=(*self.path, *from_agent.path))

    def _fitting(self, judged: tuple[ToolCall, Ruling], tools: AgentTools) -> Ruling:
        """Nobody is asked about arguments that are not what would run: the model may call again."""
        call, ruling = judged
        why = tools.why_not(call, self.path) if ruling.verdict.kind != "deny" else None
        if why is None:
            return ruling
        verdict = Verdict(kind="deny", rule=None, reason=why, retry=True)
        return replace(ruling, verdict=verdict, allowed_decisions=(), args_schema=None)

    def format_answer(self, outcome: Outcome, refusal: str | None = None) -> Any:
        """The answer in the agent's own words; `refused` says why the first action can't be as decided.

        Raises IntegrationError where the agent takes none that says what was decided.
        """
        view = to_agent_view(
            self.interrupt_calls(outcome.thread_id), outcome, self.guarded, refusal
        )
        try:
            return dialects.get(self.dialect).dump_decisions(view)
        except DialectError as error:
            raise IntegrationError(f"{error} The run stays where it is.") from error
