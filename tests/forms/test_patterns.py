"""Which regular expressions are refused, and that the accepted ones are not slow."""

from __future__ import annotations

import re
import time

import pytest

from hitl_core.forms import PatternError, check_args, check_pattern, check_schema

DANGEROUS = [
    r"^(a+)+$",
    r"(a|a)*",
    r"(a*)*",
    r"(.*a){20}",
    r"(\w+\s?)*$",
    r"(a|aa)+",
    r"(a?b?)*$",
    r"^(?:[a-z]+|[0-9]+)*$",
    r"([^\W\d]|[a-z])*!",
    r"(?=(a+)+$)x",
    r"(?:a?){30}a{30}",
    r"(?:[ab]|(?:a|b))+!",
    r"(?:xy|xy)+!",
    r"(?:x(?:a*)?)+!",
    r"(?:x(?:(?:a?)*))+!",
    "(?:a*)?" * 30 + "!",
    "(?:a*|b*)" * 30 + "!",
    "a?" * 30 + "a" * 30,
    r"((a?){8}){8}",
    r".*.*.*.*.*=",
    r"(a)\1",
    r"(a)?(?(1)b|c)",
    r"[",
    "a" * 1_001,
]
ORDINARY = [
    r"",
    r"^.*$",
    r"^foo(.*)?$",
    r"^[A-Z]{3}-\d+$",
    r"^\+?[0-9 ()-]{6,20}$",
    r"(?i)delete|drop|update",
    r"(?i)^\s*(select|with)\b",
    r"^cus_[a-z0-9]+$",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    r"^((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)$",
    r"^(?=.*[A-Z])(?=.*\d).{8,}$",
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$",
    r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
    r"^https?://(www\.)?[-\w@:%.+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b([-\w()@:%+.~#?&/=]*)$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^/([^/]+/)*[^/]*$",
    r"^(.+\n)*$",
    r"\bDROP\s+TABLE\b",
]


@pytest.mark.parametrize("pattern", DANGEROUS)
def test_t62_a_pattern_that_could_hang_is_refused_with_one_sentence(pattern: str) -> None:
    with pytest.raises(PatternError) as refused:
        check_pattern(pattern)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize("pattern", ORDINARY)
@pytest.mark.parametrize("text", ["a" * 2_999 + "!", "1." * 1_500, "a-" * 1_500, "/ " * 1_500])
def test_t62_an_accepted_pattern_answers_soon_or_says_that_the_text_is_too_long(
    pattern: str, text: str
) -> None:
    began = time.process_time()
    errors = check_args({"properties": {"a": {"pattern": pattern}}}, {"a": text})
    assert time.process_time() - began < 1
    if not re.search(pattern, text):
        assert [error.pointer for error in errors] == ["/a"]


def test_a_schema_with_such_a_pattern_anywhere_is_refused() -> None:
    for schema in (
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a+)+$": {}}},
        {"anyOf": [{"items": {"pattern": "(a+)+$"}}]},
        {"$defs": {"x": {"pattern": "(a+)+$"}}},
    ):
        with pytest.raises(PatternError):
            check_schema(schema)


def test_values_and_names_that_look_like_patterns_are_not_patterns() -> None:
    check_schema(
        {
            "properties": {"pattern": {"type": "string", "default": "(a+)+$"}},
            "examples": [{"pattern": "*.py"}],
        }
    )
