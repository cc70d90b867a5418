"""Splits all arguments of a call into pages. A channel draws the parts, and says how large they are. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ...card import (
    CONTINUED,
    LONG_NAME,
    LONG_NAME_VALUE,
    PAGE_SIZE,
    Argument,
    Line,
    argument_head,
    plain_text,
    warning_lines,
)

E = TypeVar("E")

#: A longer name is shown in its own box.
MAX_LABEL = 200


@dataclass(frozen=True)
class PartDrawing(Generic[E]):
    """How a channel draws the parts of a page: `line` a line of text, `boxes` a long text in boxes, each with
    its characters. `size`: of a part, in the channel's own unit. `max_size`, `max_parts`: the most of a page.
    """

    line: Callable[[Line], E]
    boxes: Callable[[Argument, str], Iterable[tuple[E, int]]]
    size: Callable[[E], int]
    max_size: int
    max_parts: float = math.inf


@dataclass(frozen=True)
class _Part(Generic[E]):
    """`continues`: the argument whose name a new page must repeat above this part; None if it need not."""

    drawn: E
    length: int
    continues: Argument | None = None
    is_line: bool = False


def split_parts(arguments: Sequence[Argument], drawing: PartDrawing[E]) -> list[list[E]]:
    """The parts of each page."""
    pages: list[list[E]] = [[]]
    size = characters = 0
    ends_with_line = False
    for part in _parts(arguments, drawing):
        part_size = drawing.size(part.drawn)
        size += part_size
        characters += part.length
        is_full = (
            size > drawing.max_size or characters > PAGE_SIZE or len(pages[-1]) >= drawing.max_parts
        )
        if pages[-1] and is_full:
            head: list[E] = []
            if part.continues is not None and ends_with_line:  # only the name was left there
                head = [pages[-1].pop()]
            elif part.continues is not None:
                head = [drawing.line((*argument_head(part.continues), CONTINUED))]
            pages.append(head)
            size, characters = sum(map(drawing.size, head)) + part_size, part.length
        pages[-1].append(part.drawn)
        ends_with_line = part.is_line
    return pages


def _parts(arguments: Iterable[Argument], drawing: PartDrawing[E]) -> Iterator[_Part[E]]:
    def line(spans: Line) -> _Part[E]:
        return _Part(drawing.line(spans), len(plain_text(spans)), is_line=True)

    for argument in arguments:
        if len(argument.label) > MAX_LABEL:
            yield from map(line, (*warning_lines(argument.warnings), LONG_NAME))
            named = replace(argument, style="code")
            yield from (_Part(*box) for box in drawing.boxes(named, argument.label))
            yield line(LONG_NAME_VALUE)
            yield from (_Part(*box) for box in drawing.boxes(argument, argument.value))
        else:
            yield line(argument_head(argument))
            if argument.style != "line":
                for box in drawing.boxes(argument, argument.value):
                    yield _Part(*box, continues=argument)
