"""One argument on the lines of a card, a page or a file. Pure."""

from __future__ import annotations

from ..spans import Code, Line, Span, Strong, Text, Verbatim, plain_text
from ..values import Argument


def argument_head(argument: Argument) -> Line:
    """Its label, with its value if that is short. A longer value has its own box below it. A label that an
    agent chose is code, so that it can't look like ours.
    """
    if argument.style == "line":
        return (*_label(argument), Verbatim(f"  {argument.value}"))
    return _label(argument)


def argument_plain_text(argument: Argument) -> str:
    """For a file: the value below its label."""
    return f"{plain_text(_label(argument))}\n{argument.value}"


def _label(argument: Argument) -> Line:
    spans: list[Span] = [Text(f"{argument.above}\n")] if argument.above else []
    spans.append(Strong(argument.label) if argument.is_declared else Code(argument.label))
    if argument.host:
        spans += [Text("  "), Strong(argument.host)]
    return tuple(spans)
