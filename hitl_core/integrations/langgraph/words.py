"""A review's decisions, as the interrupt that it came from can be told them. Pure.

Our policy may have taken actions out of what the agent asks (it denied them), and may have decided what the
agent has no word for (a deadline, a skipped call).
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.errors import IntegrationError
from hitl_core.gate import Outcome, Request
from hitl_core.gate.request import Turn, build_from
from hitl_core.model import Action, Decision, DecisionType, Review

#: On a call that did not interrupt when the review was made: its predicate changed its mind.
LATE = "Nobody was asked about this call. Call the tool again if it is still needed."


def decided_as_asked(
    asked: Request, outcome: Outcome, guarded: bool, refused: str | None = None
) -> Review:
    """What the agent asks now, each action with a decision that it takes: what a dialect can say.

    `refused` is why the first action is not as decided. Raises IntegrationError.
    """
    stored = outcome.review
    turn = Turn(stored.agent, stored.thread_id, stored.turn, stored.requester, stored.origin)
    view, _ = build_from(turn, asked, 1, stored.created_at)
    actions = [_decided(action, outcome, guarded) for action in view.actions]
    if refused is not None:
        first = view.actions[0]
        actions[0] = _with(first, _fitting(_refusal(first, refused), first, guarded, refused))
    update = {"actions": tuple(actions), "args": {**view.args, **stored.args}}
    return view.model_copy(update=update)


def _decided(asked: Action, outcome: Outcome, guarded: bool) -> Action:
    stored = outcome.review
    # Its page offers to ignore, whatever the interrupt says, and a cancellation has no other word.
    if stored.dialect == "agent_inbox" and stored.cancelled is not None:
        allowed = dict.fromkeys((*asked.config.allowed_decisions, "ignore"))
        config = asked.config.model_copy(update={"allowed_decisions": tuple(allowed)})
        asked = asked.model_copy(update={"config": config})
    told = _told(outcome, asked.request.tool_call_id)
    action = stored.action(asked.key)
    decision = action.decision if action else None
    if action and decision and _stands(decision, outcome, asked, guarded):
        asked = asked.model_copy(update={"revision": action.revision, "digest": action.digest})
    else:
        decision = _refusal(asked, told)
        if guarded is False and _is_over(outcome, asked):
            decision = decision.model_copy(update={"type": "respond"})
    return _with(asked, _fitting(decision, asked, guarded, told))


def _stands(decision: Decision, outcome: Outcome, asked: Action, guarded: bool) -> bool:
    """Whether it is said as it was decided. A guard tells the model itself of a call that may run no more."""
    if outcome.review.cancelled is not None:
        return False
    if decision.type in ("approve", "edit"):
        return guarded or not _is_over(outcome, asked)
    return decision.by is not None or decision.message is not None


def _is_over(outcome: Outcome, asked: Action) -> bool:
    """An earlier process died while the agent had its answer; a person said that it ran, or to skip it."""
    return asked.key in outcome.review.runs and asked.request.tool_call_id not in {
        call.id for call in outcome.execute
    }


def _fitting(decision: Decision, asked: Action, guarded: bool, told: str) -> Decision:
    """The same, or another that the agent takes and that runs nothing: behind a guard also one that lets the
    call through, as the guard obeys the review."""
    allowed = asked.config.allowed_decisions
    if decision.type in allowed:
        return decision
    if decision.type not in ("approve", "edit"):
        for kind in _instead(guarded and told != LATE):
            if kind in allowed and (kind != "respond" or asked.config.answer_schema is None):
                return decision.model_copy(update={"type": kind, "message": told})
    raise IntegrationError(
        f"The agent doesn't take {decision.type!r} for `{asked.request.name}`, only"
        f" {', '.join(allowed)}: the run stays where it is."
    )


def _instead(through: bool) -> Sequence[DecisionType]:
    passing: tuple[DecisionType, ...] = ("approve", "edit") if through else ()
    return ("reject", "ignore", *passing, "respond")


def _refusal(asked: Action, why: str) -> Decision:
    return Decision(
        type="reject",
        by=None,
        at=asked.submitted_at,
        revision=asked.revision,
        digest=asked.digest,
        message=why,
    )


def _told(outcome: Outcome, call_id: str) -> str:
    """What the model is told of a call that doesn't run, in any framework."""
    return next((a.content for a in outcome.answers if a.tool_call_id == call_id), LATE)


def _with(action: Action, decision: Decision) -> Action:
    return action.model_copy(update={"decision": decision})
