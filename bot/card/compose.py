"""Builds the card of a review."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from hitl_core.model import Action, Call, MessageRef, Place, Review
from hitl_core.review import HELD_TEXT, count_steps, deadline, open_items

from .. import text
from .actions import make_actions
from .agent_texts import card_warnings
from .arguments import differences
from .events import (
    cancel_votes_of,
    decision_lines,
    decision_time,
    elsewhere_of,
    first_message,
    make_doubt,
    move_lines,
    notes_of,
)
from .model import (
    NOBODY,
    ActionLine,
    Card,
    Deadline,
    Deciders,
    DecisionLine,
    Line,
    NextStep,
    Origin,
    PeopleRefs,
    PlaceProblem,
    Text,
)
from .people import deciders_of, merge_people, people_of
from .sentences import headline, notification
from .table import make_table

#: The value of a button has at most 2,000 characters; this many actions with their revisions fit.
MAX_APPROVED = 200
MAX_WHY = 400


def build_card(
    review: Review,
    place: Place,
    posts: Mapping[Place, MessageRef] | None = None,
    *,
    held: bool = False,
    keys: Collection[str] = (),
) -> Card:
    """The card of a review at one of its places, with the actions of that place, or with the calls of `keys`
    at any place. `posts`: its messages; an escalated card links to the first one. `held`: see `Snapshot`.
    """
    card = _build_card(review, place, posts, keys)
    return _without_decisions(card) if held else card


def _without_decisions(card: Card) -> Card:
    """The card of a held review: nobody can decide, and what it shows may be out of date."""
    open_actions = tuple(replace(one, allowed=(), choices=()) for one in card.open_actions)
    return replace(
        card, summary=f"{card.bare_summary} {HELD_TEXT}", open_actions=open_actions, approve_all=(),
        doubts=(), next_step=None, deadline=None, deciders=(),
        warnings=(Line((Text(HELD_TEXT),)), *card.warnings),
    )  # fmt: skip


def _build_card(
    review: Review, place: Place, posts: Mapping[Place, MessageRef] | None, keys: Collection[str]
) -> Card:
    here = [a for a in review.actions if (a.key in keys if keys else place in a.places)]
    gone = [a for a in review.actions if not keys and place in a.former_places]
    waiting = [action for action in here if action.is_pending and not review.cancelled]
    number_of = {action.key: n for n, action in enumerate(review.actions, start=1)}
    escalated = bool(here) and all(place not in a.route.notify and place in a.places for a in here)
    in_doubt = review.calls_in_doubt
    doubts = [c for c in in_doubt if (c.key in keys if keys else place in review.places_of(c))]
    open_actions, short = make_actions(review, waiting, number_of)
    question, approvable, seal = _approve_all(review, waiting, short)
    questions = tuple(make_doubt(review, call) for call in doubts)
    next_step, ends = _next_step(here, waiting), nearest_deadline(waiting)
    state = headline.CardState(
        review, headline.subject(review.agent), here, waiting, questions,
        escalated and _was_passed_on(here, place), open_actions, gone, short, next_step, ends,
    )  # fmt: skip
    title, bare_title = headline.titles(state)
    summary, bare_summary = notification.summaries(state)
    return Card(
        review_id=review.id,
        place=place,
        origin=_origin(review),
        agent=state.agent,
        title=title,
        bare_title=bare_title,
        summary=summary,
        bare_summary=bare_summary,
        warnings=card_warnings(review),
        open_actions=open_actions,
        waiting=short,
        page_keys=tuple(action.key for action in here),
        approve_all=approvable,
        seal=seal,
        differences=question,
        table=make_table(short) if len(short) > 1 else None,
        doubts=questions,
        decision_lines=_decision_lines(review, here, waiting, gone, place),
        elsewhere=elsewhere_of(review, here) if escalated else (),
        cancel_votes=cancel_votes_of(review) if review.cancel_votes else (),
        escalation_people=_escalation_people(waiting, place) if escalated else NOBODY,
        first_message=first_message(here, place, posts or {}) if escalated else None,
        notes=notes_of(here) if any(action.escalations for action in here) else (),
        place_problems=_place_problems(review, place, number_of),
        next_step=next_step,
        deadline=ends,
        decision_time=None if doubts or waiting else decision_time(review, here),
        deciders=_deciders(review, waiting, doubts, number_of),
    )


def page_keys(review: Review, place: Place) -> tuple[str, ...]:
    """The keys of the actions at this place, in the model's order: the pages of the Review modal."""
    return tuple(action.key for action in review.actions if place in action.places)


