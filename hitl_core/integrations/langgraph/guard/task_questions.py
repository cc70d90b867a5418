"""The questions of calls that run in one task. LangGraph counts the questions of a task, and gives the
answers in that order. If a ToolNode runs several calls in one task, they ask in any order: one could get the
answer to the question of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class TaskQuestions:
    """`saved`: the questions of the task that people know; `calls`: the ids of its calls that started."""

    saved: Sequence[Any] = ()
    calls: set[str] = field(default_factory=set[str])

    def problem(self, number: int, question: Any) -> str | None:
        """An error text if the answer to this question, the task's `number`th, could be that of another call:
        then no call may get it.
        """
        is_known = number == 0 and (not self.saved or question in self.saved)
        if len(self.calls) < 2 or is_known:
            return None
        return (
            "Several calls run in one task, and LangGraph can't tell which of them asked, so an answer could"
            " reach another call. Send each call to its ToolNode alone, as create_agent does:"
            ' Send("tools", [call]).'
        )
