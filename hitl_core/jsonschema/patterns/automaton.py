"""Builds an automaton for a regular expression: Glushkov's construction, with conditions.

Each character of the pattern is a position, and each position is one bit. An edge says which positions can
come next, under which conditions on the point between the two characters (`^`, `$`, `\\b`, lookarounds).
Conditions are bits too. So a set of positions is one integer, and a step of the automaton is a few operations
on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hitl_core.jsonschema.limits import Budget
from hitl_core.jsonschema.patterns.char_tests import CharTest, any_char, make_char_test, sre

Edges = dict[int, int]  # conditions → positions
Look = Literal["begin", "end", "line_begin", "line_end", "word", "ahead", "behind"]
MAX_POSITIONS = 1_000
_CHAR_OPS = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
_REPEAT_OPS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
_POSITION_CONDITIONS: dict[Any, tuple[Look, bool]] = {
    sre.AT_BEGINNING_STRING: ("begin", False),
    sre.AT_END_STRING: ("end", False),
    sre.AT_BOUNDARY: ("word", False),
    sre.AT_NON_BOUNDARY: ("word", True),
}


class TooComplex(Exception):
    """The message says which part of the pattern can't be matched in linear time."""


class Condition(NamedTuple):
    """A condition on the point between two characters. `ascii`: only ASCII letters are word characters.
    `inner`: the automaton of a lookaround; for a lookahead it reads the text backward.
    """

    look: Look
    negated: bool
    ascii: bool = False
    inner: Automaton | None = None


class Part(NamedTuple):
    """A piece of the pattern: the conditions under which it can be empty, its first and its last
    positions.
    """

    empty: frozenset[int]
    first: Edges
    last: Edges


_EMPTY_PART = Part(frozenset({0}), {}, {})


@dataclass
class Automaton:
    """Position 0 is the text before a match, so it accepts every character. A match can end after the
    positions in `accepts`.
    """

    budget: Budget
    backward: bool = False
    char_tests: list[CharTest] = field(default_factory=list[CharTest])
    follow: list[Edges] = field(default_factory=list[Edges])
    accepts: Edges = field(default_factory=Edges)
    conditions: list[Condition] = field(default_factory=list[Condition])
    _test_cache: dict[Any, CharTest] = field(default_factory=dict[Any, CharTest])

    @classmethod
    def build(
        cls, items: Iterable[Any], flags: int, budget: Budget, *, backward: bool = False
    ) -> Automaton:
        self = cls(budget, backward)
        before = self._position(any_char)
        self._link(before.last, before.first)
        whole = self._join(before, self._sequence(items, flags))
        self.accepts = whole.last
        return self

    def _position(self, char_test: CharTest) -> Part:
        if len(self.char_tests) >= MAX_POSITIONS:
            raise TooComplex(f"it has more than {MAX_POSITIONS:,} characters, repetitions included")
        self.budget.spend(4)
        bit = 1 << len(self.char_tests)
        self.char_tests.append(char_test)
        self.follow.append({})
        return Part(frozenset(), {0: bit}, {0: bit})

    def _link(self, last: Edges, first: Edges) -> None:
        for before, positions in last.items():
            for position in bit_indexes(positions):
                self.budget.spend(1 + len(first))
                edges = self.follow[position]
                for after, following in first.items():
                    edges[before | after] = edges.get(before | after, 0) | following

    def _join(self, a: Part, b: Part) -> Part:
        self._link(a.last, b.first)
        return Part(
            frozenset(x | y for x in a.empty for y in b.empty),
            self._union(a.first, self._with_conditions(a.empty, b.first)),
            self._union(b.last, self._with_conditions(b.empty, a.last)),
        )

    def _with_conditions(self, conditions: frozenset[int], edges: Edges) -> Edges:
        result: Edges = {}
        for condition in conditions:
            for other, positions in edges.items():
                self.budget.spend(1)
                result[condition | other] = result.get(condition | other, 0) | positions
        return result

    def _union(self, a: Edges, b: Edges) -> Edges:
        if not a or not b:
            return a or b
        self.budget.spend(len(b))
        return {key: a.get(key, 0) | b.get(key, 0) for key in {**a, **b}}

    def _sequence(self, items: Iterable[Any], flags: int) -> Part:
        part = _EMPTY_PART
        for op, value in reversed(list(items)) if self.backward else items:
            part = self._join(part, self._item(op, value, flags))
        return part

    def _item(self, op: Any, value: Any, flags: int) -> Part:
        if op in _CHAR_OPS:
            key = (
                op,
                id(value) if op is sre.IN else value,
                flags,
            )  # repeated copies share one test
            if key not in self._test_cache:
                self._test_cache[key] = make_char_test(op, value, flags)
            return self._position(self._test_cache[key])
        if op is sre.AT:
            return self._condition(_position_condition(value, flags))
        if op is sre.SUBPATTERN:
            _, added, removed, body = value
            return self._sequence(body, (flags | added) & ~removed)
        if op is sre.BRANCH:
            part = Part(frozenset(), {}, {})
            for branch in value[1]:
                one = self._sequence(branch, flags)
                part = Part(
                    part.empty | one.empty,
                    self._union(part.first, one.first),
                    self._union(part.last, one.last),
                )
            return part
        if op in _REPEAT_OPS:
            low, high, body = value
            return self._repeat(low, high, body, flags)
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            ahead, body = value[0] > 0, value[1]
            inner = Automaton.build(body, flags, self.budget, backward=ahead)
            look: Look = "ahead" if ahead else "behind"
            return self._condition(Condition(look, op is sre.ASSERT_NOT, inner=inner))
        if op in (sre.GROUPREF, sre.GROUPREF_IGNORE, sre.GROUPREF_EXISTS):
            raise TooComplex("it refers back to a group")
        raise TooComplex(f"it uses {str(op).lower().replace('_', ' ')}")

    def _condition(self, condition: Condition) -> Part:
        if condition not in self.conditions:
            self.conditions.append(condition)
            if len(self.conditions) > 16:
                raise TooComplex("it has more than 16 conditions")
        return Part(frozenset({1 << self.conditions.index(condition)}), {}, {})

    def _repeat(self, low: int, high: Any, body: Any, flags: int) -> Part:
        """Copies of the body. They are built from the last to the first, so that each optional copy can only
        be followed by the next one.
        """
        if high == 0:
            return _EMPTY_PART
        unbounded = high is sre.MAXREPEAT
        copies = max(low, 1) if unbounded else high
        part = _EMPTY_PART
        for copy in reversed(range(copies)):
            self.budget.spend(1)
            one = self._sequence(body, flags)
            if unbounded and copy == copies - 1:
                self._link(one.last, one.first)
            part = self._join(one, part)
            if copy >= low:
                part = part._replace(empty=frozenset({0}))
        return part


def bit_indexes(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _position_condition(position: Any, flags: int) -> Condition:
    multiline = flags & re.MULTILINE
    if position is sre.AT_BEGINNING:
        return Condition("line_begin" if multiline else "begin", False)
    if position is sre.AT_END:  # as in ECMA-262: the very end of the text, not before a last "\\n"
        return Condition("line_end" if multiline else "end", False)
    look, negated = _POSITION_CONDITIONS[position]
    return Condition(look, negated, ascii=look == "word" and bool(flags & re.ASCII))
