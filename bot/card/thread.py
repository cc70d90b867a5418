"""The lines in the thread of a card: what happened since it was posted. A change of a message notifies
nobody. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hitl_core.model import Action, Call, EarlierTerms, Escalation, Grant, Place, Review, Reviewers

from .history import edit_of
from .model import NOBODY, PeopleRefs, ThreadLine
from .people import merge_people, people_of
from .votes import message_of, still_needed


def thread_lines(review: Review, place: Place) -> tuple[ThreadLine, ...]:
    """What happened to the actions at this place since they came here, in order of time. New lines are only
    added at the end, so a caller that recorded how many lines are posted can post the others.
    """
    lines: dict[tuple[object, ...], ThreadLine] = {}
    here, first = _actions_at(review, place)
    for action in here:
        until = action.former_places.get(place)
        for line in _action_lines(review, action, place, first):
            if until is None or line.at <= until:
                _merge_line(lines, line)
    return tuple(sorted(lines.values(), key=lambda line: line.at))


def escalated_again(review: Review, place: Place) -> bool:
    """Whether an action was escalated to this place after the review came there. It needs no arguments."""
    here, first = _actions_at(review, place)
    steps = (step for action in here for step in action.escalations)
    return any(step.to == place and step.at > first for step in steps)


def _actions_at(review: Review, place: Place) -> tuple[list[Action], float]:
    """The actions that are or were shown at this place, and when the review came there."""
    here = [a for a in review.actions if place in a.places or place in a.former_places]
    return here, min((_arrival_time(action, place) for action in here), default=0.0)


def _merge_line(lines: dict[tuple[object, ...], ThreadLine], line: ThreadLine) -> None:
    """Merge the lines of all actions with the same reminder or step into one."""
    separate_names = line.names if line.kind in ("edited", "rejected") else None
    key = (line.kind, line.at, line.to, separate_names, len(lines) if separate_names else 0)
    before = lines.get(key)
    if before is not None:
        names = (*before.names, *line.names)
        line = replace(before, names=names, people=merge_people([before.people, line.people]))
    lines[key] = line


def _action_lines(
    review: Review, action: Action, place: Place, first: float
) -> Iterator[ThreadLine]:
    """`first`: when the review came to this place. A later step to this place is told too, because its card
    is there already.
    """
    since = _arrival_time(action, place)
    names = (action.request.name,)
    before = [terms for terms in action.earlier if terms.left is not None]
    steps = [step for one in (*before, action) for step in one.escalations]
    reminders = [at for one in (*before, action) for at in one.reminded]
    for edited in action.edits:
        if edited.at >= since:
            edit = edit_of(review, action, edited)
            yield ThreadLine(edited.at, "edited", names, (edited.by,), edit)
    for step in steps:
        if step.at >= since and (step.to != place or step.at > first):
            yield ThreadLine(
                step.at,
                "escalated",
                names,
                (step.by,) if step.by else (),
                why=message_of(step.why),
                to=step.to,
                fallback=step.step is None,
                people=_called_people(action, step) if step.to == place else NOBODY,
            )
    for at in reminders:
        if at >= since:
            people = still_needed(action, review.requester) if action.is_pending else NOBODY
            yield ThreadLine(at, "reminded", names, people=people)
    decision = action.decision
    if decision is not None and decision.type == "reject" and decision.message:
        why = message_of(decision.message)
        yield ThreadLine(decision.at, "rejected", names, action.deciders, why=why)


def _called_people(action: Action, step: Escalation) -> PeopleRefs:
    """Who may decide because of this step, if it is one of the rule that applies now."""
    if step not in action.escalations or not (step.open or step.step is not None):
        return NOBODY
    reviewers = Reviewers() if step.step is None else action.route.escalate[step.step].reviewers
    return people_of([Grant((step.to,), reviewers)])


def _arrival_time(action: Action, place: Place) -> float:
    """When it first came to this place."""
    start = action.submitted_at
    for one in (*action.earlier, action):
        if place in one.route.notify:
            return start
        if (step := next((s for s in one.escalations if s.to == place), None)) is not None:
            return step.at
        if isinstance(one, EarlierTerms) and one.left is not None:
            start = one.left
    return start


def doubt_line(review: Review, calls: Sequence[Call]) -> ThreadLine:
    """The thread line about calls that are newly in doubt: who is asked what became of them."""
    names = tuple(review.tool_name(call) for call in calls)
    at = max(review.runs[call.key].at for call in calls)
    who = people_of(grant for call in calls for grant in review.grants_of(call))
    return ThreadLine(at, "doubt", names, people=who)