def _decision_lines(
    review: Review, here: list[Action], waiting: list[Action], gone: list[Action], place: Place
) -> tuple[DecisionLine, ...]:
    some_decided = len(waiting) < len(here) or bool(review.runs)
    return (
        *(decision_lines(review, here, place) if some_decided else ()),
        *(move_lines(review, gone, place) if gone else ()),
    )


def _was_passed_on(here: list[Action], place: Place) -> bool:
    """Whether a person or time brought it to this place, not only a fallback."""
    return any(
        step.to == place and step.step is not None for action in here for step in action.escalations
    )


def _origin(review: Review) -> Origin:
    return Origin(
        requester=review.requester and text.one_line(review.requester),
        path=tuple(text.shorten(agent, 60) for agent in review.path),
        thread=text.shorten(review.thread_id, 60),
        conversation=review.origin,
    )


def _place_problems(
    review: Review, place: Place, number_of: dict[str, int]
) -> tuple[PlaceProblem, ...]:
    """The problems of all places, because the other places may have no card that can report them."""
    problems: list[PlaceProblem] = []
    for at, problem in review.delivery_problems.items():
        if waiting := open_items(review, at):
            keys = dict.fromkeys(item.key for item in waiting if item.key in number_of)
            numbers = [number_of[key] for key in keys] if len(review.actions) > 1 else []
            why = text.shorten(problem.why, MAX_WHY)
            problems.append(
                PlaceProblem(tuple(numbers), at, why, problem.since, at == place, problem.is_shown)
            )
    return tuple(problems)


def _approve_all(
    review: Review, waiting: list[Action], short: tuple[ActionLine, ...]
) -> tuple[str, tuple[tuple[str, int], ...], str]:
    """The question of "Approve all", the revisions that it approves, and their seal. The button is only drawn
    on a card that shows everything that must be read: see `shows_all`.
    """
    if not _can_approve_all(waiting, short):
        return "", (), ""
    question = differences(short)
    revisions = tuple((one.key, one.revision) for one in short if question)
    return question, revisions, review.seal(*(key for key, _ in revisions), is_whole=True)


def _can_approve_all(waiting: list[Action], short: tuple[ActionLine, ...]) -> bool:
    """Whether there are two or more actions, each can be approved without an answer, has no odd values, and
    needs no confirmation by the policy.
    """
    return (
        1 < len(waiting) <= MAX_APPROVED
        and not any(one.odd_values for one in short)
        and all(
            "approve" in action.config.allowed_decisions
            and action.config.answer_schema is None
            and not action.config.confirm
            for action in waiting
        )
    )


def _escalation_people(waiting: list[Action], place: Place) -> PeopleRefs:
    """The people named by the escalation steps that led to this place."""
    grants = [
        grant
        for action in waiting
        for grant in action.grants[1:]
        if place in grant.places and grant.reviewers.is_explicit
    ]
    people = people_of(grants)
    return PeopleRefs(people.users, people.groups)


def _deciders(
    review: Review, waiting: list[Action], doubts: list[Call], number_of: dict[str, int]
) -> tuple[Deciders, ...]:
    """Who may decide on the pending actions, else on the doubts. A doubt's quorum is shown with its call."""
    if waiting:
        return deciders_of(waiting, number_of, review.requester)
    people = merge_people(people_of(review.grants_of(call)) for call in doubts)
    return (Deciders((), people, 1, None),) if people else ()


def _next_step(here: list[Action], waiting: list[Action]) -> NextStep | None:
    """The next escalation step of the actions that wait here."""
    steps = [
        (action, action.route.escalate[at])
        for action in waiting
        if (at := action.next_step) is not None
    ]
    if not steps:
        return None
    taken = count_steps(here)
    each = (NextStep(step.to, _due_time(a, step.after), step.after, taken) for a, step in steps)
    return min(each, key=lambda step: (step.at is None, step.at or step.after))


def nearest_deadline(waiting: list[Action]) -> Deadline | None:
    ends = [
        Deadline(deadline(action), expire.after, expire.decision, action.name)
        for action in waiting
        if (expire := action.route.expire) is not None
    ]
    nearest = min(ends, key=lambda end: (end.at is None, end.at or end.after), default=None)
    if nearest is None or len({(end.at, end.decision) for end in ends}) > 1:
        return nearest
    return replace(nearest, name=None if len(ends) == len(waiting) else nearest.name)


def _due_time(action: Action, after: float) -> float | None:
    return None if action.clock_start is None else action.clock_start + after
