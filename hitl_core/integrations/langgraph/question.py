"""An interrupt that a node or a tool raises itself, in a dialect that we know. Pure.

The node acts on the answer by itself, so no guard checks what it does then.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.types import Interrupt

from hitl_core import dialects
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.pause import Pause

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPause(Pause):
    """One review for all questions of the interrupt. Its turn is the interrupt's id."""

    def resume_value(self, outcome: Outcome) -> Json:
        """The value to resume with. Raises IntegrationError (see `format_answer`)."""
        value = self.format_answer(outcome)
        return value if self.dialect == "langchain_per_call" else {self.turn: value}


def read_question(
    interrupt: Interrupt, state: Mapping[str, Any], path: tuple[str, ...], failed: bool
) -> QuestionPause | None:
    """None if no dialect can read it."""
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
