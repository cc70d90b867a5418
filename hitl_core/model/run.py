"""What happened to one call that was allowed to run."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.decision import Reviewer, Vote
from hitl_core.model.value import Value

#: `started`: `once` returned True. `done`: its result was reported, or a person said that it ran. `in_doubt`:
#: its process died after `started`. `cleared`: it may start again, because a person said so or the call is
#: idempotent. `skipped`: a person said to go on without it.
RunState = Literal["started", "done", "in_doubt", "cleared", "skipped"]


class Run(Value):
    """`attempt` counts the starts, and `line` is the result in one line. For a call in doubt: `by` is the
    person who gave the last answer, and `votes` has all answers about this attempt if several are needed.
    """

    state: RunState
    attempt: int
    at: float
    line: str | None = None
    by: Reviewer | None = None
    votes: tuple[Vote, ...] = ()
