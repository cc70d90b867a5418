"""A regular expression as an automaton without empty moves (Glushkov's construction), with conditions.

Every character of the pattern is a position, one bit of a number. An edge says which positions can follow,
under which conditions on the place between the two characters (`^`, `$`, `\\b`, lookarounds): also bits of a
number. So a set of positions is one number, and a step of the automaton a few operations on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hitl_core.forms.budget import Budget
from hitl_core.forms.charset import Reads, c, everything, reader

Edges = dict[int, int]  # conditions → positions
Look = Literal["begin", "end", "line_begin", "line_end", "word", "ahead", "behind"]
MAX_POSITIONS = 1_000
_READS = (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN)
_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT)
_PLACES: dict[Any, tuple[Look, bool]] = {
    c.AT_BEGINNING_STRING: ("begin", False),
    c.AT_END_STRING: ("end", False),
    c.AT_BOUNDARY: ("word", False),
    c.AT_NON_BOUNDARY: ("word", True),
}


class TooComplex(Exception):
    """The text says what the pattern has that can't be run in linear time."""


class Condition(NamedTuple):
    """What must hold between two characters. `ascii`: of words; `inner`: what is looked for, which reads the
    text from its end where it looks ahead."""

    look: Look
    negated: bool
    ascii: bool = False
    inner: Automaton | None = None


class Part(NamedTuple):
    """A piece of the pattern: under which conditions it may be empty, where it begins, where it ends."""

    empty: frozenset[int]
    first: Edges
    last: Edges


_NOTHING = Part(frozenset({0}), {}, {})


@dataclass
class Automaton:
    """Position 0 is what stands before a match; it reads everything. `accepts`: those
    behind which a match may end."""

    budget: Budget
    backward: bool = False
    reads: list[Reads] = field(default_factory=list[Reads])
    follow: list[Edges] = field(default_factory=list[Edges])
    accepts: Edges = field(default_factory=Edges)
    conditions: list[Condition] = field(default_factory=list[Condition])
    _readers: dict[Any, Reads] = field(default_factory=dict[Any, Reads])

    @classmethod
    def of(
        cls, items: Iterable[Any], flags: int, budget: Budget, *, backward: bool = False
    ) -> Automaton:
        self = cls(budget, backward)
        before = self._position(everything)
        self._link(before.last, before.first)
        whole = self._join(before, self._sequence(items, flags))
        self.accepts = whole.last
        return self

    def _position(self, reads: Reads) -> Part:
        if len(self.reads) >= MAX_POSITIONS:
            raise TooComplex(
                f"it has more than {MAX_POSITIONS:,} characters, with those that it repeats"
            )
        self.budget.spend(4)
        bit = 1 << len(self.reads)
        self.reads.append(reads)
        self.follow.append({})
        return Part(frozenset(), {0: bit}, {0: bit})

    def _link(self, last: Edges, first: Edges) -> None:
        for before, positions in last.items():
            for position in bits(positions):
                self.budget.spend(1 + len(first))
                edges = self.follow[position]
                for after, following in first.items():
                    edges[before | after] = edges.get(before | after, 0) | following

    def _join(self, a: Part, b: Part) -> Part:
        self._link(a.last, b.first)
        return Part(
            frozenset(x | y for x in a.empty for y in b.empty),
            self._either(a.first, self._under(a.empty, b.first)),
            self._either(b.last, self._under(b.empty, a.last)),
        )

    def _under(self, conditions: frozenset[int], edges: Edges) -> Edges:
        found: Edges = {}
        for condition in conditions:
            for other, positions in edges.items():
                self.budget.spend(1)
                found[condition | other] = found.get(condition | other, 0) | positions
        return found

    def _either(self, a: Edges, b: Edges) -> Edges:
        if not a or not b:
            return a or b
        self.budget.spend(len(b))
        return {key: a.get(key, 0) | b.get(key, 0) for key in {**a, **b}}

    def _sequence(self, items: Iterable[Any], flags: int) -> Part:
        part = _NOTHING
        for op, value in reversed(list(items)) if self.backward else items:
            part = self._join(part, self._item(op, value, flags))
        return part

    def _item(self, op: Any, value: Any, flags: int) -> Part:
        if op in _READS:
            key = (op, id(value) if op is c.IN else value, flags)  # copies share one
            if key not in self._readers:
                self._readers[key] = reader(op, value, flags)
            return self._position(self._readers[key])
        if op is c.AT:
            return self._condition(_place(value, flags))
        if op is c.SUBPATTERN:
            _, added, removed, body = value
            return self._sequence(body, (flags | added) & ~removed)
        if op is c.BRANCH:
            part = Part(frozenset(), {}, {})
            for branch in value[1]:
                one = self._sequence(branch, flags)
                part = Part(
                    part.empty | one.empty,
                    self._either(part.first, one.first),
                    self._either(part.last, one.last),
                )
            return part
        if op in _REPEATS:
            low, high, body = value
            return self._repeat(low, high, body, flags)
        if op in (c.ASSERT, c.ASSERT_NOT):
            ahead, body = value[0] > 0, value[1]
            inner = Automaton.of(body, flags, self.budget, backward=ahead)
            look: Look = "ahead" if ahead else "behind"
            return self._condition(Condition(look, op is c.ASSERT_NOT, inner=inner))
        if op in (c.GROUPREF, c.GROUPREF_IGNORE, c.GROUPREF_EXISTS):
            raise TooComplex("it refers back to a group")
        raise TooComplex(f"it uses {str(op).lower().replace('_', ' ')}")

    def _condition(self, condition: Condition) -> Part:
        if condition not in self.conditions:
            self.conditions.append(condition)
            if len(self.conditions) > 16:
                raise TooComplex("it has more than 16 conditions")
        return Part(frozenset({1 << self.conditions.index(condition)}), {}, {})

    def _repeat(self, low: int, high: Any, body: Any, flags: int) -> Part:
        """The last copy first: each optional one can then be followed by the next, and by nothing else."""
        if high == 0:
            return _NOTHING
        unbounded = high is c.MAXREPEAT
        copies = max(low, 1) if unbounded else high
        part = _NOTHING
        for copy in reversed(range(copies)):
            self.budget.spend(1)
            one = self._sequence(body, flags)
            if unbounded and copy == copies - 1:
                self._link(one.last, one.first)
            part = self._join(one, part)
            if copy >= low:
                part = part._replace(empty=frozenset({0}))
        return part


def bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _place(at: Any, flags: int) -> Condition:
    multiline = flags & re.MULTILINE
    if at is c.AT_BEGINNING:
        return Condition("line_begin" if multiline else "begin", False)
    if at is c.AT_END:  # as ECMA-262 has it: the very end, not before a last line end
        return Condition("line_end" if multiline else "end", False)
    look, negated = _PLACES[at]
    return Condition(look, negated, ascii=look == "word" and bool(flags & re.ASCII))
