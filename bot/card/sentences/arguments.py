"""The arguments of a call as lines of a card, a page or a file, and what is not shown of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..buttons import SEE_LABEL
from ..model import (
    Argument,
    ArgumentsExcerpt,
    Code,
    Line,
    Quote,
    Span,
    Strong,
    Text,
    Verbatim,
    join_lines,
    plain_text,
)

#: The most labels in one list.
MAX_NAMED = 8


def argument_head(argument: Argument) -> Line:
    """The argument's label, with its value if that is short. A longer value has its own box below it. A label
    that an agent chose is shown as code, so that it can't look like ours.
    """
    if argument.style == "line":
        return (*_label(argument), Verbatim(f"  {argument.value}"))
    return _label(argument)


def argument_heads(arguments: Iterable[Argument]) -> list[tuple[Line, Argument]]:
    """Each argument with its head."""
    return [(argument_head(one), one) for one in arguments]


def argument_plain_text(argument: Argument) -> str:
    """The argument in a file: the value below its label."""
    return f"{plain_text(_label(argument))}\n{argument.value}"


def warning_lines(warnings: Iterable[Line]) -> tuple[Line, ...]:
    """Each warning with its sign."""
    return tuple((Strong("⚠ "), *one) for one in warnings)


def _label(argument: Argument) -> Line:
    """The label, below our own line about the argument."""
    spans: list[Span] = [Text(f"{argument.above}\n")] if argument.above else []
    spans += [span for one in warning_lines(argument.warnings) for span in (*one, Text("\n"))]
    spans.append(Strong(argument.label) if argument.is_declared else Code(argument.label))
    if argument.host:
        spans += [Text("  "), Strong(argument.host)]
    return tuple(spans)


def excerpt_notes(excerpt: ArgumentsExcerpt, before: str = "") -> list[Line]:
    """Notes about hidden and cut values. `before`: for what the person should first open all of it."""
    notes: list[Line] = []
    if excerpt.has_hidden:
        notes.append((Text("⟦hidden⟧ values are shown to nobody. An approval covers them too."),))
    if excerpt.missing:
        notes.append(_cut_line(excerpt))
        if before:
            notes.append((Text("Press "), Strong(SEE_LABEL), Text(f" {before}.")))
    return notes


def _cut_line(excerpt: ArgumentsExcerpt) -> Line:
    """`✂ Not shown here: “bcc”, “to”, and parts of “body” (120 of 3,000 characters).`"""
    parts: list[Line] = []
    if omitted := excerpt.omitted_count:
        names: list[Line] = [(Quote(label),) for label in excerpt.omitted]
        if more := omitted - len(names):
            names.append((Text(f"{more:,} more argument{'s' * (more != 1)}"),))
        parts.append(join_lines(names, most=MAX_NAMED + 1))
    if excerpt.cut:
        cut: list[Line] = [(Quote(label),) for label in excerpt.cut]
        parts.append((Text("parts of "), *join_lines(cut, most=MAX_NAMED)))
    spans: list[Span] = [Text("✂ Not shown here: ")]
    for at, part in enumerate(parts):
        spans += [Text(", and "), *part] if at else part
    missing, size = f"{excerpt.missing:,}", f"{excerpt.size:,}"
    return (*spans, Text(f" ({missing} of {size} characters)."))
