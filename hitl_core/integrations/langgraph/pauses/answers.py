"""Translates a review's decisions into answers that the agent's interrupt accepts. Pure.

Three cases need care. The policy may have denied actions that the agent asked about: then the review lacks
them. The agent may ask about calls that it has answered itself. And a review may end in a way for which the
agent has no word: by a deadline, or with a skipped call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hitl_core.errors import IntegrationError
from hitl_core.gate import JudgedCalls, Outcome, ReviewKey, build_review
from hitl_core.integrations.langgraph.pauses.asking_calls import restore_args
from hitl_core.model import Action, Decision, DecisionType, Review
from hitl_core.review import has_started

#: For a call that did not interrupt when the review was made, and does now: its `when` predicate gives
#: another result.
LATE_CALL_TEXT = "Nobody was asked about this call. Call the tool again if it is still needed."


def to_agent_view(
    interrupt_calls: JudgedCalls,
    outcome: Outcome,
    guarded: bool,
    answered: Collection[str] = (),
    refusal: str | None = None,
) -> Review:
    """What the agent asks now. Each action has a decision that the agent accepts.

    `answered`: the ids of the calls that have an answer already; `refusal`: why the first action can't be
    answered as it was decided. Raises IntegrationError.
    """
    stored = outcome.review
    turn = ReviewKey(stored.agent, stored.thread_id, stored.turn, stored.requester, stored.origin)
    view, _ = build_review(turn, interrupt_calls, 1, stored.created_at)
    actions = [
        _approve_answered(action)
        if action.request.tool_call_id in answered
        else _to_agent_action(action, outcome, guarded)
        for action in view.actions
    ]
    if refusal is not None:
        first = view.actions[0]
        actions[0] = _with_decision(
            first, _fit_decision(_make_refusal(first, refusal), first, refusal, can_run=guarded)
        )
    update = {"actions": tuple(actions), "args": restore_args(view, stored)}
    return view.model_copy(update=update)


def _to_agent_action(agent_action: Action, outcome: Outcome, guarded: bool) -> Action:
    stored = outcome.review
    # Agent Inbox always offers `ignore`, whatever the interrupt says. It is its only word for a cancellation.
    if stored.dialect == "agent_inbox" and stored.cancelled is not None:
        allowed = dict.fromkeys((*agent_action.config.allowed_decisions, "ignore"))
        config = agent_action.config.model_copy(update={"allowed_decisions": tuple(allowed)})
        agent_action = agent_action.model_copy(update={"config": config})
    answer = _find_answer(outcome, _stored_id(stored, agent_action))
    text = LATE_CALL_TEXT if answer is None else answer
    action = stored.action(agent_action.key)
    decision = action.decision if action else None
    decided = decision.type if decision else None
    if action and decision and _can_pass_on(decision, outcome, agent_action, guarded):
        agent_action = agent_action.model_copy(
            update={"revision": action.revision, "args_hash": action.args_hash}
        )
    else:
        decision = _make_refusal(agent_action, text)
        if guarded is False and _is_over(outcome, agent_action):
            if decided == "respond":
                _check_can_refuse(agent_action, text)
            else:
                decision = decision.model_copy(update={"type": "respond"})
    can_run = guarded and answer is not None
    return _with_decision(
        agent_action, _fit_decision(decision, agent_action, text, can_run=can_run)
    )


def _approve_answered(agent_action: Action) -> Action:
    """A call that has an answer doesn't run, also if LangChain reads an approval; a refusal would be a second
    answer, which models reject.
    """
    decision = _make_refusal(agent_action, LATE_CALL_TEXT)
    if "approve" in agent_action.config.allowed_decisions:
        decision = decision.model_copy(update={"type": "approve", "message": None})
    return _with_decision(
        agent_action, _fit_decision(decision, agent_action, LATE_CALL_TEXT, can_run=True)
    )


def _check_can_refuse(agent_action: Action, text: str) -> None:
    """Raises IntegrationError if the question accepts only an answer: the agent acts on any words that it
    gets as an answer, so we must not write one.
    """
    if {"reject", "ignore"}.isdisjoint(agent_action.config.allowed_decisions):
        name = agent_action.request.name
        raise IntegrationError(
            f"The question `{name}` accepts nothing but an answer, and was answered before. {text} The run"
            " stays paused."
        )


def _can_pass_on(decision: Decision, outcome: Outcome, agent_action: Action, guarded: bool) -> bool:
    """Whether the agent gets the decision unchanged. If the call may not run any more, the guard stops it."""
    if outcome.review.cancelled is not None or (not guarded and _is_over(outcome, agent_action)):
        return False
    if decision.type in ("approve", "edit"):
        return True
    return decision.by is not None or decision.message is not None


def _is_over(outcome: Outcome, agent_action: Action) -> bool:
    """Whether nothing is left to do for the call: an earlier process died after the agent got the answer, and
    a person has said that the call ran, or to skip it.
    """
    return has_started(outcome.review, agent_action.key)


def _stored_id(review: Review, agent_action: Action) -> str:
    """The id of the action's call in the review. A question of a call has another id for the agent."""
    call = review.call(agent_action.key)
    return call.tool_call_id if call else agent_action.request.tool_call_id


def _fit_decision(
    decision: Decision, agent_action: Action, text: str, *, can_run: bool
) -> Decision:
    """The same decision, or another one that the agent accepts and that runs nothing. If a guard knows this
    call (`can_run`), it may also be an approval: the guard follows the review, so the call doesn't run.
    """
    allowed = agent_action.config.allowed_decisions
    if decision.type in allowed:
        return decision
    if decision.type not in ("approve", "edit"):
        for kind in _substitutes(can_run):
            if kind in allowed and (kind != "respond" or agent_action.config.answer_schema is None):
                return decision.model_copy(update={"type": kind, "message": text})
    raise IntegrationError(
        f"The agent doesn't accept {decision.type!r} for `{agent_action.request.name}`, only"
        f" {', '.join(allowed)}. The run stays paused."
    )


def _substitutes(can_run: bool) -> Sequence[DecisionType]:
    passing: tuple[DecisionType, ...] = ("approve", "edit") if can_run else ()
    return ("reject", "ignore", *passing, "respond")


def _make_refusal(agent_action: Action, why: str) -> Decision:
    return Decision(
        type="reject",
        by=None,
        at=agent_action.submitted_at,
        revision=agent_action.revision,
        args_hash=agent_action.args_hash,
        message=why,
    )


def _find_answer(outcome: Outcome, call_id: str) -> str | None:
    """The text for the model about a call that doesn't run; it is the same in every framework. None if the
    review doesn't have this call, or has approved it.
    """
    return next((a.content for a in outcome.answers if a.tool_call_id == call_id), None)


def _with_decision(action: Action, decision: Decision) -> Action:
    return action.model_copy(update={"decision": decision})
