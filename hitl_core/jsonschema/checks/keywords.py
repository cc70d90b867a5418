"""The keywords about one value without schemas inside (`type`, `enum`, `pattern`, …), each compiled to a
check.

Numbers are compared exactly, without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Sized
from fractions import Fraction
from typing import Any, cast

from hitl_core.jsonschema.checks.problem import Check, CheckState, Problem, Problems
from hitl_core.jsonschema.errors import Together
from hitl_core.jsonschema.formats import format_name, is_valid_format
from hitl_core.jsonschema.limits import TextTooLong, TooMuchWork
from hitl_core.jsonschema.patterns import search
from hitl_core.model import is_number

_MAX_BITS = 8_192
_JSON_TYPES = (bool, str, int, float, dict, list, type(None))
_MAX_TEXT = 10_000  # characters of a text with a format

#: For each JSON type, the Python types whose values always have it.
_PYTHON_TYPES: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "object": frozenset({dict}),
    "array": frozenset({list}),
    "null": frozenset({type(None)}),
}


def accepted_types(kinds: Any) -> frozenset[type]:
    """The Python types whose values always have one of these JSON types."""
    names = cast("list[str]", [kinds] if isinstance(kinds, str) else kinds)
    return frozenset[type]().union(*(_PYTHON_TYPES[name] for name in names))


def make_type_check(kinds: Any, draft: int) -> Check:
    accepted = accepted_types(kinds)
    # From draft 6 on, 1.0 is an integer.
    whole = int in accepted and float not in accepted and draft > 4
    wrong = (Problem("type", kinds),)

    def check(value: Any, state: CheckState) -> Problems:
        if type(value) in accepted or (whole and isinstance(value, float) and value.is_integer()):
            return ()
        return () if type(value) not in _JSON_TYPES and _json_type(value) in accepted else wrong

    return check


def make_enum_check(values: list[Any], keyword: str = "enum") -> Check:
    wrong = (Problem(keyword, values[0] if keyword == "const" else values),)
    texts = frozenset(value for value in values if isinstance(value, str))
    allowed = frozenset(
        equality_key(value, CheckState()) for value in values if not isinstance(value, str)
    )

    def check(value: Any, state: CheckState) -> Problems:
        if isinstance(value, str):
            return () if value in texts else wrong
        return () if allowed and equality_key(value, state) in allowed else wrong

    return check


def make_limit_check(keyword: str, limit: Any, holds: Callable[[Any, Any], bool]) -> Check:
    wrong = (Problem(keyword, limit),)

    def check(value: Any, state: CheckState) -> Problems:
        return wrong if is_number(value) and not holds(value, limit) else ()

    return check


def make_size_check(
    keyword: str, limit: Any, value_type: type, holds: Callable[[Any, Any], bool]
) -> Check:
    wrong = (Problem(keyword, int(limit)),)

    def check(value: Any, state: CheckState) -> Problems:
        return (
            wrong
            if isinstance(value, value_type) and not holds(len(cast(Sized, value)), limit)
            else ()
        )

    return check


def make_multiple_check(step: Any) -> Check:
    whole = Fraction(str(step)) if isinstance(step, float) else Fraction(step)
    wrong = (Problem("multipleOf", step, message=f"must be a multiple of {_shorten(step)}"),)

    def check(value: Any, state: CheckState) -> Problems:
        if isinstance(value, int) and not isinstance(value, bool):
            if value.bit_length() > _MAX_BITS:
                raise TooMuchWork("a number has too many digits to be checked")
            state.spend(4 + value.bit_length() // 64)
            return wrong if value % whole else ()
        if isinstance(value, float):
            state.spend(16)
            return wrong if Fraction(str(value)) % whole else ()
        return ()

    return check


def make_pattern_check(pattern: str) -> Check:
    wrong = (Problem("pattern", pattern, message=f"must match the pattern {pattern}"),)

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, str):
            return ()
        try:
            return () if search(pattern, value, state) else wrong
        except TextTooLong as error:
            return report_too_long(error, state)

    return check


def make_format_check(name: str) -> Check | None:
    words = format_name(name)
    if words is None:
        return None
    wrong = (Problem("format", name, message=f"is not a valid {words.split(' ', 1)[1]}"),)

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, str):
            return ()
        if len(value) > _MAX_TEXT:
            return report_too_long(
                TextTooLong(f"is too long ({len(value):,} characters) to be checked"), state
            )
        state.spend(4 + len(value) // 16)
        return () if is_valid_format(name, value) else wrong

    return check


def report_too_long(error: TextTooLong, state: CheckState) -> Problems:
    """Report a text that is too long to check as wrong. Raises the error in two cases: in strict mode,
    because there "wrong" could be false, and if no budget is left for other checks.
    """
    if state.strict or state.left < 0:
        raise error
    state.unsure = str(error)
    return (Problem("pattern", message=str(error)),)


def make_required_check(names: list[str]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        state.spend(len(names) // 8)
        missing = [name for name in names if name not in value]
        return [Problem("required", names, (name,), "is required") for name in missing]

    return check


def make_dependent_required_check(needs: dict[str, list[str]]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        held, problems = cast("dict[str, Any]", value), list[Problem]()
        for trigger, names in needs.items():
            state.spend(1)
            if trigger in held:
                state.spend(len(names))
                words = f"is required when {trigger} is given"
                by = Together((trigger,), "needed_by")
                problems += [
                    Problem("required", names, (n,), words, together=by)
                    for n in names
                    if n not in held
                ]
        return problems

    return check


def check_unique(value: Any, state: CheckState) -> Problems:
    if not isinstance(value, list):
        return ()
    seen: dict[Hashable, int] = {}
    for index, item in enumerate(cast("list[object]", value)):
        first = seen.setdefault(equality_key(item, state), index)
        if first != index:
            words = f"is the same as number {first + 1}"
            return (Problem("uniqueItems", True, (index,), words),)
    state.spend(len(seen))
    return ()


def equality_key(value: object, state: CheckState | None = None, depth: int = 1) -> Hashable:
    """A key for comparing values: two keys are equal if JSON Schema calls the values equal. 1 and 1.0 are
    equal, 1 and true are not.
    """
    if not isinstance(value, dict | list):
        return (isinstance(value, bool), cast(Hashable, value))
    if state is not None:  # each outer list or object hashes the inner keys again
        state.spend((8 + len(cast("list[object]", value))) * (1 + depth // 8))
    if isinstance(value, list):
        return tuple([equality_key(item, state, depth + 1) for item in cast("list[object]", value)])
    items = cast("dict[str, object]", value).items()
    return frozenset([(name, equality_key(item, state, depth + 1)) for name, item in items])


def find_equal(values: Sequence[object], value: object) -> int | None:
    """The index of the first of the values that is equal (see `equality_key`); None if none is."""
    known = equality_key(value)
    return next((at for at, other in enumerate(values) if equality_key(other) == known), None)


def _json_type(value: object) -> type | None:
    """The JSON type of a value whose Python type is a subclass, such as a `StrEnum` of the agent."""
    return next((kind for kind in _JSON_TYPES if isinstance(value, kind)), None)


def _shorten(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
