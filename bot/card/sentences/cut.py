"""What is not shown of a call's arguments. Pure."""

from __future__ import annotations

from ..buttons import SEE_LABEL
from ..spans import Line, Quote, Span, Strong, Text, join_lines
from ..values import ArgumentsExcerpt

#: The labels in one list.
MAX_NAMED = 8


def excerpt_notes(excerpt: ArgumentsExcerpt, before: str = "") -> list[Line]:
    """What is hidden, and what is cut. `before`: to what the person should open all of it."""
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
