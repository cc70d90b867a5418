"""What a transition makes, and whether there is anything left to decide. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import Action, DecisionType, Event, EventKind, Place, Review, Reviewer
from hitl_core.review.due import is_late


class Transition(NamedTuple):
    """What a transition made."""

    review: Review
    event: Event


PAST_VERBS: dict[DecisionType, str] = {
    "approve": "approved",
    "edit": "edited and approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}


def check_not_cancelled(review: Review) -> None:
    """Raises Refused where the review was cancelled."""
    if review.cancelled is not None:
        who = review.cancelled.by.label if review.cancelled.by else "The agent"
        raise Refused("cancelled", f"{who} cancelled this: nobody needs to decide any more.")


def check_decidable(
    review: Review, action: Action, revision: int, now: float, seal: str | None = None
) -> None:
    """Raises Refused where a decision on this revision of the review's action could only be refused. `seal`
    is that of what the person saw; None is not compared.
    """
    if action.decision is not None:
        who, verb = _decider_names(action), PAST_VERBS[action.decision.type]
        raise Refused("already_decided", f"{who} already {verb} {action.name}.")
    check_not_cancelled(review)
    if is_late(action, now):
        raise Refused("expired", f"The time to decide on {action.name} is over.")
    if revision != action.revision:
        by = f" by {action.edits[-1].by.label}" if action.edits else ""
        raise Refused("stale", f"{action.name} was edited since{by}. Look at it again.")
    check_seal(review, seal, action.key)


def check_seal(review: Review, seal: str | None, *keys: str) -> None:
    """Raises Refused where a person saw something else than these calls would run now."""
    if seal not in (None, review.seal(*keys)):
        raise Refused(
            "stale",
            "What you saw is not what would run now, as stored data was lost. Nothing was changed. Look at"
            " it again: its card is drawn once more.",
        )


def with_actions(review: Review, changed: Mapping[str, Action], now: float) -> Review:
    """Settled as soon as the last action has its decision."""
    actions = tuple(changed.get(action.key, action) for action in review.actions)
    update: dict[str, object] = {"actions": actions}
    if review.status == "pending" and not any(action.is_pending for action in actions):
        update |= {"status": "settled", "settled_at": now}
    return review.model_copy(update=update)


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
    """What a transition of this review says of itself: of these calls, with the arguments that they had
    before it and have `after` it. `what` is one for each of them, or one for all.
    """
    keys = tuple(keys)
    rules = [_rule(after or review, key) for key in keys]
    return Event(
        kind=kind,
        review_id=review.id,
        at=now,
        by=by,
        action=_join_list(keys),
        what=what if what is None or isinstance(what, str) else _join_list(what),
        why=why,
        place=place,
        before=_join_list(_digest(review, key) for key in keys),
        digest=_join_list(_digest(after or review, key) for key in keys),
        policy=review.policy,
        rule=_join_list(rule or "" for rule in rules) or None,
    )


def join_names(names: Iterable[str]) -> str:
    """`Ada, Bo and Cy`."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def _decider_names(action: Action) -> str:
    people = action.deciders
    return join_names(who.label for who in people) if people else "The deadline"


def _digest(review: Review, key: str) -> str:
    if (action := review.action(key)) is not None:
        return action.digest
    call = review.call(key)
    assert call is not None  # every caller looked
    return call.digest


def _rule(review: Review, key: str) -> str | None:
    """The one that speaks: of an edited call the one that the edit fell under."""
    action, call = review.action(key), review.call(key)
    under = action.newest_rule if action else None
    return (under or call.verdict).rule if call else None


def _join_list(parts: Iterable[str]) -> str | None:
    parts = tuple(parts)
    return ",".join(parts) if parts else None
