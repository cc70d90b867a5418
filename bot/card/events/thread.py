"""The lines in the thread of a card: what happened since it was posted. A change of a message notifies
nobody. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hitl_core.model import Action, Call, EarlierTerms, Escalation, Grant, Place, Review, Reviewers

from ..model import NOBODY, PeopleRefs, ThreadLine
from ..people import merge_people, people_of
from .history import edit_of
from .votes import message_of, still_needed


def thread_lines(review: Review, place: Place) -> tuple[ThreadLine, ...]:
    """What happened to the actions at this place while they were here, in order of time. A line stays, with
    its key, whatever happens later, so a caller that recorded the posted keys can post the others.
    """
    lines: dict[str, ThreadLine] = {}
    here, first = _actions_at(review, place)
    for action, stays in here:
        for line in _action_lines(review, action, place, first):
            if any(start <= line.at <= end for start, end in stays):
                _merge_line(lines, line)
    return tuple(sorted(lines.values(), key=lambda line: line.at))


def was_escalated_again(review: Review, place: Place) -> bool:
    """Whether an action was escalated to this place after the review came there. It needs no arguments."""
    here, first = _actions_at(review, place)
    steps = (step for action, _ in here for step in action.escalations)
    return any(step.to == place and step.at > first for step in steps)


#: From when until when an action was shown at a place. A fallback or an edit may bring it back.
_Stays = list[tuple[float, float]]


def _actions_at(review: Review, place: Place) -> tuple[list[tuple[Action, _Stays]], float]:
    """The actions that are or were shown at this place, and when the review came there."""
    here = [(action, stays) for action in review.actions if (stays := _stays(action, place))]
    return here, min((stays[0][0] for _, stays in here), default=0.0)


def _stays(action: Action, place: Place) -> _Stays:
    stays, start = _Stays(), action.submitted_at
    for terms in (*action.earlier, action):
        end = terms.left if isinstance(terms, EarlierTerms) else math.inf
        if end is None:  # it did not move: the next terms continue
            continue
        steps = (step.at for step in terms.escalations if step.to == place)
        at = start if place in terms.route.notify else next(steps, None)
        if at is not None:
            stays.append((at, end))
        start = end
    return stays


def _merge_line(lines: dict[str, ThreadLine], line: ThreadLine) -> None:
    """Merge the lines of all actions with the same reminder or step into one."""
    if (before := lines.get(line.key)) is not None:
        names = (*before.names, *line.names)
        line = replace(before, names=names, people=merge_people([before.people, line.people]))
    lines[line.key] = line


def _action_lines(
    review: Review, action: Action, place: Place, first: float
) -> Iterator[ThreadLine]:
    """`first`: when the review came to this place. A later step to this place gets a line too, because its
    card is there already.
    """
    names = (action.request.name,)
    before = [terms for terms in action.earlier if terms.left is not None]
    steps = [step for one in (*before, action) for step in one.escalations]
    reminders = [at for one in (*before, action) for at in one.reminded]
    for edited in action.edits:
        edit, key = edit_of(review, action, edited), _key(review, "edited", edited.at, action.key)
        yield ThreadLine(edited.at, "edited", names, (edited.by,), edit, key=key)
    for step in steps:
        if step.to != place or step.at > first:
            yield ThreadLine(
                step.at,
                "escalated",
                names,
                (step.by,) if step.by else (),
                why=message_of(step.why),
                to=step.to,
                fallback=step.step is None,
                people=_called_people(action, step) if step.to == place else NOBODY,
                key=_key(review, "escalated", step.at, step.to),
            )
    for at in reminders:
        people = still_needed(action, review.requester) if action.is_pending else NOBODY
        yield ThreadLine(at, "reminded", names, people=people, key=_key(review, "reminded", at))
    decision = action.decision
    if decision is not None and decision.type == "reject" and decision.message:
        why, key = message_of(decision.message), _key(review, "rejected", decision.at, action.key)
        yield ThreadLine(decision.at, "rejected", names, action.deciders, why=why, key=key)


def _key(review: Review, kind: str, at: float, what: str = "") -> str:
    """`at` is written as the time since the submission, in seconds."""
    return f"{kind}:{at - review.created_at:.3f}:{what}"


def _called_people(action: Action, step: Escalation) -> PeopleRefs:
    """Who may decide because of this step, if it is of the rule that applies now, and the action waits."""
    is_current = action.is_pending and step in action.escalations
    if not is_current or not (step.open or step.step is not None):
        return NOBODY
    reviewers = Reviewers() if step.step is None else action.route.escalate[step.step].reviewers
    return people_of([Grant((step.to,), reviewers)])


def doubt_line(review: Review, calls: Sequence[Call]) -> ThreadLine:
    """The thread line about calls that are newly in doubt: who is asked what became of them."""
    names = tuple(review.tool_name(call) for call in calls)
    at = max(review.runs[call.key].at for call in calls)
    who = people_of(grant for call in calls for grant in review.grants_of(call))
    return ThreadLine(at, "doubt", names, people=who)
