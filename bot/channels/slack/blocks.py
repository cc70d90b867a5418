"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

from typing import Any, assert_never

from bot.card import Argument, Card, Doubt, Open, Shown
from bot.channels.slack import lines
from bot.channels.slack.lines import Names
from bot.channels.slack.rich import (
    MAX_SIZE,
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    header,
    inert,
    line,
    mrkdwn,
    overflow,
    plain,
    pre,
    rich_text,
    size,
    words,
)

MAX_BLOCKS = 50
#: What is kept for the lines of what was decided while something still waits.
ROOM_FOR_CLOSED = 2500

SEE = "See all of it"


def message(card: Card, names: Names) -> dict[str, Any]:
    """`text`, which a notification and a screen reader say, and `blocks`."""
    return {"text": inert(card.summary), "blocks": blocks(card, names)}


def blocks(card: Card, names: Names) -> list[Block]:
    """At most 50, of at most MAX_SIZE characters: what finds no room waits, and the card says how much."""
    top = [header("title", card.title), *lines.origin(card, names), *lines.notes(card, names)]
    foot = [*_escalate(card, names), lines.foot(card, names)]
    asked = [_doubt(card, doubt) for doubt in card.doubts]
    asked += [_open(card, action) for action in card.open]
    kept = ROOM_FOR_CLOSED if card.closed and asked else 0
    drawn = [*top]
    fits = 0
    for blocks in asked:
        wanted = [*drawn, *blocks, *foot]
        if fits and (size(wanted) + kept + 300 > MAX_SIZE or len(wanted) + 3 > MAX_BLOCKS):
            break
        drawn += blocks
        fits += 1
    if more := len(asked) - fits + card.more:
        drawn.append(lines.more(more))
    if card.closed:
        room = MAX_SIZE - size([*drawn, *foot]) - 300
        drawn += [divider("line:closed"), lines.closed(card.closed, room)]
    if asked:
        drawn.append(divider("line:foot"))
    return [*drawn, *foot]


def _open(card: Card, action: Open) -> list[Block]:
    alone = len(card.open) + card.more + len(card.closed) == 1
    head = [words(action.name if alone else f"{action.number}  {action.name}", bold=True)]
    if action.why:
        head.append(words(f"   {action.why}", italic=True))
    value = f"{card.review_id}.{action.key}.{action.revision}"
    said = [plain("⚠ " + " ".join(action.warnings))] if action.warnings else []
    return [
        divider(f"line:{action.key}"),
        rich_text(f"call:{action.key}", *_arguments(head, action.shown.arguments)),
        *_said(action.key, [*said, *_cut(action.shown)]),
        actions(f"do:{action.key}:{action.revision}", _buttons(action, value)),
    ]


def _buttons(action: Open, value: str) -> list[Element]:
    """The three that everybody needs; what is rare stands under the dots. Where something is cut, all of
    it is one click away."""
    name = f"number {action.number}, {action.name}"
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
    return [*drawn, *_see(action.shown, more, name, value)]


def _doubt(card: Card, doubt: Doubt) -> list[Block]:
    value = f"{card.review_id}.{doubt.key}.{doubt.attempt}"
    told = "   The agent stopped in the middle of it: it may have run or not."
    head = [words(doubt.name, bold=True), words(told, italic=True)]
    name = doubt.name
    return [
        divider(f"line:{doubt.key}"),
        rich_text(f"call:{doubt.key}", *_arguments(head, doubt.shown.arguments)),
        *_said(doubt.key, _cut(doubt.shown)),
        actions(
            f"doubt:{doubt.key}",
            [
                button("doubt_ran", "It ran", value, f"{name} ran, go on"),
                button("doubt_rerun", "Run again", value, f"Run {name} again", style="danger"),
                button("doubt_skip", "Skip", value, f"Go on without {name}"),
                *_see(doubt.shown, [], name, value),
            ],
        ),
    ]


def _see(shown: Shown, more: list[tuple[str, str]], name: str, value: str) -> list[Element]:
    drawn = [button("see", SEE, value, f"See all arguments of {name}")] if shown.missing else []
    return [*drawn, *([overflow("more", more)] if more else [])]


def _said(key: str, said: list[Element]) -> list[Block]:
    return [context(f"said:{key}", *said)] if said else []


def _cut(shown: Shown) -> list[Element]:
    if not shown.missing:
        return []
    of = f", among them {shown.left_out:,} whole arguments" if shown.left_out > 1 else ""
    of = ", among them a whole argument" if shown.left_out == 1 else of
    count = "1 character is" if shown.missing == 1 else f"{shown.missing:,} characters are"
    return [mrkdwn(f"✂ {count} not shown here{of}. Press *{SEE}* before you decide.")]


def _arguments(head: list[Element], arguments: tuple[Argument, ...]) -> list[Element]:
    """Label and value on a line; long text and code in a box of its own."""
    drawn: list[Element] = []
    section = head if arguments else [*head, words("\nno arguments")]
    for argument in arguments:
        before = "\n" if section else ""
        section.append(words(f"{before}{argument.label}", bold=True))
        if argument.block:
            drawn += [line(*section), pre(argument.value)]
            section = []
        else:
            section.append(words(f"  {argument.value}"))
    return [*drawn, line(*section)] if section else drawn


def _escalate(card: Card, names: Names) -> list[Block]:
    if not card.open or card.next is None:
        return []
    told = f"Escalate to {names(card.next.to)}"
    value = f"{card.review_id}.0.{card.next.taken}"
    return [actions("escalate", [button("escalate", told, value, told)])]
