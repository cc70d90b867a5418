"""What became of one call that was allowed to run."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.decision import Reviewer, Vote
from hitl_core.model.value import Value

#: `started`: `once` said True. `done`: reported, or a person said that it ran. `in_doubt`: its process
#: died in between. `cleared`: it may start again (ordered by a person, or idempotent). `skipped`: a
#: person said to go on without it.
RunState = Literal["started", "done", "in_doubt", "cleared", "skipped"]


class Run(Value):
    """`attempt` counts the starts; `line` is what came of it; `by` the person who settled a doubt, the last
    one where it took several; `votes` what people said of this attempt, where it takes several.
    """

    state: RunState
    attempt: int
    at: float
    line: str | None = None
    by: Reviewer | None = None
    votes: tuple[Vote, ...] = ()
