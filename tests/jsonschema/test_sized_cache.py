"""Caches of schemas and patterns from outside are bounded, however large each entry is."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hitl_core.jsonschema import SchemaError, check_schema
from hitl_core.jsonschema.limits import SizedCache

MB = 1_000_000


@pytest.fixture
def growth() -> Iterator[Callable[[], int]]:
    """How many bytes more are in memory than at the start."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]

    def count() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    yield count
    tracemalloc.stop()


def test_what_was_used_the_longest_time_ago_goes_first() -> None:
    recent, made = SizedCache[str, str](6, len), list[str]()

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key

        return recent.get(key, make)

    for key in ("aa", "bb", "cc", "aa", "dd", "aa", "cc", "bb"):
        assert get(key) == key
    assert made == ["aa", "bb", "cc", "dd", "bb"]


def test_what_is_larger_than_all_of_it_is_not_kept() -> None:
    recent = SizedCache[str, str](3, len)
    assert recent.get("k", lambda: "long text") == "long text"
    assert recent.get("k", lambda: "new") == "new"


def test_an_error_is_not_kept() -> None:
    recent = SizedCache[str, str](3, len)

    def fail() -> str:
        raise LookupError

    with pytest.raises(LookupError):
        recent.get("k", fail)
    assert recent.get("k", lambda: "v") == "v"


def wide(number: int, **last: Any) -> dict[str, Any]:
    text: dict[str, Any] = {"type": ["string", "null"], "minLength": 1, "maxLength": 9}
    return {"properties": {**{f"p{number}_{n}": text for n in range(800)}, **last}}


@pytest.mark.slow
def test_large_schemas_of_an_agent_take_a_bounded_part_of_memory(growth: Callable[[], int]) -> None:
    """Given 30 different schemas of 2.5 MB each when they are read; then not all of them are kept."""
    for number in range(30):
        check_schema(wide(number))
    assert growth() < 45 * MB


@pytest.mark.slow
def test_a_wrong_schema_leaves_its_sentence_alone(growth: Callable[[], int]) -> None:
    """Given large schemas with an error at their end; then nothing of them is kept, not even by the error."""
    for number in range(20):
        with pytest.raises(SchemaError):
            check_schema(wide(number, last={"type": "txt"}))
    assert growth() < 2 * MB
