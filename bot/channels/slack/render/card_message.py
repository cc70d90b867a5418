"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ....card import ActionLine, Card
from ....text import fit
from . import card_lines
from .action_blocks import action_blocks, doubt_blocks
from .block_kit import (
    COST_OF_BLOCK,
    MAX_TEXT_SIZE,
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    header,
    line,
    make_inert,
    mrkdwn,
    rich_text,
    text_element,
    text_size,
    with_confirm,
)
from .decided_blocks import decision_block, thread_message
from .mentions import Link, Names, no_link

__all__ = ["action_blocks", "incomplete_actions", "message", "message_blocks", "thread_message"]

MAX_BLOCKS = 50
#: Reserved for the lines of decided actions while others still wait.
DECIDED_SIZE = 2500
#: Reserved for "and 5 more", and for links.
SPARE_SIZE = 300
LINKS_SIZE = 600
#: In one line of the list: the shortest and longest fact, and what its warning and votes take.
MIN_FACT, MAX_FACT = 20, 80
COST_OF_LINE = 50
#: "Approve all" names each action with its fact up to this number.
MAX_FACTS = 4

REVIEW_LABEL = "Review one by one"
SEE_ALL_LABEL, SEE_DECIDED_LABEL = "See all arguments", "See what was decided"


def message(card: Card, names: Names, link: Link = no_link) -> dict[str, Any]:
    """`text` (for notifications and screen readers) and `blocks`."""
    return {"text": make_inert(card.summary), "blocks": message_blocks(card, names, link)}


def message_blocks(card: Card, names: Names, link: Link = no_link) -> list[Block]:
    """At most MAX_BLOCKS blocks with MAX_TEXT_SIZE characters."""
    return _layout(card, names, link).blocks


def incomplete_actions(card: Card, names: Names, link: Link = no_link) -> frozenset[str]:
    """The keys of the pending actions that are not shown completely: cut, or only a line in the list."""
    if _layout(card, names, link).is_list:
        return frozenset(action.key for action in card.waiting)
    return frozenset(action.key for action in card.open_actions if action.excerpt.missing)


class _Layout(NamedTuple):
    """`is_list`: each action is only one line."""

    blocks: list[Block]
    is_list: bool


def _layout(card: Card, names: Names, link: Link) -> _Layout:
    top = _header_blocks(card, names, link)
    body = _open_blocks(card, names)
    foot = _footer(card, names, is_list=False)
    # The layout must not depend on links, because `incomplete_actions` is also called without them.
    without_links = [*_header_blocks(card, names, no_link), *body, *foot]
    reserved = SPARE_SIZE + LINKS_SIZE + (DECIDED_SIZE if card.decision_lines and body else 0)
    too_large = (
        text_size(without_links) + reserved > MAX_TEXT_SIZE or len(without_links) + 4 > MAX_BLOCKS
    )
    if card.waiting and (too_large or not card.open_actions):
        foot = _footer(card, names, is_list=True)
        room = MAX_TEXT_SIZE - text_size([*top, *foot]) - reserved
        return _Layout(_join_blocks(card, top, _list_blocks(card, room), foot), True)
    if too_large and card.doubts:
        body = _fitting_doubts(card, top, foot, reserved)
    return _Layout(_join_blocks(card, top, body, foot), False)


def _header_blocks(card: Card, names: Names, link: Link) -> list[Block]:
    return [
        header("title", card.title),
        *card_lines.escalation_line(card, names, link),
        *card_lines.origin(card, names, link),
        *card_lines.delivery_problems(card, names),
        *card_lines.notes(card, names),
    ]


def _join_blocks(card: Card, top: list[Block], body: list[Block], foot: list[Block]) -> list[Block]:
    content = [*top, *body]
    if card.decision_lines:
        room = MAX_TEXT_SIZE - text_size([*content, *foot]) - SPARE_SIZE
        content += [divider("line:closed"), decision_block(card.decision_lines, room)]
    return [*content, *([divider("line:foot")] if body else []), *foot]


def is_single(card: Card) -> bool:
    """Whether it has only one action, which then needs no number."""
    return len(card.waiting) + len(card.decision_lines) == 1


