"""Values that people never see, though what they approve covers them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, cast

from hitl_core.forms import hidden_in, masked_args

#: Names and positions, from the arguments to a value in them.
Way = tuple[str, ...]
#: What stands where such a value would. No text can forge it: ⟦ and ⟧ in a text become marks themselves.
HIDDEN = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can hold; `text.visible` makes a mark of it.
_STAND_IN = "\ud800"
_MARK = "⟦U+D800⟧"


def hide(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> dict[str, Any]:
    """The same arguments with stand-ins, that `shown` knows, for what the policy hides, and what the schema
    calls write-only or a password.
    """
    return masked_args(args, hidden_in(schema, args, redact), _STAND_IN)


def shown(visible: str) -> str:
    """Visible text with HIDDEN where a stand-in is."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN).replace(_MARK, HIDDEN)


def dropped(raw: str) -> str:
    return raw.replace(_STAND_IN, "")


def leaves(args: dict[str, Any], ways: Iterable[Way]) -> Iterator[str]:
    """The texts and numbers that stand at these ways."""
    for way in ways:
        value: Any = args
        for part in way:
            value = _part(value, part)
        yield from _leaves(value)


def without(said: str, secrets: Iterable[str]) -> str:
    """A sentence about a call that may quote what nobody is to see."""
    for secret in secrets:
        if len(secret) > 3:
            said = said.replace(secret, "…")
    return said


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _leaves(item)
    elif isinstance(value, str | int | float):
        yield str(value)


def _part(value: object, name: str) -> Any:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        at = _at(name, items)
        return None if at is None else items[at]
    return None


def _at(part: str, items: list[Any]) -> int | None:
    at = int(part) if part.isdecimal() and len(part) < 7 else len(items)
    return at if at < len(items) else None
