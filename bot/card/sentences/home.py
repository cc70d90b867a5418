"""A person's Home and its list: what waits for them, what waits for others, what they decided. Pure."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from hitl_core.model import MessageRef, short_id

from ..arguments import shorten_fact
from ..buttons import page_buttons
from ..model import (
    ActionLine,
    Button,
    Card,
    Code,
    Doubt,
    Line,
    Link,
    PlaceNames,
    Quote,
    Strong,
    Text,
    Time,
    Verbatim,
    in_brackets,
)
from ..people import requester, vote_counts
from .decisions import short_decision
from .headline import MAX_REQUESTER, due_lines

#: The most tools in the one line of a review.
MAX_TOOLS = 3
#: The most characters of a fact in a list of reviews: two or three lines on a phone.
MAX_SHORT_FACT = 100

OTHERS_TITLE = "Waiting for others"
DECIDED_TITLE = "Decided by you"
ERROR_TITLE = "Your reviews could not be loaded"
NOTHING_YET: Line = (
    Text("When an agent asks for something that you may decide, it appears here."),
)
#: During an outage of a part of the store.
MISSING: Line = (
    Text("Not all of your reviews can be shown at the moment. Look again in a minute."),
)
UNSURE_ACTIONS: Line = (
    Text(
        "It is not known now whether more actions of these reviews wait for you. Look again in a minute."
    ),
)
OPEN_CARD_HINT: Line = (Text("Open its card to read and decide."),)
NO_CARD_YET: Line = (Text("Its card is not shown yet."),)


def home_title(total: int, *, more: bool, unsure: bool = False) -> str:
    """How many reviews wait; `more`: not all were counted; `unsure`: of some it is unknown now."""
    if unsure and not total:
        return "It is not known now what waits for you"
    if unsure:
        return f"At least {total:,} review{'s wait' if total > 1 else ' waits'} for you"
    if not total:
        return "Nothing waits for you"
    if more:
        return f"More than {total:,} reviews wait for you"
    return "1 review waits for you" if total == 1 else f"{total} reviews wait for you"


def unreadable_line(count: int) -> Line:
    """About the reviews of this page that can't be shown, because their stored data can't be read."""
    what = "1 review" if count == 1 else f"{count} reviews"
    text = f"{what} can't be shown: this version of the bot can't read the stored data. Tell your operators."
    return (Text(text),)


def card_summary(card: Card) -> str:
    """The card's title, with its main fact or its tools."""
    if len(card.waiting) == 1:
        [one] = card.waiting
        return f"{card.title} {in_brackets(one.fact)}" if one.fact else card.title
    tools = [one.name for one in card.waiting]
    more = [f"and {len(tools) - MAX_TOOLS} more"] if len(tools) > MAX_TOOLS else []
    return ": ".join(filter(None, (card.title, ", ".join([*tools[:MAX_TOOLS], *more]))))


def fact_lines(card: Card) -> tuple[Line, ...]:
    """The main facts of the first actions that wait, with their names if they are several."""
    if len(card.waiting) == 1:
        return ((Verbatim(card.waiting[0].fact),),)
    return _first_lines([_fact_line(one) for one in card.waiting])


@dataclass(frozen=True)
class HomeText:
    """A review in a list: its title and facts. `details` may share one line."""

    lines: tuple[Line, ...]
    details: tuple[Line, ...]


def others_text(
    card: Card,
    keys: Set[str],
    names: PlaceNames,
    *,
    at: float,
    ref: MessageRef | None,
    is_unknown: bool = False,
) -> HomeText:
    """A review that waits for others: who wants what, the facts of the calls that this person may see
    (`keys`), since when, and until when. `is_unknown`: it is unknown whether they may decide.
    """
    asked: Line = (Text("asked "), Time(at))
    links = _link_lines(ref, names)
    if is_unknown:
        unsure: Line = (Text("it can't be confirmed at the moment that you may decide"),)
        return HomeText(((Strong(f"{card.agent}: a review"),),), (asked, *links, unsure))
    lines = (_title_line(card, keys), *_first_lines(_waiting_lines(card, keys)))
    return HomeText(lines, (asked, *due_lines(card, names), *links))


