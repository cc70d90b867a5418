"""LangChain for Python, `HumanInTheLoopMiddleware` in its default mode: one interrupt a turn.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hitl_core.dialects._batch import COUNT, SNAKE, Batch
from hitl_core.dialects._decisions import answer_wire, places
from hitl_core.dialects._json import is_mapping
from hitl_core.dialects._python import WORDS, python_proposal
from hitl_core.errors import DecisionError
from hitl_core.model import Review
from hitl_core.review.proposal import Proposal


@dataclass(frozen=True, slots=True)
class LangChain(Batch):
    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """`{"decisions": […]}`, also under an interrupt's id; `{}` answers nothing. Agent Inbox's list of
        responses is understood as well.
        """
        found = answer_wire(wire)
        if found == {}:
            return {}
        if is_mapping(found) and len(found) == 1:
            (only,) = found.values()
            found = only if is_mapping(only, "decisions") else found
        given: Any = found.get("decisions") if is_mapping(found) else found
        if not isinstance(given, list):
            raise DecisionError(
                "`decisions` must be a list, one for each action.", field="decisions"
            )
        decisions = cast(list[object], given)
        return {
            place.action.key: python_proposal(place, decision)
            for place, decision in zip(places(review, decisions, COUNT), decisions, strict=True)
        }


dialect = LangChain(WORDS, SNAKE)
