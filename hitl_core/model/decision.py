"""What a person, or the policy at its deadline, decided on one action."""

from __future__ import annotations

from typing import Any, Literal

from hitl_core.model.value import Value

DecisionType = Literal["approve", "edit", "reject", "respond", "ignore"]
DECISION_TYPES: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond", "ignore")


class Reviewer(Value):
    """A person who may decide. Identified by channel, team and id; the name is only shown."""

    channel: str
    team: str
    id: str
    name: str


class Decision(Value):
    """Final. `by` is None where the deadline decided; `digest` is that of the arguments decided on
    (after an edit: the edited ones); `at` is in seconds since the epoch, by the store's clock. `name` is
    the tool that an edit chose in place of the one asked for; `answer` the JSON value that a person gave
    to a question with a schema, of which `message` is the text.
    """

    type: DecisionType
    by: Reviewer | None
    at: float
    revision: int
    digest: str
    message: str | None = None
    name: str | None = None
    answer: Any = None
