"""JSON Schema validation whose work is bounded: every keyword pays before it runs.

A small schema can ask for hours of work (nested anyOf, `{"$ref": "#"}`, uniqueItems over
thousands of objects), and an event loop has none to spare. So the work is counted, not timed: the
same schema and arguments get the same answer on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from jsonschema import FormatChecker, ValidationError

from hitl_core.forms.patterns import match_steps

STEPS = 6_000  # one step is a keyword looked at once: some microseconds
MAX_DEPTH = 100  # of the arguments, and of the schema's keywords in each other
_MAX_BITS = 8_192
_TEXT_STEPS = 2_000  # so many steps of a regular expression cost as much as one of ours
_REPR_NODES = 64  # so many values are described (in an error) in the time of one step

Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]


class TooMuchWork(Exception):
    """The text is a sentence: what is too large, too deep or too slow to be checked."""


class TextTooLong(TooMuchWork):
    """A text that its pattern can't be tried on; the message reads after the name of its field."""


class Meter(FormatChecker):
    """What one validation may still cost. A format checker, because a validator hands its own to
    every validator that it makes for a part of the schema, and so this reaches all of them.

    `strict`: a text that is too long to be checked is no error of its field, it ends the validation. Who asks
    whether a schema is met must not take "can't be checked" for "no".
    """

    def __init__(self, value: object, *, strict: bool = False) -> None:
        super().__init__(formats=())
        self.strict = strict
        self.left = STEPS
        self.depth = 0
        self.sizes: dict[int, int] = {}
        self._measure(value)

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the arguments and their schema are too large to be checked")

    def search(self, pattern: str, text: str) -> bool:
        """`re.search`, paid. Raises TextTooLong when this text alone would cost too much."""
        steps = match_steps(pattern, len(text)) // _TEXT_STEPS
        if steps > STEPS // 2:
            raise TextTooLong(f"is too long ({len(text):,} characters) to be checked")
        self.spend(steps)
        return re.search(pattern, text) is not None

    def _measure(self, value: object, depth: int = 0) -> int:
        """How many values each object and list holds, by identity; refuses what is too deep."""
        if depth > MAX_DEPTH:
            raise TooMuchWork(f"the arguments are nested deeper than {MAX_DEPTH} levels")
        total = 1
        for child in _children(value):
            kind = type(child)
            if kind is dict or kind is list:
                total += self.sizes.get(id(child)) or self._measure(child, depth + 1)
            elif kind is str:
                total += 1 + len(cast(str, child)) // 50
            else:
                total += 1
                if isinstance(child, int) and child.bit_length() > _MAX_BITS:
                    raise TooMuchWork("a number has too many digits to be checked")
        self.sizes[id(value)] = total
        return total

    def size(self, value: object) -> int:
        if isinstance(value, str):
            return 1 + len(value) // 50
        return self.sizes.get(id(value), 1)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def metered(check: Keyword) -> Keyword:
    """The keyword, paying for itself, for the errors it may describe, and for its depth."""

    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        meter: Meter = validator.format_checker
        width = len(cast("list[Any]", value)) if isinstance(value, dict | list) else 0
        described = meter.size(instance) // _REPR_NODES
        meter.spend(1 + width // 4 + meter.depth // 10)
        if isinstance(value, list) and False in value:  # each `false` describes the whole instance
            meter.spend(width * described)
        meter.depth += 1
        if meter.depth > MAX_DEPTH:
            raise TooMuchWork("the schema is nested too deeply to be checked")
        try:
            for error in check(validator, value, instance, schema) or ():
                meter.spend(described)
                yield error
        finally:
            meter.depth -= 1

    return run
