"""What was decided and changed, on a card and in its thread. Pure."""

from __future__ import annotations

from typing import Any, assert_never

from bot.card import Closed, Edit, ThreadLine, quoted
from bot.channels.slack.lines import SIGNS
from bot.channels.slack.mentions import Names, crowd, listed, who, whos
from bot.channels.slack.rich import Block, Element, inert, line, rich_text, size, words

#: Who it was where it was no person: of a decision, and of a cancellation.
_NOBODY = ("the policy, as nobody decided in time", "the agent")
MAX_EDITS = 3


def closed(items: tuple[Closed, ...], room: int) -> Block:
    """As many as there is room for, the first ones; the others are counted."""
    sections: list[Element] = []
    for number, item in enumerate(items):
        drawn = line(*_closed(item, items[number - 1] if number else None))
        if size([rich_text("closed", *sections, drawn)]) > room:
            sections.append(line(words(f"and {len(items) - number} more")))
            break
        sections.append(drawn)
    return rich_text("closed", *sections)


def edits(key: str, done: tuple[Edit, ...]) -> list[Block]:
    """The newest ones, old → new, on what still waits."""
    if not done:
        return []
    earlier = len(done) - MAX_EDITS
    sections = [line(words(f"✎ {earlier} earlier edits", italic=True))] if earlier > 0 else []
    for edit in done[-MAX_EDITS:]:
        sections.append(line(words("✎ edited by "), who(edit.by), *_changed(edit)))
    return [rich_text(f"edits:{key}", *sections)]


def thread_message(told: ThreadLine, names: Names) -> dict[str, Any]:
    """One reply in the card's thread: `text` and `blocks`."""
    return {
        "text": inert(_sentence(told, names)),
        "blocks": [rich_text("told", line(*_told(told, names)))],
    }


def _told(told: ThreadLine, names: Names) -> list[Element]:
    tools = words(listed(told.names), bold=True)
    by = whos(told.by)
    why = [words(f": {quoted(told.why)}")] if told.why else []
    match told.kind:
        case "edited":
            changed = _changed(told.edit) if told.edit else []
            return [words("✎ "), tools, words("  edited by "), *by, *changed]
        case "rejected":
            return [words("✖ "), tools, words("  rejected by "), *(by or [words(_NOBODY[0])]), *why]
        case "reminded":
            if not told.people:
                return [words("⏰ "), tools, words("  was due for a reminder, and is decided")]
            wait = "waits" if len(told.names) == 1 else "wait"
            return [words("⏰ "), tools, words(f"  still {wait} for "), *crowd(told.people, names)]
        case "escalated":
            told_by = [words(" by "), *by] if by else [words(f", {_reason(told)}")]
            where = words(_named(told, names), bold=True)
            return [words("↗ "), tools, words("  passed on to "), where, *told_by, *why]
    assert_never(told.kind)


def _sentence(told: ThreadLine, names: Names) -> str:
    """The same for notifications and screen readers."""
    tools, by = listed(told.names), listed(one.name for one in told.by)
    match told.kind:
        case "edited":
            return f"{tools} was edited by {by}."
        case "rejected":
            return (
                f"{tools} was rejected by {by or _NOBODY[0]}{f': {told.why}' if told.why else '.'}"
            )
        case "reminded":
            return f"{tools} still {'waits' if len(told.names) == 1 else 'wait'} for a decision."
        case "escalated":
            return f"{tools} was passed on to {_named(told, names)}{f' by {by}' if by else ''}."
    assert_never(told.kind)


def _named(told: ThreadLine, names: Names) -> str:
    return names(told.to) if told.to else "others"


def _reason(told: ThreadLine) -> str:
    if told.fallback:
        return "as it could not be shown where it should"
    return "as nobody decided in time"


def _closed(item: Closed, before: Closed | None) -> list[Element]:
    """One quiet line: a sign and the words, since a sign alone says nothing to a screen reader. Why all of it
    was cancelled is told once.
    """
    if item.type == "allow":
        drawn = [words(item.name, bold=True), words("  allowed by the policy")]
    else:
        drawn = _decided(item)
    is_told = before is not None and item.type == before.type == "cancel"
    if item.message and not is_told:
        drawn.append(words(f": {quoted(item.message)}"))
    for edit in item.edits:
        if len(item.edits) > 1:
            drawn += [words("\nby "), who(edit.by)]
        drawn += _changed(edit)
    if item.result:
        drawn.append(words(f"\n→ {item.result}"))
        if item.result_by:
            drawn += [words(", says "), who(item.result_by)]
    return drawn


def _decided(item: Closed) -> list[Element]:
    sign, verb = SIGNS[item.type]
    number = f"{item.number}  " if item.number is not None else ""
    drawn = [words(f"{sign} {number}{item.name}", bold=True)]
    if item.which:
        drawn.append(words(f"  {quoted(item.which)}"))
    if item.type == "moved":
        return [*drawn, words(f"  {verb} "), *whos(item.by)]
    editors = list({edit.by.key: edit.by for edit in item.edits}.values())
    if item.type == "edit" and editors and [one.key for one in editors] != [b.key for b in item.by]:
        drawn += [words("  edited by "), *whos(editors), words(", approved by ")]
    else:
        drawn.append(words(f"  {verb} "))
    return [*drawn, *(whos(item.by) or [words(_NOBODY[item.type == "cancel"])])]


def _changed(edit: Edit) -> list[Element]:
    drawn: list[Element] = []
    for change in edit.changes:
        drawn.append(words(f"\n{change.label}", bold=True))
        if change.old is not None:
            drawn += [words("  "), words(change.old, strike=True)]
        drawn.append(words(f" → {'removed' if change.new is None else change.new}"))
    if edit.more_changes:
        drawn.append(words(f"\nand {edit.more_changes} more changes"))
    if edit.falls:
        drawn.append(words(f"\n{edit.falls}", italic=True))
    return drawn
