"""A pause of a run becomes one review. Reads the pause's question, and writes the answer in its dialect.
Pure.

`QuestionPause` is for an interrupt that a node or a tool raises itself. The pauses of LangChain's middleware
have the same base class (`model_turn`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.types import Interrupt

from hitl_core import dialects
from hitl_core.dialects import apply_policy, limit_decisions
from hitl_core.errors import DialectError, IntegrationError, InvalidToolCall
from hitl_core.gate import JudgedCalls, Outcome
from hitl_core.integrations.langgraph.graph import AgentTools, Json
from hitl_core.integrations.langgraph.pauses.answers import to_agent_view
from hitl_core.integrations.langgraph.pauses.asking_calls import AskingCalls
from hitl_core.integrations.langgraph.pauses.calls_around import CallsAround
from hitl_core.model import DialectName, Place, ToolCall, Verdict
from hitl_core.policy import Policy, Ruling, combine_schemas, deny_ruling

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One pause of a run.

    - `path`: the names of the graphs around it, the outermost first; empty in the driven graph itself;
    - `failed`: it got an answer and then raised; LangGraph keeps that answer;
    - `guarded`: a guard checks the calls before they run;
    - `around`: the calls in which it was raised, the innermost first.
    """

    turn: str
    dialect: DialectName
    wire: Any
    state: Mapping[str, Any]
    path: tuple[str, ...] = ()
    failed: bool = False
    guarded: bool = True
    around: tuple[CallsAround, ...] = ()

    def turn_calls(self) -> list[ToolCall]:
        """All calls of the turn, so that the review's id doesn't depend on which of them interrupt. [] if
        only the interrupt is known. Raises InvalidToolCall.
        """
        return []

    @property
    def answered(self) -> frozenset[str]:
        """The ids of the turn's calls that the agent itself has answered, and that so never run: LangChain's
        middlewares do that, for example above a limit of calls.
        """
        return frozenset()

    def interrupt_calls(self, thread_id: str) -> JudgedCalls:
        """The agent's question as calls, before our policy is applied. Raises DialectError,
        InvalidToolCall.
        """
        return dialects.get(self.dialect).load_request(self.wire, thread_id, self.turn_calls())

    async def judge(
        self,
        thread_id: str,
        policy: Policy,
        tools: AgentTools,
        asking: AskingCalls | None = None,
        origin: Place | None = None,
    ) -> JudgedCalls:
        """What people are asked: the agent's question with our policy applied. `tools`: of the driven agent.
        `asking`: from the calls `around` it. `origin`: of the new review. Raises InvalidToolCall,
        IntegrationError.
        """
        from_agent = self.interrupt_calls(thread_id)
        own: Mapping[str, Json | None] = {} if self.path else tools.schemas
        rulings = [  # LangChain copies the tool's schema into the interrupt; ours is the original
            ruling._replace(args_schema=None) if own.get(call.name) else ruling
            for call, ruling in zip(from_agent.calls, from_agent.rulings, strict=True)
        ]
        bare = from_agent._replace(rulings=rulings)
        try:
            judged = await apply_policy(policy, bare, tools=own, state=self.state)
            # With a guard, the agent's format limits no decision: the guard follows the review.
            if not self.guarded:
                if asking is not None:
                    judged = asking.tighten(judged, policy, origin)
                judged = limit_decisions(dialects.get(self.dialect), judged, from_agent).calls
        except DialectError as error:
            raise IntegrationError(str(error)) from error
        pairs = zip(judged.calls, judged.rulings, strict=True)
        judged = judged._replace(
            rulings=[self._hide_args(call, ruling, tools) for call, ruling in pairs]
        )
        if self.guarded:  # a node's own question is not about a tool
            pairs = zip(judged.calls, judged.rulings, strict=True)
            rulings = [
                deny_ruling(ruling, "The agent answered this call itself.")
                if call.id in self.answered
                else self._deny_bad_args(call, ruling, tools)
                for call, ruling in pairs
            ]
            judged = judged._replace(rulings=rulings)
        renames = self.guarded and dialects.get(self.dialect).can_rename
        named = {n: t for n, t in judged.tools.items() if renames and n not in tools.not_editable}
        judged = judged._replace(tools=named, path=(*self.path, *from_agent.path))
        if asking is None:
            return judged
        if self.guarded:
            return judged._replace(withholds_texts=asking.hides)
        return asking.withhold(judged, self.path)

    def _hide_args(self, call: ToolCall, ruling: Ruling, tools: AgentTools) -> Ruling:
        """If the policy trusts the tools, the ruling also hides what the tool's own schema hides. This
        includes tools of inner agents, and calls that run without a review.
        """
        if not ruling.trusts_tools:
            return ruling
        hiding = combine_schemas(ruling.hiding_schema, tools.hiding_schema(call.name, self.path))
        return ruling._replace(hiding_schema=hiding)

    def _deny_bad_args(self, call: ToolCall, ruling: Ruling, tools: AgentTools) -> Ruling:
        """Deny a call whose arguments would not reach the tool unchanged, or that the tool would refuse after
        an approval. The model may call again.
        """
        if ruling.verdict.kind == "deny":
            return ruling
        problem = tools.args_problem(call, self.path)
        if problem is None and "approve" in ruling.allowed_decisions:
            problem = tools.refusal_problem(call, self.path)
        if problem is None:
            return ruling
        # The reason names keys, also those of hidden values. So only the model reads it.
        verdict = Verdict(kind="deny", rule=None, reason=problem, retry=True, computed=True)
        return ruling._replace(verdict=verdict, allowed_decisions=(), args_schema=None)

    def format_answer(self, outcome: Outcome, refusal: str | None = None) -> Any:
        """The answer in the agent's dialect. `refusal`: why the first action can't be answered as it was
        decided. Raises IntegrationError if the agent accepts no answer that means what was decided.
        """
        view = to_agent_view(
            self.interrupt_calls(outcome.thread_id), outcome, self.guarded, self.answered, refusal
        )
        try:
            return dialects.get(self.dialect).dump_decisions(view)
        except DialectError as error:
            raise IntegrationError(f"{error} The run stays paused.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPause(Pause):
    """One review for all questions of an interrupt. Its turn is the interrupt's id. The node itself acts on
    the answer, so no guard checks what it does then.
    """

    def resume_value(self, outcome: Outcome) -> Json:
        """The value to resume with. Raises IntegrationError (see `format_answer`)."""
        value = self.format_answer(outcome)
        return value if self.dialect == "langchain_per_call" else {self.turn: value}


def read_question(
    interrupt: Interrupt,
    state: Mapping[str, Any],
    path: tuple[str, ...],
    failed: bool,
    around: tuple[CallsAround, ...] = (),
) -> QuestionPause | None:
    """The pause of an interrupt that a node or a tool raised itself. None if no dialect can read it."""
    if not dialects.is_interrupt(interrupt.value):
        return None
    name = dialects.detect(interrupt.value)
    wire = to_wire(interrupt) if name == "langchain_per_call" else interrupt.value
    question = QuestionPause(
        turn=interrupt.id,
        dialect=name,
        wire=[wire] if name == "langchain_per_call" else wire,
        state=state,
        path=path,
        failed=failed,
        guarded=False,
        around=around,
    )
    try:
        question.interrupt_calls("thread")
    except (DialectError, InvalidToolCall) as error:
        log.warning("An interrupt that looks like one of %s is left alone: %s", name, error)
        return None
    return question


def to_wire(interrupt: Interrupt) -> Json:
    """The interrupt as LangGraph sends it to its clients."""
    schema: Any = interrupt.response_schema
    return {"id": interrupt.id, "value": interrupt.value, "response_schema": schema}
