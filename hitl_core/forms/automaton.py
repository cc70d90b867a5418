"""A regular expression as an automaton without empty moves (Glushkov's construction).

Every character of the pattern is a position; an edge says which position can follow which, and in
how many ways. Whatever can't be said exactly is made larger, never smaller: counted repeats become
loops, and lookarounds become nothing (they are kept aside as automata of their own).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

c: Any = import_module("re._constants")  # what the parser of `re` says; it has no types
_ASCII = 128
_DIGIT, _LETTER, _SPACE, _OTHER = (1 << (_ASCII + n) for n in range(4))  # the rest of Unicode
_BEYOND = _DIGIT | _LETTER | _SPACE | _OTHER
EVERYTHING = (1 << (_ASCII + 4)) - 1
_COPIES = 8
_MAX_POSITIONS = 2_000
_MAX_EDGES = 20_000


class TooComplex(Exception):
    """The text says what the pattern has that can't be analysed."""


@dataclass(frozen=True)
class Part:
    """A piece of the pattern: whether it may be empty, where it begins, where it ends."""

    nullable: bool = True
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


@dataclass
class Automaton:
    masks: list[int] = field(default_factory=list[int])  # by position, the characters it reads
    edges: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    loops: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # [start, end)
    asserts: list[Automaton] = field(default_factory=list["Automaton"])
    first: frozenset[int] = frozenset()
    empty_forks: int = 0  # places where nothing can be read in two ways
    _inside: int = 0  # loops around what is being read

    def read(self, items: Iterable[Any], flags: int, *, searched: bool) -> None:
        """Add the parsed pattern; `searched` puts the "from anywhere" of `re.search` before it."""
        start = Part()
        if searched:
            start = self._loop(self._position(EVERYTHING), 0, nullable=True)
        self.first = self._join(start, self._sequence(items, flags)).first

    def outer_loops(self) -> list[range]:
        """The loops that stand in no other loop, in order. Each is strongly connected."""
        outer: list[range] = []
        for start, end in sorted(self.loops, key=lambda loop: (loop[0], -loop[1])):
            if not outer or start >= outer[-1].stop:
                outer.append(range(start, end))
        return outer

    def _position(self, mask: int) -> Part:
        if len(self.masks) >= _MAX_POSITIONS:
            raise TooComplex("it is too long")
        self.masks.append(mask)
        here = frozenset({len(self.masks) - 1})
        return Part(False, here, here)

    def _link(self, last: frozenset[int], first: frozenset[int]) -> None:
        self.edges.update((p, q) for p in last for q in first)
        if len(self.edges) > _MAX_EDGES:
            raise TooComplex("it is too complex")

    def _join(self, a: Part, b: Part) -> Part:
        self._link(a.last, b.first)
        return Part(
            a.nullable and b.nullable,
            a.first | b.first if a.nullable else a.first,
            b.last | a.last if b.nullable else b.last,
        )

    def _loop(self, body: Part, start: int, *, nullable: bool) -> Part:
        self._link(body.last, body.first)
        self.loops.append((start, len(self.masks)))
        return Part(nullable or body.nullable, body.first, body.last)

    def _fork(self, ways: int) -> None:
        if self._inside:
            raise TooComplex("it repeats something that may be empty in two ways")
        self.empty_forks += ways - 1

    def _sequence(self, items: Iterable[Any], flags: int) -> Part:
        part = Part()
        for op, value in items:
            part = self._join(part, self._item(op, value, flags))
        return part

    def _item(self, op: Any, value: Any, flags: int) -> Part:
        if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            return self._position(_mask(op, value, flags))
        if op is c.AT:
            return Part()
        if op is c.SUBPATTERN:
            _, added, removed, body = value
            return self._sequence(body, (flags | added) & ~removed)
        if op is c.ATOMIC_GROUP:
            return self._sequence(value, flags)
        if op is c.BRANCH:
            parts = [self._sequence(branch, flags) for branch in value[1]]
            if sum(part.nullable for part in parts) > 1:  # the parser takes equal beginnings out
                self._fork(len(parts))
            return Part(
                any(part.nullable for part in parts),
                frozenset[int]().union(*(part.first for part in parts)),
                frozenset[int]().union(*(part.last for part in parts)),
            )
        if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            low, high, body = value
            return self._repeat(low, high, body, flags)
        if op in (c.ASSERT, c.ASSERT_NOT):
            inner = Automaton()
            inner.read(value[1], flags, searched=False)
            self.asserts.append(inner)
            return Part()
        if op in (c.GROUPREF, c.GROUPREF_IGNORE, c.GROUPREF_EXISTS):
            raise TooComplex("it refers back to a group")
        raise TooComplex(f"it uses {str(op).lower()}")

    def _repeat(self, low: int, high: Any, body: Any, flags: int) -> Part:
        if high == 0:
            return Part()
        if low == high and low <= _COPIES:
            part = Part()
            for _ in range(low):
                part = self._join(part, self._sequence(body, flags))
            return part
        start = len(self.masks)
        self._inside += high != 1
        part = self._sequence(body, flags)
        self._inside -= high != 1
        if part.nullable:
            if low > 1 or high not in (1, c.MAXREPEAT):
                raise TooComplex("it repeats something that may be empty")
            self._fork(2)
        if high == 1:
            return Part(True, part.first, part.last)
        return self._loop(part, start, nullable=low == 0)


