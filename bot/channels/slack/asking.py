"""One action that waits, with everything that will run and its buttons; or a call in doubt. Pure."""

from __future__ import annotations

from typing import assert_never

from bot.card import Argument, Doubt, Open, Shown, quoted
from bot.channels.slack.ids import decides
from bot.channels.slack.lines import must_agree, so_far, votes, warnings
from bot.channels.slack.mentions import Names
from bot.channels.slack.outcome import closed, edits
from bot.channels.slack.rich import (
    MAX_SIZE,
    Block,
    Element,
    actions,
    asking,
    button,
    context,
    line,
    mrkdwn,
    overflow,
    pre,
    rich_text,
    words,
)
from bot.click import Target

SEE = "See all of it"
ANSWER = "Answer"


def action_blocks(
    review_id: str, action: Open, names: Names, *, numbered: bool = True, above: str = ""
) -> list[Block]:
    """Ids end in the action's key. What is decided says how, and has no buttons. What the title `above` says
    already is not said again.
    """
    number = f"{action.number}  " if numbered else ""
    title = quoted(action.title) if action.title and quoted(action.title) not in above else ""
    head = [words(f"{number}{title or action.name}", bold=True)]
    if title:
        head.append(words(f"   {action.name}"))
    why = "" if quoted(action.why) in above else action.why
    if why and action.by_agent:  # like its title: what the asker says stands between quotes
        why = quoted(why)
    if told := " ".join(filter(None, (why, action.rule))):
        head.append(words(f"   {told}", italic=True))
    called = [*_arguments(head, action.shown.arguments), *warnings(action.warnings)]
    drawn = [
        rich_text(f"call:{action.key}", *called),
        *_said(action),
        *votes(action.key, action.progress if action.decided is None else None, names),
    ]
    if action.decided is not None:
        return [*drawn, {**closed((action.decided,), MAX_SIZE), "block_id": f"is:{action.key}"}]
    drawn[1:1] = edits(action.key, action.edits)
    value = decides(Target(review_id, action.key, action.revision, action.seal))
    buttons = _buttons(action, value)
    return [*drawn, *([actions(f"do:{action.key}:{action.revision}", buttons)] if buttons else [])]


def doubt_blocks(review_id: str, doubt: Doubt) -> list[Block]:
    value = decides(Target(review_id, doubt.key, doubt.attempt, doubt.seal))
    told = "   The agent stopped in the middle of it: it may have run or not."
    head = [words(doubt.name, bold=True), words(told, italic=True)]
    name = doubt.name
    said = [*_hides(doubt.shown), *_cut(doubt.shown)]
    said += [*must_agree(doubt), *so_far(doubt.said)]
    return [
        rich_text(f"call:{doubt.key}", *_arguments(head, doubt.shown.arguments)),
        *([context(f"said:{doubt.key}", *said)] if said else []),
        actions(
            f"doubt:{doubt.key}",
            [
                button("doubt_ran", "It ran", value, f"{name} ran, go on"),
                button("doubt_rerun", "Run again", value, f"Run {name} again", style="danger"),
                button("doubt_skip", "Skip", value, f"Go on without {name}"),
                *_see(doubt.shown, name, value),
            ],
        ),
    ]


def _buttons(action: Open, value: str) -> list[Element]:
    """Those that everybody needs; what is rare stands under the dots. Where something is cut, all of it is
    one click away.
    """
    name = f"number {action.number}, {action.name}"
    runs = "approve" in action.allowed or "edit" in action.allowed
    drawn = _answers(action, value, name)
    more: list[tuple[str, str]] = []
    for decision in action.allowed:
        match decision:
            case "approve" if not action.choices:
                drawn.append(_approve(action, value, name))
            case "edit":
                drawn.append(button("edit", "Edit", value, f"Edit the arguments of {name}"))
            case "reject":
                drawn.append(button("reject", "Reject", value, f"Reject {name}", style="danger"))
            case "respond" if not action.choices and not runs:
                label = f"Answer {name}"
                drawn.append(button("respond", ANSWER, value, label, style="primary"))
            case "respond" if not action.choices:
                more.append(("Answer instead of running it", f"respond.{value}"))
            case "ignore":
                more.append(("Skip it", f"ignore.{value}"))
            case "approve" | "respond":
                pass  # the answers that it offers
            case _:
                assert_never(decision)
    menu = [overflow("more", more)] if more else []
    return [*drawn, *_see(action.shown, action.name, value), *menu]


def _approve(action: Open, value: str, name: str) -> Element:
    label = f"Approve {name}: {action.fact}"
    drawn = button("approve", "Approve", value, label, style="primary")
    if not action.confirm:
        return drawn
    return asking(drawn, f"Approve {action.name}?", action.fact, "Approve")


def _answers(action: Open, value: str, name: str) -> list[Element]:
    """A button for each. What it says is the asker's own where it stands between quotes."""
    labels = [one.label if one.ours else quoted(one.label) for one in action.choices]
    return [
        button(f"answer:{at}", label, f"{value}.{at}", f"Answer {label} to {name}")
        for at, label in enumerate(labels)
    ]


def _see(shown: Shown, name: str, value: str) -> list[Element]:
    return [button("see", SEE, value, f"See all arguments of {name}")] if shown.missing else []


def _said(action: Open) -> list[Block]:
    said = [*_hides(action.shown), *_cut(action.shown)]
    if action.must_read and action.decided is None:
        said.append(mrkdwn("*Approve* opens it first, until you have read all of it."))
    return [context(f"said:{action.key}", *said)] if said else []


def _hides(shown: Shown) -> list[Element]:
    told = "What is ⟦hidden⟧ is shown to nobody; the approval covers it."
    return [mrkdwn(told)] if shown.hides else []


def _cut(shown: Shown) -> list[Element]:
    if not shown.missing:
        return []
    of = f", among them {shown.left_out:,} whole arguments" if shown.left_out > 1 else ""
    of = ", among them a whole argument" if shown.left_out == 1 else of
    are = "is" if shown.missing == 1 else "are"
    count = f"{shown.missing:,} of {shown.size:,} characters {are}"
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
