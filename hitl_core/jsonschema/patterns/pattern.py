"""Regular expressions in linear time: Python's own parser reads the pattern, and an automaton runs it.

`re` tries the alternatives one after another. Some patterns take hours for forty characters, others take
seconds to compile. Here all alternatives are followed at the same time (Thompson, "Regular expression search
algorithm", 1968). Each step is cached, so that most characters cost one look-up.
"""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

from hitl_core.jsonschema.budget import PATTERN_STEPS, Budget, TextTooLong, TooMuchWork
from hitl_core.jsonschema.errors import PatternError
from hitl_core.jsonschema.patterns.automaton import Automaton, Condition, TooComplex, bit_indexes
from hitl_core.jsonschema.patterns.char_tests import CharTest, is_word
from hitl_core.jsonschema.sized_cache import Recent

MAX_PATTERN = 1_000  # characters
_MAX_GROUPS = 100
_MAX_STEPS = 2_000  # cached steps of one pattern, about 200 KiB
_MAX_PATTERNS = 128  # cached patterns, at most about 25 MB
#: A step of reading a pattern takes twice as long as a step of reading a schema.
_PRICE = 2


def check_pattern(pattern: str, budget: Budget | None = None) -> None:
    """Raises PatternError, with one sentence, if the pattern can't be used. The cost of reading it is taken
    from `budget`; raises TooMuchWork if that is not enough.
    """
    compiled = _compile_pattern(pattern, PATTERN_STEPS if budget is None else budget.left // _PRICE)
    if budget is not None:
        budget.spend(_PRICE * compiled.cost)
    if isinstance(compiled, _BadPattern):
        raise PatternError(compiled.flaw)


def cost_of(pattern: str) -> int:
    """The steps for reading the pattern. The time of a search for each character grows with them."""
    return _compile_pattern(pattern).cost


def search(pattern: str, text: str, budget: Budget) -> bool:
    """Whether the pattern occurs in the text, as `re.search`, except that `$` is the very end (ECMA-262).
    Raises PatternError, and TextTooLong if the budget is not enough.
    """
    compiled = _compile_pattern(pattern)
    if isinstance(compiled, _BadPattern):
        raise PatternError(compiled.flaw)
    try:
        return compiled.search(text, budget)
    except TooMuchWork as error:
        raise TextTooLong(f"is too long ({len(text):,} characters) to be checked") from error


class _BadPattern:
    def __init__(self, flaw: str, cost: int) -> None:
        self.flaw, self.cost = flaw, cost


def _compile_pattern(pattern: str, most: int = PATTERN_STEPS) -> _CompiledPattern | _BadPattern:
    """The cached pattern. Raises TooMuchWork if reading it takes more than `most` steps."""
    return _patterns.get(pattern, lambda: _read(pattern, min(most, PATTERN_STEPS)))


def _read(pattern: str, most: int) -> _CompiledPattern | _BadPattern:
    short = pattern if len(pattern) <= 80 else pattern[:77] + "..."
    if len(pattern) > MAX_PATTERN:
        return _BadPattern(f"the pattern {short} is longer than {MAX_PATTERN:,} characters", 1)
    if pattern.count("(") > _MAX_GROUPS:
        return _BadPattern(f"the pattern {short} has more than {_MAX_GROUPS} groups", 1)
    budget = Budget(most)
    try:
        budget.spend(20 + 2 * len(pattern) + 8 * pattern.count("("))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed: Any = import_module("re._parser").parse(pattern)
        automaton = Automaton.build(parsed, parsed.state.flags, budget)
    except (re.error, OverflowError, RecursionError) as error:
        flaw = f"is not a valid regular expression: {error}"
    except TooComplex as error:
        flaw = f"can't be checked in a short time: {error}"
    except TooMuchWork:
        if most < PATTERN_STEPS:
            raise
        flaw = "can't be checked in a short time: it is too complex"
    else:
        return _CompiledPattern(automaton, most - budget.left)
    return _BadPattern(f"the pattern {short} {flaw}", most - max(budget.left, 0))


class _State(dict[Any, "_State"]):
    """The current positions, and the next state for each character. A step that is not cached is a
    KeyError.
    """

    __slots__ = ("advances", "positions")

    def __init__(self, alive: int) -> None:
        super().__init__()
        self.positions = alive
        self.advances: dict[int, tuple[bool, int]] = {}  # see `_CompiledPattern._advance`


class _CompiledPattern:
    """An automaton, with a cache of its steps."""

    def __init__(self, automaton: Automaton, cost: int) -> None:
        self.cost = cost
        self._automaton = automaton
        self._inner_patterns = [
            each.inner and _CompiledPattern(each.inner, 0) for each in automaton.conditions
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
        """For a pattern whose conditions are only about the ends of the text."""
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
        """For each point before a character, and for the end of the text: whether a match ends there. For a
        backward automaton: whether a match begins there.
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
        """For each point before a character, and for the end of the text: the conditions that are true
        there.
        """
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
    """For each point before a character, and for the end of the text: whether the condition is true there."""
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


_patterns = Recent[str, _CompiledPattern | _BadPattern](_MAX_PATTERNS, lambda _: 1)
