"""LangChain for Python, `HumanInTheLoopMiddleware` in its default mode: one interrupt for each turn.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hitl_core.dialects.parts import (
    CONFIG_FORMAT,
    COUNT_MESSAGE,
    SNAKE,
    Batch,
    answer_items,
    is_object,
    load_python_proposal,
    read_answer,
)
from hitl_core.errors import DecisionError
from hitl_core.model import Review
from hitl_core.review import Proposal


@dataclass(frozen=True, slots=True)
class LangChain(Batch):
    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """Reads `{"decisions": […]}`, also under an interrupt's id; `{}` has no decisions. Agent Inbox's list
        of responses is accepted too.
        """
        answer = read_answer(wire)
        if answer == {}:
            return {}
        if is_object(answer) and len(answer) == 1:
            (only,) = answer.values()
            answer = only if is_object(only, "decisions") else answer
        given: Any = answer.get("decisions") if is_object(answer) else answer
        if not isinstance(given, list):
            raise DecisionError(
                "`decisions` must be a list, with one decision for each action.", field="decisions"
            )
        decisions = cast(list[object], given)
        return {
            item.action.key: load_python_proposal(item, decision)
            for item, decision in zip(
                answer_items(review, decisions, COUNT_MESSAGE), decisions, strict=True
            )
        }


dialect = LangChain(CONFIG_FORMAT, SNAKE)