def anchored(items: Iterable[Any], flags: int) -> bool:
    """Whether a match can only begin at the beginning of the text."""
    for op, value in items:
        if op is c.AT:
            if value is c.AT_BEGINNING_STRING:
                return True
            if value is c.AT_BEGINNING and not flags & re.MULTILINE:
                return True
        elif op is c.SUBPATTERN:
            return anchored(value[3], (flags | value[1]) & ~value[2])
        elif op is c.BRANCH:
            return all(anchored(branch, flags) for branch in value[1])
        elif op not in (c.ASSERT, c.ASSERT_NOT):
            return False
    return False


def _mask(op: Any, value: Any, flags: int) -> int:
    if op is c.ANY:
        return EVERYTHING if flags & re.DOTALL else EVERYTHING & ~(1 << ord("\n"))
    if op is c.NOT_LITERAL:
        return EVERYTHING & ~_certain(c.LITERAL, value, flags)
    items: list[tuple[Any, Any]] = value if op is c.IN else [(op, value)]
    if items[0][0] is not c.NEGATE:
        return _union(_possible(o, v, flags) for o, v in items)
    return EVERYTHING & ~_union(_certain(o, v, flags) for o, v in items[1:])


def _union(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole


def _possible(op: Any, value: Any, flags: int) -> int:
    """Every character that the item may read."""
    if op is c.CATEGORY:
        return _category(value)
    low, high = value if op is c.RANGE else (value, value)
    mask = _union(1 << n for n in range(low, min(high, _ASCII - 1) + 1))
    if high >= _ASCII:
        mask |= _beyond(chr(high)) if low == high else _BEYOND
    if flags & re.IGNORECASE:
        if high >= _ASCII:  # the Kelvin sign is a k, the long s an s, the dotless i an i
            mask |= _union(1 << ord(letter) for letter in "iks")
        mask |= _union(1 << ord(chr(n).swapcase()) for n in range(_ASCII) if mask >> n & 1)
    return mask


def _certain(op: Any, value: Any, flags: int) -> int:
    """The characters that the item reads for certain: those that its negation can't read."""
    if op is c.CATEGORY:
        mask = _category(value)
        return mask & ~_BEYOND if flags & re.ASCII else mask
    low, high = value if op is c.RANGE else (value, value)
    return _union(1 << n for n in range(low, min(high, _ASCII - 1) + 1))


def _beyond(char: str) -> int:
    if char.isdecimal():
        return _DIGIT
    if char.isalnum():
        return _LETTER
    return _SPACE if char.isspace() else _OTHER


def _category(value: Any) -> int:
    name = str(value)
    if "NOT" in name:
        return EVERYTHING & ~_category(name.replace("NOT_", ""))
    chars = [chr(n) for n in range(_ASCII)]
    if "DIGIT" in name:
        return _union(1 << ord(x) for x in chars if x.isdecimal()) | _DIGIT
    if "SPACE" in name:
        return _union(1 << ord(x) for x in chars if x.isspace()) | _SPACE
    return _union(1 << ord(x) for x in chars if x.isalnum() or x == "_") | _DIGIT | _LETTER
