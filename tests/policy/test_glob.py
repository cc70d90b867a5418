"""Globs: which names they match, and which globs cover others."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.policy.glob import Glob, covers

MATCHES = [
    ("run", "run"),
    ("*", "a"),
    ("run_*", "run_"),
    ("run_*", "run_sql"),
    ("*_sql", "run_sql"),
    ("r?n", "run"),
    ("fs.*/x", "fs.read/x"),
    ("*a*a*", "banana"),
]
MISSES = [
    ("run", "Run"),
    ("run", "run_sql"),
    ("run_*", "xrun_sql"),
    ("run_*", "RUN_sql"),
    ("r?n", "rn"),
    ("r?n", "ruun"),
    ("fs.*", "fsxread"),
    ("*a", "ab"),
]


@pytest.mark.parametrize(("glob", "name"), MATCHES)
def test_a_glob_matches(glob: str, name: str) -> None:
    assert covers(glob, name)
    assert Glob(glob).matches(name)


@pytest.mark.parametrize(("glob", "name"), MISSES)
def test_a_glob_is_anchored_and_minds_case(glob: str, name: str) -> None:
    assert not covers(glob, name)
    assert not Glob(glob).matches(name)


COVERS = [
    ("*", "?"),
    ("a*", "abc*"),
    ("*a*", "ba?"),
    ("?*", "*a"),
    ("?*", "*?"),
    ("*?", "?*"),
    ("a*?*", "a?"),
]
COVERS_NOT = [
    ("a?", "a*"),
    ("?", "*"),
    ("?*", "*"),
    ("ab", "a?"),
    ("?a", "*a"),
    ("a*", "*a"),
    ("abc*", "a*"),
]


@pytest.mark.parametrize(("general", "special"), COVERS)
def test_a_glob_covers_another(general: str, special: str) -> None:
    assert covers(general, special)


@pytest.mark.parametrize(("general", "special"), COVERS_NOT)
def test_a_glob_covers_not_all_of_another(general: str, special: str) -> None:
    assert not covers(general, special)


globs = st.text("ab*?", min_size=1, max_size=6)
names = st.text("ab", max_size=7)


def as_regex(glob: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(symbol, re.escape(symbol)) for symbol in glob)


@given(globs, names)
def test_it_matches_what_the_same_regular_expression_does(glob: str, name: str) -> None:
    assert covers(glob, name) == bool(re.fullmatch(as_regex(glob), name))
    assert Glob(glob).matches(name) == covers(glob, name)


@given(globs, globs, names)
def test_a_glob_that_covers_another_matches_whatever_that_one_does(
    general: str, special: str, name: str
) -> None:
    if covers(general, special) and covers(special, name):
        assert covers(general, name)


def test_the_slowest_pattern_takes_no_time() -> None:
    """With backtracking this would take much longer than the test's timeout."""
    assert not covers("*a" * 60 + "b", "a" * 128)
