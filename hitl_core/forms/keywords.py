"""The keywords that say something of one value, each as a check. Their numbers are exact."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sized
from fractions import Fraction
from typing import Any, cast

from hitl_core.forms.budget import TextTooLong, TooMuchWork
from hitl_core.forms.formats import conforms, format_words
from hitl_core.forms.patterns import search
from hitl_core.forms.problem import Check, Problem, Problems, Run

_MAX_BITS = 8_192
_PLAIN = (bool, str, int, float, dict, list, type(None))
_MAX_TEXT = 10_000  # of what has a format

#: By type, the Python types that have it for certain.
CERTAIN: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "object": frozenset({dict}),
    "array": frozenset({list}),
    "null": frozenset({type(None)}),
}


def type_check(kinds: Any, draft: int) -> Check:
    names = cast("list[str]", [kinds] if isinstance(kinds, str) else kinds)
    certain = frozenset[type]().union(*(CERTAIN[name] for name in names))
    whole = "integer" in names and "number" not in names and draft > 4  # where 1.0 is one
    wrong = (Problem("type", kinds),)

    def check(value: Any, run: Run) -> Problems:
        if type(value) in certain or (whole and isinstance(value, float) and value.is_integer()):
            return ()
        return () if type(value) not in _PLAIN and _plain_type(value) in certain else wrong

    return check


def enum_check(values: list[Any], keyword: str = "enum") -> Check:
    wrong = (Problem(keyword, values[0] if keyword == "const" else values),)
    texts = frozenset(value for value in values if isinstance(value, str))
    allowed = frozenset(identity(value, Run()) for value in values if not isinstance(value, str))

    def check(value: Any, run: Run) -> Problems:
        if isinstance(value, str):
            return () if value in texts else wrong
        return () if allowed and identity(value, run) in allowed else wrong

    return check


def limit_check(keyword: str, limit: Any, holds: Callable[[Any, Any], bool]) -> Check:
    wrong = (Problem(keyword, limit),)

    def check(value: Any, run: Run) -> Problems:
        return wrong if _is_number(value) and not holds(value, limit) else ()

    return check


def size_check(keyword: str, limit: Any, of: type, holds: Callable[[Any, Any], bool]) -> Check:
    wrong = (Problem(keyword, int(limit)),)

    def check(value: Any, run: Run) -> Problems:
        return wrong if isinstance(value, of) and not holds(len(cast(Sized, value)), limit) else ()

    return check


def multiple_check(step: Any) -> Check:
    whole = Fraction(str(step)) if isinstance(step, float) else Fraction(step)
    wrong = (Problem("multipleOf", step, message=f"must be a multiple of {_short(step)}"),)

    def check(value: Any, run: Run) -> Problems:
        if isinstance(value, int) and not isinstance(value, bool):
            if value.bit_length() > _MAX_BITS:
                raise TooMuchWork("a number has too many digits to be checked")
            run.spend(4 + value.bit_length() // 64)
            return wrong if value % whole else ()
        if isinstance(value, float):
            run.spend(16)
            return wrong if Fraction(str(value)) % whole else ()
        return ()

    return check


def pattern_check(pattern: str) -> Check:
    wrong = (Problem("pattern", pattern, message=f"must match the pattern {pattern}"),)

    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, str):
            return ()
        try:
            return () if search(pattern, value, run) else wrong
        except TextTooLong as error:
            return too_long(error, run)

    return check


def format_check(name: str) -> Check | None:
    words = format_words(name)
    if words is None:
        return None
    wrong = (Problem("format", name, message=f"is not a valid {words.split(' ', 1)[1]}"),)

    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, str):
            return ()
        if len(value) > _MAX_TEXT:
            return too_long(
                TextTooLong(f"is too long ({len(value):,} characters) to be checked"), run
            )
        run.spend(4 + len(value) // 16)
        return () if conforms(name, value) else wrong

    return check


def too_long(error: TextTooLong, run: Run) -> Problems:
    """A text that can't be checked is wrong. But who asks whether a schema is met must not take it for a no,
    and where nothing is left nothing else can be checked either."""
    if run.strict or run.left < 0:
        raise error
    run.unsure = str(error)
    return (Problem("pattern", message=str(error)),)


def required_check(names: list[str]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        run.spend(len(names) // 8)
        missing = [name for name in names if name not in value]
        return [Problem("required", names, (name,), "is required") for name in missing]

    return check


def needs_check(needs: dict[str, list[str]]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        held, found = cast("dict[str, Any]", value), list[Problem]()
        for given, names in needs.items():
            run.spend(1)
            if given in held:
                run.spend(len(names))
                words = f"is required when {given} is given"
                found += [Problem("required", names, (n,), words) for n in names if n not in held]
        return found

    return check


def unique_check(value: Any, run: Run) -> Problems:
    if not isinstance(value, list):
        return ()
    seen: dict[Hashable, int] = {}
    for index, item in enumerate(cast("list[object]", value)):
        first = seen.setdefault(identity(item, run), index)
        if first != index:
            words = f"is the same as number {first + 1}"
            return (Problem("uniqueItems", True, (index,), words),)
    run.spend(len(seen))
    return ()


def identity(value: object, run: Run | None = None, depth: int = 1) -> Hashable:
    """Equal exactly for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    if not isinstance(value, dict | list):
        return (isinstance(value, bool), cast(Hashable, value))
    if run is not None:  # what is built here is hashed once more by everything around it
        run.spend((8 + len(cast("list[object]", value))) * (1 + depth // 8))
    if isinstance(value, list):
        return tuple([identity(item, run, depth + 1) for item in cast("list[object]", value)])
    items = cast("dict[str, object]", value).items()
    return frozenset([(name, identity(item, run, depth + 1)) for name, item in items])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain_type(value: object) -> type | None:
    """Of an agent's own class, such as a `StrEnum`: what JSON makes of it."""
    return next((kind for kind in _PLAIN if isinstance(value, kind)), None)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
