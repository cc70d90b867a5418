"""Values that people never see, though what they approve covers them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

#: What stands where such a value would. No text can forge it: ⟦ and ⟧ in a text become marks themselves.
HIDDEN = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can hold; `text.visible` makes a mark of it.
_STAND_IN = "\ud800"
_MARK = "⟦U+D800⟧"


def pointers(redact: Iterable[str], schema: dict[str, Any] | None) -> frozenset[str]:
    """JSON pointers (RFC 6901) to what nobody is shown: what the policy says, and what the schema calls
    write-only or a password.
    """
    return frozenset([*redact, *_secret(schema, "")])


def hide(args: dict[str, Any], pointers: Iterable[str]) -> dict[str, Any]:
    """The same arguments with stand-ins, that `shown` knows."""
    for pointer in pointers:
        path = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        args = _hide(args, path) if path else dict.fromkeys(args, _STAND_IN)
    return args


def shown(visible: str) -> str:
    """Visible text with HIDDEN where a stand-in is."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN).replace(_MARK, HIDDEN)


def dropped(raw: str) -> str:
    return raw.replace(_STAND_IN, "")


def without(said: str, args: dict[str, Any], pointers: Iterable[str]) -> str:
    """A sentence about a call that may quote what nobody is to see."""
    for pointer in pointers:
        value: Any = args
        for part in pointer.split("/")[1:]:
            value = _part(value, part.replace("~1", "/").replace("~0", "~"))
        if isinstance(value, str | int | float) and len(secret := str(value)) > 3:
            said = said.replace(secret, "…")
    return said


def _secret(schema: object, at: str) -> Iterator[str]:
    properties = _part(schema, "properties")
    for key, sub in (
        cast("dict[str, Any]", properties).items() if isinstance(properties, dict) else ()
    ):
        pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
        if _part(sub, "writeOnly") is True or _part(sub, "format") == "password":
            yield pointer
        else:
            yield from _secret(sub, pointer)


def _hide(value: Any, path: list[str]) -> Any:
    if not path:
        return _STAND_IN
    head, *rest = path
    if isinstance(value, dict) and head in value:
        known = cast("dict[str, Any]", value)
        return {**known, head: _hide(known[head], rest)}
    if isinstance(value, list):
        items = list(cast("list[Any]", value))
        if (at := _at(head, items)) is not None:
            items[at] = _hide(items[at], rest)
        return items
    return cast(Any, value)


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
