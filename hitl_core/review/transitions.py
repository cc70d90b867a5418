"""The state machine, people's half: decide, escalate, expire. Pure: `(review, …, now) → (review, event)`.

A transition raises Refused where it changes nothing; the text is for the person who asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import (
    Action,
    Cancellation,
    Decision,
    DecisionType,
    Escalation,
    Event,
    EventKind,
    Place,
    Review,
    Reviewer,
)
from hitl_core.review.proposal import Proposal, answer_of, args_of, message_of


class Changed(NamedTuple):
    """What a transition made."""

    review: Review
    event: Event


VERBS: dict[DecisionType, str] = {
    "approve": "approved",
    "edit": "edited and approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}


def decide(review: Review, key: str, proposal: Proposal, by: Reviewer, now: float) -> Changed:
    """One person's decision on one action."""
    action = review.action(key)
    if action is None:
        raise Refused("unknown_action", "This review has no such action.")
    check_open(review, action, proposal.revision, now)
    if proposal.type not in action.config.allowed_decisions:
        raise Refused(
            "not_allowed", f"The policy doesn't allow this answer for {action.request.name}."
        )
    args = args_of(review, action, proposal)
    revision = action.revision + (args != review.arguments(key))
    decision = Decision(
        type=proposal.type,
        by=by,
        at=now,
        revision=revision,
        digest=args.digest,
        message=message_of(action, proposal),
        name=proposal.name if proposal.name != action.request.name else None,
        answer=answer_of(action, proposal),
    )
    decided = action.model_copy(
        update={"revision": revision, "digest": args.digest, "decision": decision}
    )
    changed = _with_actions(review, {key: decided}, now)
    if revision != action.revision:
        changed = changed.model_copy(update={"args": {**review.args, f"{key}:{revision}": args}})
    if decision.name is not None:
        changed = _renamed(changed, key)
    return Changed(
        changed,
        event_of("decided", review, now, by=by, action=key, what=proposal.type, digest=args.digest),
    )


def answer(review: Review, proposals: Mapping[str, Proposal], by: Reviewer, now: float) -> Changed:
    """A whole answer at once, by the actions' keys: all of it, or nothing. Raises DecisionError for the first
    decision that is wrong. Its event names every action, decision and digest, in the same order.
    """
    changed, events = review, list[Event]()
    for index, (key, proposal) in enumerate(proposals.items()):
        try:
            changed, event = decide(changed, key, proposal, by, now)
        except Refused as refused:
            action = review.action(key)
            tool = action.request.name if action else None
            field = refused.field if isinstance(refused, DecisionError) else "type"
            raise DecisionError(
                str(refused), index=index, tool=tool, field=field, code=refused.code
            ) from refused
        events.append(event)
    if not events:
        raise DecisionError("The answer decides nothing.")
    each = [(event.action, event.what, event.digest) for event in events]
    actions, kinds, digests = (
        ",".join(part or "" for part in parts) for parts in zip(*each, strict=True)
    )
    return Changed(
        changed,
        event_of("decided", review, now, by=by, action=actions, what=kinds, digest=digests),
    )


def escalate(
    review: Review, place: Place, by: Reviewer, now: float, *, taken: int | None = None
) -> Changed:
    """Take the next step of every chain that stands at `place` and still waits.

    `taken` is how many steps the card showed, None for who saw no card: two people who press at once take
    one step.
    """
    check_wanted(review)
    here = [a for a in review.actions if place in a.places]
    pending = [a for a in here if a.pending]
    if not pending:
        raise Refused("already_decided", "Everything here is decided already.")
    waiting = [a for a in pending if not _late(a, now)]
    if not waiting:
        raise Refused("expired", "The time to decide is over.")
    stepped = {a.key: _step(a, by, now) for a in waiting if a.next_step is not None}
    if not stepped or (taken is not None and steps_taken(here) > taken):
        where = ", ".join(_shown(waiting[0].places[1:])) or "nobody else"
        raise Refused("nothing_to_escalate", f"This was escalated already: {where} can decide too.")
    to = ", ".join(dict.fromkeys(a.escalations[-1].to for a in stepped.values()))
    return Changed(
        _with_actions(review, stepped, now), event_of("escalated", review, now, by=by, what=to)
    )


def cancel(review: Review, by: Reviewer | None, reason: str | None, now: float) -> Changed:
    """Withdraw a review before anything of it ran: nobody is asked any more, and nothing of it runs. `by` is
    None for the agent itself.
    """
    check_wanted(review)
    if review.status not in ("pending", "settled"):
        raise Refused("started", "Its agent has it already: it can't be cancelled any more.")
    if review.runs:
        raise Refused("started", "Something of it may have run: it can't be cancelled any more.")
    cancelled = Cancellation(by=by, at=now, reason=(reason or "").strip() or None)
    settled = review.settled_at if review.status == "settled" else now
    update = {"status": "settled", "settled_at": settled, "cancelled": cancelled}
    return Changed(review.model_copy(update=update), event_of("cancelled", review, now, by=by))


