"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, assert_never

from bot.card import Argument, Card, Closed, Doubt, Note, Open
from bot.channels.slack.rich import (
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    escaped,
    header,
    line,
    overflow,
    person,
    pre,
    rich_text,
    shortened,
    words,
)
from hitl_core.model import Place, Reviewer

USER_ID = re.compile(r"[UW][A-Z0-9]{2,}")

#: What a place is called, `#team-ops`.
Names = Callable[[Place], str]


def message(card: Card, names: Names) -> dict[str, Any]:
    """`text`, `blocks` and the metadata by which the bot finds its own message again."""
    return {
        "text": escaped(card.summary),
        "blocks": blocks(card, names),
        "metadata": {
            "event_type": "hitl_review",
            "event_payload": {"review_id": card.review_id},
        },
    }


def blocks(card: Card, names: Names) -> list[Block]:
    """At most 50, of at most about 13,000 characters: the card keeps to that."""
    drawn = [header("title", card.title), *_origin(card)]
    for note in card.notes:
        drawn.append(context(f"note:{note.to}", _note(note, names)))
    for doubt in card.doubts:
        drawn += [divider(f"line:{doubt.key}"), *_doubt(card, doubt)]
    for action in card.open:
        drawn += [divider(f"line:{action.key}"), *_open(card, action)]
    if card.closed:
        drawn += [divider("line:closed"), _closed_block(card.closed)]
    if card.more:
        told = "more wait. They appear here as these are decided."
        drawn.append(context("more", f"{card.more} {told}"))
    if card.open and card.next_place:
        value = f"{card.review_id}.0.0"
        where = names(card.next_place)
        escalate = button("escalate", f"Escalate to {where}", value, f"Escalate to {where}")
        drawn.append(actions("escalate", [escalate]))
    drawn.append(context("foot", _foot(card, names)))
    return drawn


def _origin(card: Card) -> list[Block]:
    parts: list[str] = []
    if card.requester:
        known = USER_ID.fullmatch(card.requester)
        parts.append(f"For <@{card.requester}>" if known else f"For {escaped(card.requester)[:80]}")
    if card.deadline is not None:
        parts.append(f"settled by the policy unless decided by {_date(card.deadline)}")
    return [context("origin", "  ·  ".join(parts))] if parts else []


def _note(note: Note, names: Names) -> str:
    why = f"by {_mention(note.by)}" if note.by else "because nobody had decided"
    return f"Escalated to {escaped(names(note.to))} {why}, {_date(note.at)}."


def _open(card: Card, action: Open) -> list[Block]:
    value = f"{card.review_id}.{action.key}.{action.revision}"
    number = f"{action.number}  " if len(card.open) + card.more + len(card.closed) > 1 else ""
    head = [words(f"{number}{action.name}", bold=True)]
    if action.why:
        head.append(words(f"   {action.why}", italic=True))
    drawn = [rich_text(f"call:{action.key}", *_arguments(head, action.arguments))]
    if action.warnings:
        said = " ".join(escaped(warning) for warning in action.warnings)
        drawn.append(context(f"warn:{action.key}", f":warning: {said}"))
    if action.missing:
        drawn.append(_cut(action.key, action.missing))
    drawn.append(actions(f"do:{action.key}:{action.revision}", _buttons(action, value)))
    return drawn


def _buttons(action: Open, value: str) -> list[Element]:
    """The three that everybody needs; what is rare stands under the dots."""
    name = action.name
    drawn: list[Element] = []
    more: list[tuple[str, str]] = []
    for decision in action.allowed:
        match decision:
            case "approve":
                label = f"Approve {name}"
                drawn.append(button("approve", "Approve", value, label, style="primary"))
            case "edit":
                drawn.append(button("edit", "Edit", value, f"Edit the arguments of {name}"))
            case "reject":
                drawn.append(button("reject", "Reject", value, f"Reject {name}", style="danger"))
            case "respond":
                more.append(("Answer instead of running it", f"respond.{value}"))
            case "ignore":
                more.append(("Skip it", f"ignore.{value}"))
            case _:
                assert_never(decision)
    more.append(("See all of it", f"see.{value}"))
    return [*drawn, overflow("more", more)]


