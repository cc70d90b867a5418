"""One more place where people are asked."""

from __future__ import annotations

from hitl_core.model.decision import Reviewer
from hitl_core.model.place import Place
from hitl_core.model.value import Value


class Escalation(Value):
    """An action, or a call in doubt, is now also shown at the place `to`.

    - `step`: the index of the step in the route. None means the fallback, because a place could not be
      reached; a call in doubt takes no steps;
    - `by`: None if it happened automatically;
    - `why`: the person's text, or the problem of the place;
    - `open`: the members of the fallback place may decide, because none of the people who may decide was left
      and the chain had no further step.
    """

    to: Place
    at: float
    by: Reviewer | None
    why: str | None = None
    step: int | None = None
    open: bool = False
