"""Decisions and edits, on a card and in its thread. Pure."""

from __future__ import annotations

from typing import Any, assert_never

from ....card import DecisionLine, Edit, ThreadLine, quote
from ....text import one_line
from .block_kit import (
    Block,
    Element,
    line,
    make_inert,
    rich_text,
    text_element,
    text_size,
)
from .card_lines import DECISION_LABELS
from .mentions import (
    Names,
    join_names,
    people_elements,
    reviewer_element,
    reviewer_elements,
)

#: Who decided and who cancelled, if it was not a person.
_NO_PERSON = ("the policy, because nobody decided in time", "the agent")
MAX_EDITS = 3


def decision_block(items: tuple[DecisionLine, ...], room: int) -> Block:
    """The first ones that fit, then how many more there are."""
    sections: list[Element] = []
    for number, item in enumerate(items):
        section = line(*_outcome_elements(item, items[number - 1] if number else None))
        if text_size([rich_text("closed", *sections, section)]) > room:
            sections.append(line(text_element(f"and {len(items) - number} more")))
            break
        sections.append(section)
    return rich_text("closed", *sections)


def edit_blocks(key: str, all_edits: tuple[Edit, ...]) -> list[Block]:
    """The newest edits of a pending action, old → new."""
    if not all_edits:
        return []
    earlier = len(all_edits) - MAX_EDITS
    sections = (
        [line(text_element(f"✎ {earlier} earlier edits", italic=True))] if earlier > 0 else []
    )
    for edit in all_edits[-MAX_EDITS:]:
        sections.append(
            line(text_element("✎ edited by "), reviewer_element(edit.by), *_change_elements(edit))
        )
    return [rich_text(f"edits:{key}", *sections)]


def thread_message(thread_line: ThreadLine, names: Names) -> dict[str, Any]:
    """One reply in the card's thread: `text` and `blocks`."""
    return {
        "text": make_inert(_thread_line_text(thread_line, names)),
        "blocks": [rich_text("told", line(*_thread_line_elements(thread_line, names)))],
    }


def _thread_line_elements(thread_line: ThreadLine, names: Names) -> list[Element]:
    tools = text_element(join_names(thread_line.names), bold=True)
    by = reviewer_elements(thread_line.by)
    why = [text_element(f": {quote(thread_line.why)}")] if thread_line.why else []
    match thread_line.kind:
        case "edited":
            changes = _change_elements(thread_line.edit) if thread_line.edit else []
            return [text_element("✎ "), tools, text_element("  edited by "), *by, *changes]
        case "rejected":
            return [
                text_element("✖ "),
                tools,
                text_element("  rejected by "),
                *(by or [text_element(_NO_PERSON[0])]),
                *why,
            ]
        case "reminded":
            if not thread_line.people:
                return [
                    text_element("⏰ "),
                    tools,
                    text_element("  was due for a reminder, but is already decided"),
                ]
            wait = "waits" if len(thread_line.names) == 1 else "wait"
            return [
                text_element("⏰ "),
                tools,
                text_element(f"  still {wait} for "),
                *people_elements(thread_line.people, names),
            ]
        case "escalated":
            by_elements = (
                [text_element(" by "), *by]
                if by
                else [text_element(f", {_escalation_reason(thread_line)}")]
            )
            where = text_element(_place_name(thread_line, names), bold=True)
            return [
                text_element("↗ "),
                tools,
                text_element("  escalated to "),
                where,
                *by_elements,
                *why,
            ]
    assert_never(thread_line.kind)


def _thread_line_text(thread_line: ThreadLine, names: Names) -> str:
    """The same as plain text, for notifications and screen readers."""
    tools, by = (
        join_names(thread_line.names),
        join_names(one_line(one.label) for one in thread_line.by),
    )
    match thread_line.kind:
        case "edited":
            return f"{tools} was edited by {by}."
        case "rejected":
            reason = f": {quote(thread_line.why)}" if thread_line.why else "."
            return f"{tools} was rejected by {by or _NO_PERSON[0]}{reason}"
        case "reminded":
            return f"{tools} still {'waits' if len(thread_line.names) == 1 else 'wait'} for a decision."
        case "escalated":
            return f"{tools} was escalated to {_place_name(thread_line, names)}{f' by {by}' if by else ''}."
    assert_never(thread_line.kind)


def _place_name(thread_line: ThreadLine, names: Names) -> str:
    return names(thread_line.to) if thread_line.to else "others"


def _escalation_reason(thread_line: ThreadLine) -> str:
    if thread_line.fallback:
        return "because it can't be decided at its own place"
    if thread_line.why:
        return "because nobody was left who may decide"
    return "because nobody decided in time"


def _outcome_elements(item: DecisionLine, previous: DecisionLine | None) -> list[Element]:
    """One small line: a sign and the words for it. The reason of a cancellation is shown once."""
    if item.type == "allow":
        elements = [text_element(item.name, bold=True), text_element("  allowed by the policy")]
    else:
        elements = _decision_elements(item)
    is_repeated = previous is not None and item.type == previous.type == "cancel"
    if item.message and not is_repeated:
        elements.append(text_element(f": {quote(item.message)}"))
    for edit in item.edits:
        if len(item.edits) > 1:
            elements += [text_element("\nby "), reviewer_element(edit.by)]
        elements += _change_elements(edit)
    if item.result:
        elements.append(text_element(f"\n→ {item.result}"))
        if item.result_by:
            elements += [text_element(", according to "), reviewer_element(item.result_by)]
    return elements


def _decision_elements(item: DecisionLine) -> list[Element]:
    sign, verb = DECISION_LABELS[item.type]
    number = f"{item.number}  " if item.number is not None else ""
    elements = [text_element(f"{sign} {number}{item.name}", bold=True)]
    if item.distinct_argument:
        elements.append(text_element(f"  {quote(item.distinct_argument)}"))
    if item.type == "moved":
        return [*elements, text_element(f"  {verb} "), *reviewer_elements(item.by)]
    editors = list({edit.by.key: edit.by for edit in item.edits}.values())
    if item.type == "edit" and editors and [one.key for one in editors] != [b.key for b in item.by]:
        elements += [
            text_element("  edited by "),
            *reviewer_elements(editors),
            text_element(", approved by "),
        ]
    else:
        elements.append(text_element(f"  {verb} "))
    return [
        *elements,
        *(reviewer_elements(item.by) or [text_element(_NO_PERSON[item.type == "cancel"])]),
    ]


def _change_elements(edit: Edit) -> list[Element]:
    elements: list[Element] = []
    for change in edit.changes:
        elements.append(text_element(f"\n{change.label}", bold=True))
        if change.old is not None:
            elements += [text_element("  "), text_element(change.old, strike=True)]
        elements.append(text_element(f" → {'removed' if change.new is None else change.new}"))
    if edit.more_changes:
        elements.append(text_element(f"\nand {edit.more_changes} more changes"))
    if edit.new_rule:
        elements.append(text_element(f"\n{edit.new_rule}", italic=True))
    return elements