def _doubt(card: Card, doubt: Doubt) -> list[Block]:
    value = f"{card.review_id}.{doubt.key}.{doubt.revision}"
    head = [
        words(doubt.name, bold=True),
        words("   the agent stopped in the middle: it may have run or not.", italic=True),
    ]
    name = doubt.name
    return [
        rich_text(f"call:{doubt.key}", *_arguments(head, doubt.arguments)),
        *([_cut(doubt.key, doubt.missing)] if doubt.missing else []),
        actions(
            f"doubt:{doubt.key}",
            [
                button("doubt_ran", "It ran", value, f"{name} ran, go on"),
                button("doubt_rerun", "Run again", value, f"Run {name} again", style="danger"),
                button("doubt_skip", "Skip", value, f"Go on without {name}"),
                overflow("more", [("See all of it", f"see.{value}")]),
            ],
        ),
    ]


def _cut(key: str, missing: int) -> Block:
    told = f":scissors: {missing:,} more characters: *See all of it* under ⋮ before you decide."
    return context(f"cut:{key}", told)


def _arguments(head: list[Element], arguments: tuple[Argument, ...]) -> list[Element]:
    """Label and value on a line; long text and code in a box of its own."""
    drawn: list[Element] = []
    section = head
    for argument in arguments:
        section.append(words(f"\n{argument.label}", bold=True))
        if argument.block:
            drawn += [line(*section), pre(argument.value + ("…" if argument.missing else ""))]
            section = []
        else:
            section.append(words(f"  {argument.value}" + ("…" if argument.missing else "")))
    return [*drawn, line(*section)] if section else drawn


def _closed_block(closed: tuple[Closed, ...]) -> Block:
    sections: list[Element] = []
    room = 3500
    for number, item in enumerate(closed):
        drawn = _closed(item)
        room -= sum(len(str(element.get("text", ""))) for element in drawn)
        if room < 0:
            sections.append(line(words(f"and {len(closed) - number} more")))
            break
        sections.append(line(*([words("\n")] if number else []), *drawn))
    return rich_text("closed", *sections)


def _closed(item: Closed) -> list[Element]:
    """One quiet line: a sign and the words, since a sign alone says nothing to a screen reader."""
    if item.type == "allow":
        drawn = [words(item.name, bold=True), words("  allowed by the policy")]
    else:
        sign, verb = _SIGNS[item.type]
        drawn = [words(f"{sign} {item.name}", bold=True), words(f"  {verb} ")]
        drawn.append(person(item.by.id) if item.by else words("the policy: nobody decided in time"))
    if item.message:
        drawn.append(words(f": “{item.message}”"))
    for change in item.changes[:12]:
        drawn.append(words(f"\n{change.label}", bold=True))
        if change.old is not None:
            drawn += [words("  "), words(shortened(change.old, 300), strike=True)]
        drawn.append(words(f" → {'removed' if change.new is None else shortened(change.new, 300)}"))
    if item.result:
        drawn.append(words(f"\n→ {item.result}"))
        if item.result_by:
            drawn += [words(", says "), person(item.result_by.id)]
    return drawn


_SIGNS = {
    "approve": ("✔", "approved by"),
    "edit": ("✎", "edited and approved by"),
    "reject": ("✖", "rejected by"),
    "respond": ("↩", "answered by"),
    "ignore": ("⊘", "skipped by"),
}


def _foot(card: Card, names: Names) -> str:
    places = " and ".join(escaped(names(place)) for place in card.places)
    who = f"Members of {places} may decide  ·  " if places else ""
    return f"{who}{card.review_id}"


def _mention(who: Reviewer) -> str:
    return f"<@{who.id}>" if USER_ID.fullmatch(who.id) else escaped(who.name)


def _date(at: float) -> str:
    """In the reader's own time zone (docs.slack.dev/messaging/formatting-message-text#date-formatting)."""
    return f"<!date^{int(at)}^{{date_short_pretty}}, {{time}}|{int(at)}>"
