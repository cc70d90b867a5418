"""A form as a body (application/x-www-form-urlencoded) → its fields."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

#: Characters that are decoded at once. `parse_qsl` decodes a field in one go: over 1 MiB of escapes it keeps
#: every other thread from Python's lock for 40 ms.
PIECE = 16 * 1024


def read_form(text: str, most: int) -> dict[str, str]:
    """The fields by name, the last one where a name comes twice. Raises ValueError for more than `most`."""
    if text.count("&") >= most:
        raise ValueError(f"more than {most} fields")
    pairs = (each.partition("=") for each in text.split("&") if each)
    return {_decoded(name): _decoded(value) for name, _, value in pairs}


def _decoded(text: str) -> str:
    """A piece at a time, of which none ends within an escape."""
    found, start = bytearray(), 0
    while start < len(text):
        end = start + PIECE
        escape = text.rfind("%", end - 2, end)
        end = escape if escape >= 0 else end
        found += unquote_to_bytes(text[start:end].replace("+", " "))
        start = end
    return found.decode(errors="replace")