def decided_text(
    card: Card, keys: Set[str], names: PlaceNames, *, at: float, ref: MessageRef | None
) -> HomeText:
    """A review on which this person decided at the time `at`: for whom it was, and the decisions that they
    may see (`keys`).
    """
    seen = [one for one in card.decision_lines if one.key in keys]
    links = _link_lines(ref, names)
    if not seen:  # only a vote so far, or they may no longer decide
        lines = (_title_line(card, keys), *_first_lines(_waiting_lines(card, keys)))
        return HomeText(lines, ((Text("you voted "), Time(at)), *links))
    head: Line = (Strong(card.agent if len(seen) <= MAX_TOOLS else card.bare_title),)
    if card.origin.requester:
        head = (*head, Text("  for "), requester(card.origin.requester, MAX_REQUESTER))
    lines = (head, *_first_lines([short_decision(one) for one in seen]))
    return HomeText(lines, ((Text("you decided "), Time(at)), *links))


def _title_line(card: Card, keys: Set[str]) -> Line:
    """The title, with the agent's question if this person may see it."""
    return (Strong(card.title if keys >= {one.key for one in card.waiting} else card.bare_title),)


def _waiting_lines(card: Card, keys: Set[str]) -> list[Line]:
    doubts = [_doubt_line(one) for one in card.doubts if one.key in keys]
    return [*doubts, *(_waiting_line(card, one) for one in card.waiting if one.key in keys)]


def _waiting_line(card: Card, action: ActionLine) -> Line:
    """The action's fact, and the votes so far. The only action of a card has no name here,
    because the title has it.
    """
    is_only = len(card.waiting) == 1
    fact = shorten_fact(action.fact, MAX_SHORT_FACT)
    line: Line = (Quote(fact),) if is_only else _fact_line(action)
    votes = action.progress and vote_counts(action.progress)
    return (*line, Text(f"  {votes}")) if votes else line


def _fact_line(action: ActionLine) -> Line:
    fact = Verbatim(shorten_fact(action.fact, MAX_SHORT_FACT))
    return (Strong(f"{action.number}  {action.name}"), Text("  "), fact)


def _doubt_line(doubt: Doubt) -> Line:
    return (Strong(doubt.name), Text("  "), Quote(shorten_fact(doubt.fact, MAX_SHORT_FACT)))


def _first_lines(lines: list[Line]) -> tuple[Line, ...]:
    """The first lines, and the number of the others."""
    more = len(lines) - MAX_TOOLS
    rest: tuple[Line, ...] = ((Text(f"and {more} more"),),) if more > 0 else ()
    return (*lines[:MAX_TOOLS], *rest)


def home_headline(title: str, ref: MessageRef | None, names: PlaceNames) -> Line:
    """The title of a review that waits, and a link to its card."""
    link = _card_link(ref, names)
    return (Strong(title), Text("   "), link) if link else (Strong(title),)


def command_line(review_id: str) -> Line:
    """What to type to see a review."""
    return (Code(f"/approvals show {short_id(review_id)}"),)


def more_reviews_line(count: int, *, more: bool) -> Line:
    return (Text(f"{'More than ' if more else ''}{count} more in the app's Home."),)


def more_actions_line(count: int) -> Line:
    wait = "waits" if count == 1 else "wait"
    return (Text(f"{count} more {wait} on the card of this review."),)


def home_pages(page: int, pages: int) -> tuple[Line, tuple[Button, ...]]:
    """The page (from 0), and the buttons to the others."""
    about = Button("next", "", "Page", "")
    return (Text(f"Page {page + 1} of {pages}"),), page_buttons(about, page, pages)


def _link_lines(ref: MessageRef | None, names: PlaceNames) -> list[Line]:
    link = _card_link(ref, names)
    return [(link,)] if link else []


def _card_link(ref: MessageRef | None, names: PlaceNames) -> Link | None:
    url = names.link(ref) if ref is not None else None
    return Link("open its card", url) if url else None
