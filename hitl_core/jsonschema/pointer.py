"""JSON pointers (RFC 6901), and paths for people."""

from __future__ import annotations

from collections.abc import Iterable


def to_pointer(parts: Iterable[object]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def child_pointers(pointer: str, names: Iterable[str]) -> list[str]:
    """The pointers to these properties of the object at `pointer`."""
    return [pointer + to_pointer([name]) for name in names]


def parse_pointer(text: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def format_path(text: str) -> str:
    """`/lines/0/qty` as `lines[0].qty`."""
    words = ""
    for part in parse_pointer(text):
        if part.isdigit():
            words += f"[{part}]"
        else:
            words += f".{part}" if words else part
    return words
