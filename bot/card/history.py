"""How a review came to a place, and the lines in its card's thread. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hitl_core.model import Action, EarlierTerms, Escalation, MessageRef, Place, Review

from .changes import edit_of
from .deciders import merge_people, message_of, still_needed
from .model import EscalationNote, ThreadLine
from .values import NOBODY


def notes_of(here: list[Action]) -> tuple[EscalationNote, ...]:
    """One note for each place, in the order in which the review came there."""
    notes: dict[Place, EscalationNote] = {}
    for action in here:
        origin = action.route.notify
        for step in action.escalations:
            notes.setdefault(step.to, _note(step, origin))
            origin = (*origin, step.to)
    return tuple(notes.values())


def first_message(
    here: list[Action], place: Place, posts: Mapping[Place, MessageRef]
) -> MessageRef | None:
    """The message that was posted before the review was escalated to this place."""
    places = [origin for action in here for origin in action.places if origin != place]
    return next((posts[origin] for origin in places if origin in posts), None)


def thread_lines(review: Review, place: Place) -> tuple[ThreadLine, ...]:
    """What happened to the actions at this place since they came here, by time. New lines are only added at
    the end, so a caller that recorded how many are posted can post the rest.
    """
    lines: dict[tuple[object, ...], ThreadLine] = {}
    for action in review.actions:
        until = action.former_places.get(place)
        if place in action.places or until is not None:
            for line in _action_lines(review, action, place):
                if until is None or line.at <= until:
                    _merge_line(lines, line)
    return tuple(sorted(lines.values(), key=lambda line: line.at))


def _merge_line(lines: dict[tuple[object, ...], ThreadLine], line: ThreadLine) -> None:
    """One line for all actions of the same reminder or step."""
    separate_names = line.names if line.kind in ("edited", "rejected") else None
    key = (line.kind, line.at, line.to, separate_names, len(lines) if separate_names else 0)
    before = lines.get(key)
    if before is not None:
        names = (*before.names, *line.names)
        line = replace(before, names=names, people=merge_people([before.people, line.people]))
    lines[key] = line


def _action_lines(review: Review, action: Action, place: Place) -> Iterator[ThreadLine]:
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
        if step.to != place and step.at >= since:
            yield ThreadLine(
                step.at,
                "escalated",
                names,
                (step.by,) if step.by else (),
                why=message_of(step.why),
                to=step.to,
                fallback=step.step is None,
            )
    for at in reminders:
        if at >= since:
            people = still_needed(action, review.requester) if action.is_pending else NOBODY
            yield ThreadLine(at, "reminded", names, people=people)
    decision = action.decision
    if decision is not None and decision.type == "reject" and decision.message:
        why = message_of(decision.message)
        yield ThreadLine(decision.at, "rejected", names, action.deciders, why=why)


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


def _note(step: Escalation, origin: tuple[Place, ...]) -> EscalationNote:
    return EscalationNote(
        step.to, origin, step.at, step.by, message_of(step.why), step.step is None
    )
