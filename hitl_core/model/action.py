"""One call of a review that waits for people."""

from __future__ import annotations

from typing import Any, Literal

from hitl_core.model.decision import Decision, DecisionType, Reviewer
from hitl_core.model.route import Place, Route
from hitl_core.model.value import Value


class ActionRequest(Value):
    """What is asked. The arguments are bytes of their own: `review.arguments(action.key)`.

    The others are for the agent's own system: `text` is the description as that one words it, where it
    isn't `description`; `title` what it calls the action, where no tool may be called that; `interrupt_id`
    what its answer is sent to.
    """

    tool_call_id: str
    name: str
    description: str
    text: str | None = None
    title: str | None = None
    interrupt_id: str | None = None


class Output(Value):
    """Where a person's answer goes: under `key` into the agent's state, or into the tool's arguments."""

    key: str
    into: Literal["state", "input"]


class Target(Value):
    """What the policy says of another tool that an edit may name. `notify`: who is asked about that one."""

    verdict: Literal["allow", "review", "deny"]
    allowed_decisions: tuple[DecisionType, ...] = ()
    args_schema: dict[str, Any] | None = None
    notify: tuple[Place, ...] = ()


class ReviewConfig(Value):
    """How it may be answered. The schemas are JSON Schemas, None where there is none; `answer_schema` is that
    of a person's own answer (a text, a choice).
    """

    action_name: str
    allowed_decisions: tuple[DecisionType, ...]
    args_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None


class Escalation(Value):
    """One place more. `by` is None where time did it."""

    to: Place
    at: float
    by: Reviewer | None


class Action(Value):
    """`key` is the call's position in the turn ("1", "2", …); `revision` is raised by an edit.

    `submitted_at` is what the steps and the deadline count from, in seconds since the epoch.
    """

    key: str
    submitted_at: float
    request: ActionRequest
    config: ReviewConfig
    route: Route
    digest: str
    revision: int = 1
    decision: Decision | None = None
    escalations: tuple[Escalation, ...] = ()

    @property
    def pending(self) -> bool:
        return self.decision is None

    @property
    def places(self) -> tuple[Place, ...]:
        """Everywhere this action stands, in the order in which it got there."""
        return tuple(dict.fromkeys([*self.route.notify, *(e.to for e in self.escalations)]))

    @property
    def next_step(self) -> int | None:
        """The index of the escalation step that has not been taken yet."""
        taken = len(self.escalations)
        return taken if taken < len(self.route.escalate) else None
