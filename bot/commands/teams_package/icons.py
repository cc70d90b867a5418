"""The app's two icons, drawn here: a check mark in a circle. Pure.

learn.microsoft.com/microsoftteams/platform/concepts/build-and-test/apps-package, App icons
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

#: Teams' sizes in pixels, of a square.
COLOR_SIZE, OUTLINE_SIZE = 192, 32
#: The background of the color icon, and the manifest's accent color.
ACCENT = (0x1F, 0x3B, 0x57)
#: The corners of the check mark, the radius of the circle, and the width of the lines, as parts of the size.
_CHECK = ((0.36, 0.51), (0.46, 0.61), (0.64, 0.41))
_WIDTH = 0.06


class Pixel(NamedTuple):
    """Each from 0 to 255."""

    red: int
    green: int
    blue: int
    alpha: int


def color_icon() -> bytes:
    """A PNG: white on the accent color, without transparency. The symbol is in the middle 120 pixels."""
    return _png(COLOR_SIZE, (_mix(part) for part in _symbol(COLOR_SIZE, radius=0.28)))


def outline_icon() -> bytes:
    """A PNG: white lines on nothing."""
    return _png(
        OUTLINE_SIZE,
        (Pixel(255, 255, 255, round(255 * part)) for part in _symbol(OUTLINE_SIZE, radius=0.42)),
    )


def _mix(part: float) -> Pixel:
    """`part` of white on the accent color."""
    red, green, blue = (round(a + (255 - a) * part) for a in ACCENT)
    return Pixel(red, green, blue, 255)


def _symbol(size: int, radius: float) -> Iterator[float]:
    """How much of each pixel the symbol covers, from 0 to 1, row by row."""
    scale = radius / 0.28
    check = [(0.5 + (x - 0.5) * scale, 0.5 + (y - 0.5) * scale) for x, y in _CHECK]
    for row in range(size):
        for column in range(size):
            x, y = (column + 0.5) / size, (row + 0.5) / size
            circle = abs(math.hypot(x - 0.5, y - 0.5) - radius)
            lines = (_distance(x, y, a, b) for a, b in pairwise(check))
            outside = (min(circle, *lines) - _WIDTH / 2) * size  # in pixels
            yield min(1.0, max(0.0, 0.5 - outside))


def _distance(x: float, y: float, a: tuple[float, float], b: tuple[float, float]) -> float:
    """From a point to a line between two points."""
    (ax, ay), (dx, dy) = a, (b[0] - a[0], b[1] - a[1])
    along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)
    nearest = min(1.0, max(0.0, along))
    return math.hypot(x - ax - nearest * dx, y - ay - nearest * dy)


def _png(size: int, pixels: Iterator[Pixel]) -> bytes:
    """8 bits a channel, with alpha (w3.org/TR/png-3)."""
    data = bytes(value for pixel in pixels for value in pixel)
    row = size * len(Pixel._fields)
    lines = b"".join(b"\0" + data[at : at + row] for at in range(0, len(data), row))
    header = struct.pack(">2I5B", size, size, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
