"""A page for one action of a card. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hitl_core.model import Action, Place, Review, Reviewer
from hitl_core.review import excluded_keys

from ...card import (
    MAX_MODAL,
    Button,
    Line,
    OpenAction,
    asker_line,
    find_open_action,
    page_keys,
    review_pages,
    review_state,
)
from ..press import ActionRef

#: The most characters of an action's arguments on its page: the first of these with which the page fits into
#: the channel.
ROOMS = (MAX_MODAL, 10_000, 6_000, 3_000, 1_000, 200)


@dataclass(frozen=True)
class ActionPage:
    """One action of the card at `place`.

    - `number`: the page, from 0;
    - `action`: None if nothing is shown there any more;
    - `asker`: who asks for it, for whom and until when;
    - `state`: which page this is, and how many actions wait;
    - `reads`: what the person has read in full after this page was shown; None if it is cut, or if the policy
      doesn't require to read it;
    - `digest`: the id of the digest whose reviews these pages show.
    """

    review_id: str
    place: Place
    number: int
    action: OpenAction | None
    asker: Line
    state: Line
    buttons: tuple[Button, ...]
    reads: ActionRef | None
    digest: str = ""


def action_page(
    review: Review,
    place: Place,
    number: int,
    fits: Callable[[ActionPage], bool] | None = None,
    *,
    held: bool = False,
) -> ActionPage:
    """The page with as much of the arguments as fits; with the least if nothing fits. If the review is
    `held`, it has no answers.
    """
    *rooms, smallest = ROOMS
    for room in rooms:
        page = _page_with_room(review, place, number, room, held)
        if fits is None or fits(page):
            return page
    return _page_with_room(review, place, number, smallest, held)


def _page_with_room(review: Review, place: Place, number: int, room: int, held: bool) -> ActionPage:
    keys = page_keys(review, place)
    count = len(keys)
    number = max(0, min(number, count - 1))
    actions = [action for action in review.actions if action.key in keys]
    waiting = sum(action.is_pending for action in actions)
    open_action = find_open_action(review, keys[number], room=room) if keys else None
    if open_action is not None and held:
        open_action = replace(open_action, allowed=(), choices=())
    asker = asker_line(review, actions[number]) if actions else ()
    reads = None
    if open_action is not None and not open_action.excerpt.missing:
        shown = actions[number]
        if shown.is_pending and shown.config.must_read:
            reads = ActionRef(review.id, shown.key, shown.revision)
    state, buttons = review_state(number, count, waiting), review_pages(review.id, number, count)
    return ActionPage(review.id, place, number, open_action, asker, state, buttons, reads)


def needs_others(review: Review, action: Action, who: Reviewer) -> bool:
    """Whether only others can approve the newest revision: this person has voted on it, or is excluded."""
    has_voted = any(vote.by.is_same_human(who) for vote in action.votes)
    return has_voted or not excluded_keys(review, action).isdisjoint(who.keys)


def next_actions(review: Review, place: Place, number: int, who: Reviewer) -> list[Action]:
    """The pending actions that this person is not excluded from approving, in the order of their pages: from
    this page on, then from the beginning.
    """
    keys = page_keys(review, place)
    known = {action.key: action for action in review.actions if action.is_pending}
    actions = [known[key] for key in (*keys[number:], *keys[:number]) if key in known]
    return [action for action in actions if not needs_others(review, action, who)]
