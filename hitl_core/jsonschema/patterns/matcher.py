"""Runs an automaton over a text. Each step is cached, so that most characters cost one look-up."""

from __future__ import annotations

from typing import Any

from hitl_core.jsonschema.limits import Budget
from hitl_core.jsonschema.patterns.automaton import Automaton, Condition, bit_indexes
from hitl_core.jsonschema.patterns.char_tests import CharTest, is_word

_MAX_STEPS = 2_000  # cached steps of one pattern, about 200 KiB


class _State(dict[Any, "_State"]):
    """The current positions, and the next state for each character. A step that is not cached is a
    KeyError.
    """

    __slots__ = ("advances", "positions")

    def __init__(self, alive: int) -> None:
        super().__init__()
        self.positions = alive
        self.advances: dict[int, tuple[bool, int]] = {}  # see `Matcher._advance`


class Matcher:
    """An automaton, with a cache of its steps."""

    def __init__(self, automaton: Automaton, cost: int) -> None:
        self.cost = cost
        self._automaton = automaton
        self._inner_patterns = [
            each.inner and Matcher(each.inner, 0) for each in automaton.conditions
        ]
        self._positions_by_test: dict[CharTest, int] = {}
        for position, reads in enumerate(automaton.char_tests):
            self._positions_by_test[reads] = self._positions_by_test.get(reads, 0) | 1 << position
        looks = [each.look for each in automaton.conditions]
        self._only_text_ends = {*looks} <= {"begin", "end"}
        self._begin, self._end = (
            1 << looks.index(look) if look in looks else 0 for look in ("begin", "end")
        )
        self._clear_cache()
        may_end = any(positions & 1 for positions in automaton.accepts.values())
        self._anchored = not may_end and self._advance(self._start, 0, Budget(9))[1] == 1

    def _clear_cache(self) -> None:
        self._start = _State(1)
        self._states = {1: self._start}
        self._positions_by_char: dict[str, int] = {}  # the positions that match each character
        self._cached_steps = 0

    def search(self, text: str, budget: Budget) -> bool:
        try:
            return (
                self._search(text, budget)
                if self._only_text_ends
                else any(self.match_ends(text, budget))
            )
        finally:
            if self._cached_steps > _MAX_STEPS:
                self._clear_cache()

    def _search(self, text: str, budget: Budget) -> bool:
        """Search with a pattern whose conditions are only about the ends of the text."""
        budget.spend(1 + len(text) // 8)
        state, rest, char = self._start, iter(text), ""
        if self._advance(state, self._begin if text else self._begin | self._end, budget)[0]:
            return True
        if text:
            state = self._step(state, next(rest), self._begin, budget)
            if self._advance(state, 0, budget)[0]:
                return True
        while True:
            try:
                for char in rest:
                    state = state[char]
                return self._advance(state, self._end if text else self._begin | self._end, budget)[
                    0
                ]
            except KeyError:
                state = self._step(state, char, 0, budget)
            if state.positions == 1 and self._anchored:
                return False
            if self._advance(state, 0, budget)[0]:
                return True

    def match_ends(self, text: str, budget: Budget) -> list[bool]:
        """For each point before a character and for the end of the text: whether a match ends there; for a
        backward automaton, whether a match begins there.
        """
        conditions = self._conditions_at(text, budget)
        budget.spend(1 + len(text))
        if self._automaton.backward:
            conditions, text = conditions[::-1], text[::-1]
        state, result = self._start, list[bool]()
        for char, holds in zip(text, conditions, strict=False):
            result.append(self._advance(state, holds, budget)[0])
            after = state.get((char, holds) if holds else char)
            state = self._step(state, char, holds, budget) if after is None else after
        result.append(self._advance(state, conditions[-1], budget)[0])
        return result[::-1] if self._automaton.backward else result

    def _step(self, state: _State, char: str, holds: int, budget: Budget) -> _State:
        """The state after this character. `holds` are the conditions that are true before it."""
        alive = self._advance(state, holds, budget)[1] & self._positions_for(char, budget)
        if alive not in self._states:
            self._states[alive] = _State(alive)
        after = self._states[alive]
        if not (self._only_text_ends and self._advance(after, 0, budget)[0]):  # where a search ends
            state[(char, holds) if holds else char] = after
            self._cached_steps += 1
        return after

    def _advance(self, state: _State, holds: int, budget: Budget) -> tuple[bool, int]:
        """Whether a match can end after these positions, and the positions that can come next. `holds` are
        the conditions that are true here.
        """
        if holds not in state.advances:
            budget.spend(4 + state.positions.bit_count())
            missing, allowed, automaton = ~holds, 0, self._automaton
            for position in bit_indexes(state.positions):
                for conditions, following in automaton.follow[position].items():
                    if not conditions & missing:
                        allowed |= following
            ends = [p & state.positions for c, p in automaton.accepts.items() if not c & missing]
            can_end = any(ends)
            state.advances[holds] = can_end, allowed
            self._cached_steps += 1
        return state.advances[holds]

    def _positions_for(self, char: str, budget: Budget) -> int:
        if char not in self._positions_by_char:
            budget.spend(4 + 6 * len(self._positions_by_test))
            masks = [mask for reads, mask in self._positions_by_test.items() if reads(char)]
            self._positions_by_char[char] = sum(masks)
            self._cached_steps += 1
        return self._positions_by_char[char]

    def _conditions_at(self, text: str, budget: Budget) -> list[int]:
        """The conditions that are true at each point before a character, and at the end of the text."""
        holds = [0] * (len(text) + 1)
        for number, (condition, inner) in enumerate(
            zip(self._automaton.conditions, self._inner_patterns, strict=True)
        ):
            budget.spend(1 + len(text) // 2)
            truth = inner.match_ends(text, budget) if inner else _condition_holds(condition, text)
            for point, is_true in enumerate(truth):
                if is_true != condition.negated:
                    holds[point] |= 1 << number
        return holds


def _condition_holds(condition: Condition, text: str) -> list[bool]:
    """For each point before a character and for the end of the text: whether the condition is true there."""
    lines, inside = [char == "\n" for char in text], [False] * len(text)
    match condition.look:
        case "begin":
            return [True, *inside]
        case "end":
            return [*inside, True]
        case "line_begin":
            return [True, *lines]
        case "line_end":
            return [*lines, True]
        case _:
            words = [is_word(char) and (not condition.ascii or char.isascii()) for char in text]
            return [a != b for a, b in zip([False, *words], [*words, False], strict=True)]
