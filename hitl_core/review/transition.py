"""The result of a transition, and the checks and helpers that all transitions share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import (
    POLICY,
    Action,
    Call,
    Decision,
    DecisionType,
    Event,
    EventKind,
    Place,
    Review,
    Reviewer,
    Snapshot,
)


class Transition(NamedTuple):
    """The new review, and the event that says what changed."""

    review: Review
    event: Event


TransitionFunction = Callable[[Review, float], Transition]
SnapshotFunction = Callable[[Snapshot], Transition]


class ChangeResult(NamedTuple):
    """The review as it is stored now. `is_new` is False if this operation was applied before."""

    review: Review
    now: float
    is_new: bool


#: Who decides when the policy denies a call of an interrupt: its system must get an answer too.
_THE_POLICY = Reviewer(channel=POLICY, team="", id="policy", name="The policy")

PAST_VERBS: dict[DecisionType, str] = {
    "approve": "approved",
    "edit": "edited and approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}


def check_not_cancelled(review: Review) -> None:
    """Raises Refused if the review is cancelled."""
    if review.cancelled is not None:
        who = review.cancelled.by.label if review.cancelled.by else "The agent"
        raise Refused("cancelled", f"{who} cancelled this: nobody needs to decide any more.")


def has_started(review: Review, key: str) -> bool:
    """Whether this call was started; False if it may start again since (`cleared`)."""
    run = review.runs.get(key)
    return run is not None and run.state != "cleared"


def check_seal(review: Review, seal: str | None, *keys: str) -> None:
    """Raises Refused if these calls are no longer what the person saw."""
    seals = (review.seal(*keys, is_whole=is_whole) for is_whole in (True, False))
    if seal is not None and seal not in seals:
        raise Refused(
            "stale",
            "What you saw is not what would run now, because stored data was lost. Nothing was changed. The"
            " card is updated: look at it again.",
        )


def with_actions(review: Review, changed: Mapping[str, Action], now: float) -> Review:
    """The review with the changed actions. It is settled if now all actions have a decision."""
    actions = tuple(changed.get(action.key, action) for action in review.actions)
    update: dict[str, object] = {"actions": actions}
    if review.status == "pending" and not any(action.is_pending for action in actions):
        update |= {"status": "settled", "settled_at": now}
    return review.model_copy(update=update)


def decide_without_votes(
    action: Action, kind: DecisionType, message: str | None, by: Reviewer | None, now: float
) -> Action:
    """The action with a decision of the policy: no votes are counted."""
    decision = Decision(
        type=kind,
        by=by,
        at=now,
        revision=action.revision,
        args_hash=action.args_hash,
        message=message,
    )
    return action.model_copy(update={"decision": decision})


class Denial(NamedTuple):
    """The policy's own decision on a call, and its text for the agent."""

    type: DecisionType
    message: str


def deny_by_policy(review: Review, denials: Mapping[str, Denial], now: float) -> Review:
    """The new review with the policy's own decisions, by the actions' keys: final, whatever the quorum is."""
    changed: dict[str, Action] = {}
    for key, denial in denials.items():
        action = review.action(key)
        assert action is not None  # the ruling on this call is `answer_denial`
        changed[key] = decide_without_votes(action, denial.type, denial.message, _THE_POLICY, now)
    return with_actions(review, changed, now)


def make_event(
    kind: EventKind,
    review: Review,
    now: float,
    keys: Iterable[str] = (),
    *,
    after: Review | None = None,
    by: Reviewer | None = None,
    what: Iterable[str] | str | None = None,
    why: str | None = None,
    place: Place | None = None,
) -> Event:
    """The event of a transition of these calls, with the hashes of their arguments in `review` and `after`.
    `what` is one text for each call, or one for all.
    """
    keys = tuple(keys)
    calls = [_find_call(review, key) for key in keys]
    newest = calls if after is None else [_find_call(after, key) for key in keys]
    rules = [_newest_rule(after or review, each) for each in newest]
    return Event(
        kind=kind,
        review_id=review.id,
        at=now,
        by=by,
        action=_join_list(keys),
        what=what if what is None or isinstance(what, str) else _join_list(what),
        why=why,
        place=place,
        before=None if kind == "submitted" else _join_list(each.args_hash for each in calls),
        args_hash=_join_list(each.args_hash for each in newest),
        policy=review.policy,
        rule=_join_list(rule or "" for rule in rules) or None,
    )


def _find_call(review: Review, key: str) -> Action | Call:
    """The action, or the call that needs no person."""
    found = review.action(key) or review.call(key)
    assert found is not None  # every caller has checked it
    return found


def _newest_rule(review: Review, found: Action | Call) -> str | None:
    """The rule that applies now: after an edit, the rule that matches the edit."""
    if isinstance(found, Action) and (rule := found.newest_rule) is not None:
        return rule.rule
    call = review.call(found.key) if isinstance(found, Action) else found
    return call.verdict.rule if call else None


def _join_list(parts: Iterable[str]) -> str | None:
    parts = tuple(parts)
    return ",".join(parts) if parts else None
