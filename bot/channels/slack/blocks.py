"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from bot.card import Card, Listed
from bot.channels.slack import lines
from bot.channels.slack.asking import action_blocks, doubt_blocks
from bot.channels.slack.mentions import Link, Names, no_link
from bot.channels.slack.outcome import closed, thread_message
from bot.channels.slack.rich import (
    COST_OF_BLOCK,
    MAX_SIZE,
    Block,
    Element,
    actions,
    asking,
    button,
    context,
    divider,
    header,
    inert,
    line,
    mrkdwn,
    rich_text,
    size,
    words,
)
from bot.text import fitted

__all__ = ["action_blocks", "blocks", "cut_keys", "message", "thread_message"]

MAX_BLOCKS = 50
#: What is kept for the lines of what was decided while something still waits.
ROOM_FOR_CLOSED = 2500
#: What is kept for what is counted instead of shown, and for links.
SPARE = 300
LINKS = 600
#: Of a line in the list: what it is about takes from so much to so much, and its marks at most so much.
MIN_FACT, MAX_FACT = 20, 80
COST_OF_LINE = 50
#: Up to so many actions that are approved together are named with what they are about.
MAX_FACTS = 4

REVIEW = "Review one by one"
SEE_ALL, SEE_DECIDED = "See all arguments", "See what was decided"


def message(card: Card, names: Names, link: Link = no_link) -> dict[str, Any]:
    """`text`, which a notification and a screen reader say, and `blocks`."""
    return {"text": inert(card.summary), "blocks": blocks(card, names, link)}


def blocks(card: Card, names: Names, link: Link = no_link) -> list[Block]:
    """At most 50, of at most MAX_SIZE characters."""
    return _drawn(card, names, link).blocks


def cut_keys(card: Card, names: Names, link: Link = no_link) -> frozenset[str]:
    """What waits here and is not shown whole: it is cut, or has only a line."""
    if _drawn(card, names, link).listed:
        return frozenset(action.key for action in card.waiting)
    return frozenset(action.key for action in card.open if action.shown.missing)


class _Drawn(NamedTuple):
    """`listed`: each action has only a line."""

    blocks: list[Block]
    listed: bool


def _drawn(card: Card, names: Names, link: Link) -> _Drawn:
    top = _top(card, names, link)
    asked = _asked(card, names)
    foot = _foot(card, names, listed=False)
    # Whether all of it fits must not depend on links: not everybody who wants to know has them.
    unlinked = [*_top(card, names, no_link), *asked, *foot]
    kept = SPARE + LINKS + (ROOM_FOR_CLOSED if card.closed and asked else 0)
    too_large = size(unlinked) + kept > MAX_SIZE or len(unlinked) + 4 > MAX_BLOCKS
    if card.waiting and (too_large or not card.open):
        foot = _foot(card, names, listed=True)
        room = MAX_SIZE - size([*top, *foot]) - kept
        return _Drawn(_together(card, top, _list(card, room), foot), True)
    if too_large and card.doubts:
        asked = _doubts(card, top, foot, kept)
    return _Drawn(_together(card, top, asked, foot), False)


def _top(card: Card, names: Names, link: Link) -> list[Block]:
    return [
        header("title", card.title),
        *lines.called(card, names, link),
        *lines.origin(card, names, link),
        *lines.unshown(card, names),
        *lines.notes(card, names),
    ]


def _together(card: Card, top: list[Block], asked: list[Block], foot: list[Block]) -> list[Block]:
    drawn = [*top, *asked]
    if card.closed:
        room = MAX_SIZE - size([*drawn, *foot]) - SPARE
        drawn += [divider("line:closed"), closed(card.closed, room)]
    return [*drawn, *([divider("line:foot")] if asked else []), *foot]


def is_alone(card: Card) -> bool:
    """Whether it is about one action: that one needs no number."""
    return len(card.waiting) + len(card.closed) == 1