def _open_blocks(card: Card, names: Names) -> list[Block]:
    """All pending actions and doubts, in full."""
    is_only = is_single(card)
    body: list[Block] = []
    for doubt in card.doubts:
        body += [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
    for action in card.open_actions:
        action_part = action_blocks(
            card.review_id, action, names, numbered=not is_only, above=card.title if is_only else ""
        )
        body += [divider(f"line:{action.key}"), *action_part]
    return body


def _fitting_doubts(card: Card, top: list[Block], foot: list[Block], reserved: int) -> list[Block]:
    """The first doubts that fit. The others appear when these are answered."""
    body: list[Block] = []
    for at, doubt in enumerate(card.doubts):
        doubt_part = [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
        candidate = [*top, *body, *doubt_part, *foot]
        if body and (
            text_size(candidate) + reserved > MAX_TEXT_SIZE or len(candidate) + 3 > MAX_BLOCKS
        ):
            return [*body, card_lines.more_waiting(len(card.doubts) - at)]
        body += doubt_part
    return body


def _list_blocks(card: Card, room: int) -> list[Block]:
    """One line for each action: number, tool, main fact."""
    sections: list[Element] = []
    room -= 3 * SPARE_SIZE
    share = max(0, room // len(card.waiting))
    for at, action in enumerate(card.waiting):
        section = _list_line(action, share)
        room -= text_size([section]) - COST_OF_BLOCK
        if room < 0:
            sections.append(line(text_element(f"and {len(card.waiting) - at} more")))
            break
        sections.append(section)
    return [
        divider("line:list"),
        rich_text("list", *sections),
        context(
            "how",
            mrkdwn(f"Too much for one message. Press *{REVIEW_LABEL}* to read all and decide."),
        ),
    ]


def _list_line(action: ActionLine, share: int) -> Element:
    """The fact takes at most its share of the space."""
    head = f"{action.number}  {action.name}"
    room = min(MAX_FACT, share - len(head) - COST_OF_LINE)
    fact = fit(action.fact, max(MIN_FACT, room))
    elements = [text_element(head, bold=True), text_element(f"  {fact}")]
    if action.has_warnings:
        elements.append(text_element("  ⚠ contains suspicious text"))
    if (progress := action.progress) is not None:
        elements.append(
            text_element(f"  {len(progress.approved)} of {progress.quorum} approvals", italic=True)
        )
    return line(*elements)


def _footer(card: Card, names: Names, *, is_list: bool) -> list[Block]:
    buttons: list[Element] = []
    review = f"{card.review_id}.0"
    if is_list and card.waiting:
        page = card.page_keys.index(card.waiting[0].key)
        label = f"Review {len(card.waiting)} actions one by one"
        buttons.append(button("review", REVIEW_LABEL, f"{review}.{page}", label, style="primary"))
    if card.approve_all:
        buttons.append(_approve_all_button(card, is_list=is_list))
    if card.waiting and card.next_step is not None:
        text = f"Escalate to {names(card.next_step.to)}"
        buttons.append(button("escalate", text, f"{review}.{card.next_step.taken}", text))
    if (
        decided := [one for one in card.decision_lines if one.key in card.page_keys]
    ) and not is_list:
        text = SEE_DECIDED_LABEL if card.waiting else SEE_ALL_LABEL
        if len(card.page_keys) == 1:
            value = f"{card.review_id}.{decided[0].key}.{decided[0].revision}"
            buttons.append(button("see", text, value, f"See all arguments of {decided[0].name}"))
        else:
            page = card.page_keys.index(decided[0].key)
            label = "See all arguments of what was decided"
            buttons.append(button("review", text, f"{review}.{page}", label))
    button_blocks = [actions("all", buttons)] if buttons else []
    return [*button_blocks, card_lines.footer(card, names)]


def _approve_all_button(card: Card, *, is_list: bool) -> Element:
    """Its value names every revision that the card shows, so a later edit is not approved."""
    count = len(card.approve_all)
    value = ",".join(f"{key}:{revision}" for key, revision in card.approve_all)
    label = f"Approve all {count}"
    element = button(
        "approve_all", label, f"{card.review_id}.{value}.{card.seal}", f"{label} actions"
    )
    if not card.confirm_all and not is_list:
        return element
    facts = [f"{one.name} ({one.fact})" for one in card.waiting]
    tools = Counter(one.name for one in card.waiting).most_common()
    if count > MAX_FACTS:
        facts = [f"{name} ×{of}" for name, of in tools]  # noqa: RUF001
    return with_confirm(element, f"{label}?", "; ".join(facts), label)