def fire(review: Review, now: float) -> Changed:
    """What time does: expire first, then escalate what still waits, however late it is."""
    if review.status != "pending":
        raise Refused("not_due", "Nothing is due.")
    expired = {a.key: _expired(a, now) for a in review.actions if a.pending and _late(a, now)}
    if expired:
        return Changed(_with_actions(review, expired, now), event_of("expired", review, now))
    stepped: dict[str, Action] = {}
    for action in review.actions:
        after = action
        while after.pending and (due := _step_due(after)) is not None and due <= now:
            after = _step(after, None, now)
        if after is not action:
            stepped[action.key] = after
    if not stepped:
        raise Refused("not_due", "Nothing is due.")
    to = ", ".join(dict.fromkeys(a.escalations[-1].to for a in stepped.values()))
    return Changed(_with_actions(review, stepped, now), event_of("escalated", review, now, what=to))


def steps_taken(here: Iterable[Action]) -> int:
    """Of all chains that stand at one place, decided or not: it only grows."""
    return sum(len(action.escalations) for action in here)


def due_at(review: Review) -> float | None:
    """When a bot must look next: the nearest escalation or deadline, or the end of the lease."""
    if review.status == "claimed" and review.lease:
        return review.lease.until
    if review.status != "pending":
        return None
    times = [
        time
        for action in review.actions
        if action.pending
        for time in (_step_due(action), deadline(action))
        if time is not None
    ]
    return min(times, default=None)


def deadline(action: Action) -> float | None:
    """When the policy decides by itself, in seconds since the epoch."""
    expire = action.route.expire
    return action.submitted_at + expire.after if expire else None


def check_wanted(review: Review) -> None:
    """Raises Refused where the review was cancelled."""
    if review.cancelled is not None:
        who = review.cancelled.by.name if review.cancelled.by else "The agent"
        raise Refused("cancelled", f"{who} cancelled this: nobody needs to decide any more.")


def check_open(review: Review, action: Action, revision: int, now: float) -> None:
    """Raises Refused where a decision on this revision of the review's action could only be refused."""
    if action.decision is not None:
        who = action.decision.by.name if action.decision.by else "The deadline"
        verb = VERBS[action.decision.type]
        raise Refused("already_decided", f"{who} already {verb} {action.request.name}.")
    check_wanted(review)
    if _late(action, now):
        raise Refused("expired", f"The time to decide on {action.request.name} is over.")
    if revision != action.revision:
        raise Refused("stale", f"{action.request.name} was edited since. Look at it again.")


def _renamed(review: Review, key: str) -> Review:
    """What may run twice was said of the tool that was asked for."""
    calls = tuple(
        call.model_copy(update={"idempotent": False}) if call.key == key else call
        for call in review.calls
    )
    return review.model_copy(update={"calls": calls})


def _late(action: Action, now: float) -> bool:
    end = deadline(action)
    return end is not None and end <= now


def _expired(action: Action, now: float) -> Action:
    expire = action.route.expire
    assert expire is not None  # _late said so
    decision = Decision(
        type=expire.decision,
        by=None,
        at=now,
        revision=action.revision,
        digest=action.digest,
        message=expire.message,
    )
    return action.model_copy(update={"decision": decision})


def _step_due(action: Action) -> float | None:
    step = action.next_step
    return None if step is None else action.submitted_at + action.route.escalate[step].after


def _step(action: Action, by: Reviewer | None, now: float) -> Action:
    step = action.next_step
    assert step is not None  # every caller looked
    taken = Escalation(to=action.route.escalate[step].to, at=now, by=by, step=step)
    return action.model_copy(update={"escalations": (*action.escalations, taken)})


def _with_actions(review: Review, changed: dict[str, Action], now: float) -> Review:
    """Settled as soon as the last action has its decision."""
    actions = tuple(changed.get(action.key, action) for action in review.actions)
    update: dict[str, object] = {"actions": actions}
    if review.status == "pending" and not any(action.pending for action in actions):
        update |= {"status": "settled", "settled_at": now}
    return review.model_copy(update=update)


def _shown(places: tuple[Place, ...]) -> list[str]:
    return [place.partition(":")[2] or place for place in places]


def event_of(
    kind: EventKind,
    review: Review,
    now: float,
    *,
    by: Reviewer | None = None,
    action: str | None = None,
    what: str | None = None,
    digest: str | None = None,
) -> Event:
    """What a transition of this review says of itself."""
    return Event(
        kind=kind, review_id=review.id, at=now, by=by, action=action, what=what, digest=digest
    )
