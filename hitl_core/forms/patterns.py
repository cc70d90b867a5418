"""Which regular expressions may run here, and how much work each can make.

`re` tries one way after another, so its work grows with the number of ways in which a text can be
read. Two ways round the same loop double it with every turn: such a pattern is refused (Weber &
Seidl, "On the degree of ambiguity of finite automata", 1991). Loops that can share a text one after
the other make it a power of the text's length: a few are allowed, on a text that is short enough.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from functools import lru_cache
from importlib import import_module
from typing import Any

from hitl_core.forms.automaton import Automaton, TooComplex, anchored
from hitl_core.forms.form import PatternError

MAX_PATTERN = 1_000  # characters
_MAX_LOOP_EDGES = 400
_MAX_DEGREE = 4
_MAX_FORKS = 16
_TWICE = re.compile(r"(?<=[(|:])([^|()\[\]\\]+)\|\1(?=[|)])")


def check_pattern(pattern: str) -> None:
    """Raise PatternError, one sentence, for a pattern that is not valid or could hang."""
    _degree_and_forks(pattern)


def match_steps(pattern: str, length: int) -> int:
    """About how many steps `re.search` can take on a text of this length. Raises PatternError."""
    degree, forks = _degree_and_forks(pattern)
    return max(length, 2) ** max(degree, 1) * 2**forks


@lru_cache(maxsize=512)
def _degree_and_forks(pattern: str) -> tuple[int, int]:
    shown = pattern if len(pattern) <= 80 else pattern[:77] + "..."
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"the pattern {shown} is longer than {MAX_PATTERN:,} characters")
    if _TWICE.search(pattern):
        raise PatternError(f"the pattern {shown} has the same alternative twice")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed: Any = import_module("re._parser").parse(pattern)
            re.compile(pattern)
        flags: int = parsed.state.flags
        automaton = Automaton()
        automaton.read(parsed, flags, searched=not anchored(parsed, flags))
        return _ambiguity(automaton)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(
            f"the pattern {shown} is not a valid regular expression: {error}"
        ) from error
    except TooComplex as error:
        raise PatternError(f"the pattern {shown} could take very long: {error}") from error


def _ambiguity(automaton: Automaton) -> tuple[int, int]:
    follow: dict[int, list[int]] = defaultdict(list)
    for p, q in automaton.edges:
        follow[p].append(q)
    loops = automaton.outer_loops()
    for loop in loops:
        if _two_ways_round(automaton, follow, loop):
            raise TooComplex("it repeats something that can be read in two ways")
    degree = _degree(automaton, follow, loops)
    forks = _forks(automaton, follow, loops) + automaton.empty_forks
    inner = [_ambiguity(inside) for inside in automaton.asserts]
    degree += max((d for d, _ in inner), default=0)
    forks += max((f for _, f in inner), default=0)
    if degree > _MAX_DEGREE or forks > _MAX_FORKS:
        raise TooComplex("too many of its parts can read the same text")
    return degree, forks


def _two_ways_round(automaton: Automaton, follow: dict[int, list[int]], loop: range) -> bool:
    """Whether some text leads from a position of the loop to itself in two ways.

    Two readers start at one position and read the same text; they must not part and meet again.
    """
    edges = [(p, q) for p in loop for q in follow[p] if q in loop]
    if any(automaton.edges[edge] > 1 for edge in edges):
        return True
    if len(edges) > _MAX_LOOP_EDGES:
        raise TooComplex("it repeats something too complex")
    masks = automaton.masks
    forward: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    backward: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for p, p2 in edges:
        for q, q2 in edges:
            if p <= q and masks[p2] & masks[q2]:
                after = (p2, q2) if p2 <= q2 else (q2, p2)
                forward[p, q].add(after)
                backward[after].add((p, q))
    together = {(p, p) for p in loop}
    parted = _reached(forward, together) - together
    return bool(parted & _reached(backward, together))


def _reached(
    edges: dict[tuple[int, int], set[tuple[int, int]]], start: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    seen, waiting = set(start), list(start)
    while waiting:
        for pair in edges.get(waiting.pop(), ()):
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return seen


def _degree(automaton: Automaton, follow: dict[int, list[int]], loops: list[range]) -> int:
    """The longest chain of loops in which each can hand a part of its text to the next."""
    alphabets = [_alphabet(automaton, loop) for loop in loops]
    chain = [1] * len(loops)
    for later in range(len(loops)):
        for earlier in range(later):
            common = alphabets[earlier] & alphabets[later]
            if chain[earlier] >= chain[later] and _linked(
                automaton, follow, loops[earlier], loops[later], common
            ):
                chain[later] = chain[earlier] + 1
        if chain[later] > _MAX_DEGREE:
            break
    return max(chain, default=0)


def _alphabet(automaton: Automaton, loop: range) -> int:
    whole = 0
    for position in loop:
        whole |= automaton.masks[position]
    return whole


def _linked(
    automaton: Automaton, follow: dict[int, list[int]], start: range, end: range, common: int
) -> bool:
    """Whether a way leads from one loop to the other over characters that both can read."""
    if not common:
        return False
    seen, waiting = set(start), list(start)
    while waiting:
        for position in follow[waiting.pop()]:
            if position not in seen and automaton.masks[position] & common:
                if position in end:
                    return True
                seen.add(position)
                waiting.append(position)
    return False


def _forks(automaton: Automaton, follow: dict[int, list[int]], loops: list[range]) -> int:
    """The most places on one way, outside loops, where one character can be read in two ways."""
    looped = {position for loop in loops for position in loop}
    forks = [0] * len(automaton.masks)
    for position in reversed(range(len(automaton.masks))):  # edges outside loops lead forward
        after = [q for q in follow[position] if q > position]
        best = max((forks[q] for q in after), default=0)
        forks[position] = best + (position not in looped and _overlap(automaton, after))
    start = max((forks[q] for q in automaton.first), default=0)
    return start + _overlap(automaton, sorted(automaton.first))


def _overlap(automaton: Automaton, positions: list[int]) -> bool:
    seen = 0
    for position in positions:
        if seen & automaton.masks[position]:
            return True
        seen |= automaton.masks[position]
    return False
