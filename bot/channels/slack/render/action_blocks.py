"""One pending action with its arguments and buttons, or a call in doubt. Pure."""

from __future__ import annotations

from typing import assert_never

from ....card import Argument, ArgumentsExcerpt, Doubt, OpenAction, description_text, quote
from ....inbox import ActionRef
from ..ids import format_action_ref
from .block_kit import (
    MAX_TEXT_SIZE,
    Block,
    Element,
    actions,
    button,
    context,
    line,
    mrkdwn,
    overflow,
    pre,
    rich_text,
    text_element,
    with_confirm,
)
from .card_lines import doubt_quorum, statement_elements, votes, warnings
from .decided_blocks import decision_block, edit_blocks
from .mentions import Names

SEE_LABEL = "See all of it"
ANSWER_LABEL = "Answer"


def action_blocks(
    review_id: str, action: OpenAction, names: Names, *, numbered: bool = True, above: str = ""
) -> list[Block]:
    """Block ids end in the action's key. A decided action shows its decision and no buttons. Text that is
    already in the title (`above`) is omitted.
    """
    number = f"{action.number}  " if numbered else ""
    title = quote(action.title) if action.title and quote(action.title) not in above else ""
    head = [text_element(f"{number}{title or action.name}", bold=True)]
    if title:
        head.append(text_element(f"   {action.name}"))
    why = "" if quote(action.why) in above else description_text(action)
    if reason := " ".join(filter(None, (why, action.rule))):
        head.append(text_element(f"   {reason}", italic=True))
    call_elements = [
        *_argument_elements(head, action.excerpt.arguments),
        *warnings(action.warnings),
    ]
    blocks = [
        rich_text(f"call:{action.key}", *call_elements),
        *_note_blocks(action),
        *votes(action.key, action.progress if action.decided is None else None, names),
    ]
    if action.decided is not None:
        return [
            *blocks,
            {**decision_block((action.decided,), MAX_TEXT_SIZE), "block_id": f"is:{action.key}"},
        ]
    blocks[1:1] = edit_blocks(action.key, action.edits)
    value = format_action_ref(ActionRef(review_id, action.key, action.revision, action.seal))
    buttons = _buttons(action, value)
    return [*blocks, *([actions(f"do:{action.key}:{action.revision}", buttons)] if buttons else [])]


def doubt_blocks(review_id: str, doubt: Doubt) -> list[Block]:
    value = format_action_ref(ActionRef(review_id, doubt.key, doubt.attempt, doubt.seal))
    text = "   The agent stopped during this call: it may or may not have run."
    head = [text_element(doubt.name, bold=True), text_element(text, italic=True)]
    name = doubt.name
    notes = [*_redaction_note(doubt.excerpt), *_truncation_note(doubt.excerpt)]
    notes += [*doubt_quorum(doubt), *statement_elements(doubt.votes)]
    return [
        rich_text(f"call:{doubt.key}", *_argument_elements(head, doubt.excerpt.arguments)),
        *([context(f"said:{doubt.key}", *notes)] if notes else []),
        actions(
            f"doubt:{doubt.key}",
            [
                button("doubt_ran", "It ran", value, f"{name} ran, continue"),
                button("doubt_rerun", "Run again", value, f"Run {name} again", style="danger"),
                button("doubt_skip", "Skip", value, f"Continue without {name}"),
                *_see_button(doubt.excerpt, name, value),
            ],
        ),
    ]


def _buttons(action: OpenAction, value: str) -> list[Element]:
    """The common answers as buttons, the rare ones in a menu; and "See all of it" if something is cut."""
    name = f"number {action.number}, {action.name}"
    runs = "approve" in action.allowed or "edit" in action.allowed
    buttons = _answer_buttons(action, value, name)
    more: list[tuple[str, str]] = []
    for decision in action.allowed:
        match decision:
            case "approve" if not action.choices:
                buttons.append(_approve_button(action, value, name))
            case "edit":
                buttons.append(button("edit", "Edit", value, f"Edit the arguments of {name}"))
            case "reject":
                buttons.append(button("reject", "Reject", value, f"Reject {name}", style="danger"))
            case "respond" if not action.choices and not runs:
                label = f"Answer {name}"
                buttons.append(button("respond", ANSWER_LABEL, value, label, style="primary"))
            case "respond" if not action.choices:
                more.append(("Answer instead of running it", f"respond.{value}"))
            case "ignore":
                more.append(("Skip it", f"ignore.{value}"))
            case "approve" | "respond":
                pass  # its choices are buttons already
            case _:
                assert_never(decision)
    menu = [overflow("more", more)] if more else []
    return [*buttons, *_see_button(action.excerpt, action.name, value), *menu]


def _approve_button(action: OpenAction, value: str, name: str) -> Element:
    label = f"Approve {name}: {action.fact}"
    return _with_confirmation(action, button("approve", "Approve", value, label, style="primary"))


def _with_confirmation(action: OpenAction, element: Element) -> Element:
    """The button, with a confirmation dialog if the policy requires one."""
    if not action.confirm:
        return element
    return with_confirm(element, f"Approve {action.name}?", action.fact, "Approve")


def _answer_buttons(action: OpenAction, value: str, name: str) -> list[Element]:
    """One button for each choice. A label from the schema is quoted, our own is not."""
    labels = [one.label if one.is_own_label else quote(one.label) for one in action.choices]
    buttons = [
        button(f"answer:{at}", label, f"{value}.{at}", f"Answer {label} to {name}")
        for at, label in enumerate(labels)
    ]
    runs = "approve" in action.allowed
    return [_with_confirmation(action, each) for each in buttons] if runs else buttons


def _see_button(visible: ArgumentsExcerpt, name: str, value: str) -> list[Element]:
    return (
        [button("see", SEE_LABEL, value, f"See all arguments of {name}")] if visible.missing else []
    )


def _note_blocks(action: OpenAction) -> list[Block]:
    notes = [*_redaction_note(action.excerpt), *_truncation_note(action.excerpt)]
    if action.must_read and action.decided is None:
        notes.append(mrkdwn("You must read all of it before you approve. *Approve* opens it."))
    return [context(f"said:{action.key}", *notes)] if notes else []


def _redaction_note(visible: ArgumentsExcerpt) -> list[Element]:
    text = "⟦hidden⟧ values are shown to nobody. An approval covers them too."
    return [mrkdwn(text)] if visible.has_hidden else []


def _truncation_note(visible: ArgumentsExcerpt) -> list[Element]:
    if not visible.missing:
        return []
    of = (
        f", including {visible.omitted_count:,} whole arguments"
        if visible.omitted_count > 1
        else ""
    )
    of = ", including 1 whole argument" if visible.omitted_count == 1 else of
    are = "is" if visible.missing == 1 else "are"
    count = f"{visible.missing:,} of {visible.size:,} characters {are}"
    return [mrkdwn(f"✂ {count} not shown here{of}. Press *{SEE_LABEL}* before you decide.")]


def _argument_elements(head: list[Element], arguments: tuple[Argument, ...]) -> list[Element]:
    """Label and value on one line; long text and code in a box."""
    elements: list[Element] = []
    section = head if arguments else [*head, text_element("\nno arguments")]
    for argument in arguments:
        before = "\n" if section else ""
        section.append(text_element(f"{before}{argument.label}", bold=True))
        if argument.block:
            elements += [line(*section), pre(argument.value)]
            section = []
        else:
            section.append(text_element(f"  {argument.value}"))
    return [*elements, line(*section)] if section else elements