def _asked(card: Card, names: Names) -> list[Block]:
    """Everything that waits, with everything."""
    alone = is_alone(card)
    drawn: list[Block] = []
    for doubt in card.doubts:
        drawn += [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
    for action in card.open:
        asked = action_blocks(
            card.review_id, action, names, numbered=not alone, above=card.title if alone else ""
        )
        drawn += [divider(f"line:{action.key}"), *asked]
    return drawn


def _doubts(card: Card, top: list[Block], foot: list[Block], kept: int) -> list[Block]:
    """As many as fit; the others appear as these are answered."""
    drawn: list[Block] = []
    for at, doubt in enumerate(card.doubts):
        asked = [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
        wanted = [*top, *drawn, *asked, *foot]
        if drawn and (size(wanted) + kept > MAX_SIZE or len(wanted) + 3 > MAX_BLOCKS):
            return [*drawn, lines.more(len(card.doubts) - at)]
        drawn += asked
    return drawn


def _list(card: Card, room: int) -> list[Block]:
    """One line each: the number, the tool, and what it is about."""
    drawn: list[Element] = []
    room -= 3 * SPARE
    share = max(0, room // len(card.waiting))
    for at, action in enumerate(card.waiting):
        section = _line(action, share)
        room -= size([section]) - COST_OF_BLOCK
        if room < 0:
            drawn.append(line(words(f"and {len(card.waiting) - at} more")))
            break
        drawn.append(section)
    return [
        divider("line:list"),
        rich_text("list", *drawn),
        context(
            "how", mrkdwn(f"Too much for one message. Press *{REVIEW}* to read all and decide.")
        ),
    ]


def _line(action: Listed, share: int) -> Element:
    """What it is about takes no more than its share of the room."""
    head = f"{action.number}  {action.name}"
    room = min(MAX_FACT, share - len(head) - COST_OF_LINE)
    fact = fitted(action.fact, max(MIN_FACT, room))
    drawn = [words(head, bold=True), words(f"  {fact}")]
    if action.odd:
        drawn.append(words("  ⚠ holds something odd"))
    if (so_far := action.progress) is not None:
        drawn.append(words(f"  {len(so_far.approved)} of {so_far.quorum} approvals", italic=True))
    return line(*drawn)


def _foot(card: Card, names: Names, *, listed: bool) -> list[Block]:
    buttons: list[Element] = []
    review = f"{card.review_id}.0"
    if listed and card.waiting:
        page = card.turns.index(card.waiting[0].key)
        label = f"Review {len(card.waiting)} actions one by one"
        buttons.append(button("review", REVIEW, f"{review}.{page}", label, style="primary"))
    if card.approve_all:
        buttons.append(_approve_all(card, listed=listed))
    if card.waiting and card.next is not None:
        told = f"Escalate to {names(card.next.to)}"
        buttons.append(button("escalate", told, f"{review}.{card.next.taken}", told))
    if (decided := [one for one in card.closed if one.key in card.turns]) and not listed:
        told = SEE_DECIDED if card.waiting else SEE_ALL
        if len(card.turns) == 1:
            value = f"{card.review_id}.{decided[0].key}.{decided[0].revision}"
            buttons.append(button("see", told, value, f"See all arguments of {decided[0].name}"))
        else:
            page = card.turns.index(decided[0].key)
            label = "See all arguments of what was decided"
            buttons.append(button("review", told, f"{review}.{page}", label))
    drawn = [actions("all", buttons)] if buttons else []
    return [*drawn, lines.foot(card, names)]


def _approve_all(card: Card, *, listed: bool) -> Element:
    """It names every revision that the card shows: one that was edited since isn't approved."""
    count = len(card.approve_all)
    value = ",".join(f"{key}:{revision}" for key, revision in card.approve_all)
    told = f"Approve all {count}"
    drawn = button("approve_all", told, f"{card.review_id}.{value}.{card.seal}", f"{told} actions")
    if not card.confirm_all and not listed:
        return drawn
    facts = [f"{one.name} ({one.fact})" for one in card.waiting]
    tools = Counter(one.name for one in card.waiting).most_common()
    if count > MAX_FACTS:
        facts = [f"{name} ×{of}" for name, of in tools]  # noqa: RUF001
    return asking(drawn, f"{told}?", "; ".join(facts), told)
