"""Regular expressions in linear time: Python's own parser reads the pattern, and an automaton runs it.

`re` tries the alternatives one after another. Some patterns take hours for forty characters, others take
seconds to compile. Here all alternatives are followed at the same time (Thompson, "Regular expression search
algorithm", 1968).
"""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

from hitl_core.jsonschema.errors import PatternError
from hitl_core.jsonschema.limits import PATTERN_STEPS, Budget, SizedCache, TextTooLong, TooMuchWork
from hitl_core.jsonschema.patterns.automaton import Automaton, TooComplex
from hitl_core.jsonschema.patterns.matcher import Matcher

MAX_PATTERN = 1_000  # characters
_MAX_GROUPS = 100
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
    """The steps for reading the pattern. The search time for each character grows with this number."""
    return _compile_pattern(pattern).cost


def search(pattern: str, text: str, budget: Budget) -> bool:
    """Whether the pattern occurs in the text. Like `re.search`, but `$` means only the end of the text
    (ECMA-262). Raises PatternError, and TextTooLong if the budget is not enough.
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


def _compile_pattern(pattern: str, most: int = PATTERN_STEPS) -> Matcher | _BadPattern:
    """The cached pattern. Raises TooMuchWork if reading it takes more than `most` steps."""
    return _patterns.get(pattern, lambda: _read(pattern, min(most, PATTERN_STEPS)))


def _read(pattern: str, most: int) -> Matcher | _BadPattern:
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
        return Matcher(automaton, most - budget.left)
    return _BadPattern(f"the pattern {short} {flaw}", most - max(budget.left, 0))


_patterns = SizedCache[str, Matcher | _BadPattern](_MAX_PATTERNS, lambda _: 1)
