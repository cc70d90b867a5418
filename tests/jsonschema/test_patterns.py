"""Regular expressions: which are refused, and that the others match as `re` does, in linear time."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.jsonschema import PatternError, check_args, check_pattern, check_schema
from hitl_core.jsonschema.limits import VALUE_STEPS, Budget, TextTooLong
from hitl_core.jsonschema.patterns.pattern import search
from tests.support.cpu_time import cpu_limit

#: `re` needs hours for these, some of them already to compile.
SLOW = [
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
    r"(?:x(?:(?:a?)*))+!",
    "(?:a*)?" * 30 + "!",
    "(?:a*|b*)" * 30 + "!",
    "a?" * 30 + "a" * 30,
    r"((a?){8}){8}",
    r".*.*.*.*.*=",
    r"^a*a*a*a*b$",
    r"(?:a{0,30}){0,30}b",
    r"(?i)^[\w\W\d\s]*[^\w]$",
    "(?i)" + "[\u0100-\uffdc]x" * 150,
]
REFUSED = [
    (r"(a)\1", "refers back to a group"),
    (r"(a)?(?(1)b|c)", "refers back to a group"),
    (r"(?>a+)b", "atomic group"),
    (r"a++b", "possessive repeat"),
    ("[", "not a valid regular expression"),
    (r"\p{L}", "not a valid regular expression"),
    ("a" * 1_001, "longer than 1,000"),
    (r"(?:a{1000}){1000}", "more than 1,000 characters"),
    ("(" * 101 + ")" * 101, "more than 100 groups"),
    (r"(?:\b){100000}", "too complex"),
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


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_a_pattern_that_can_not_be_run_in_linear_time_is_refused_with_one_sentence(
    pattern: str, why: str
) -> None:
    """T62: Security H2."""
    with pytest.raises(PatternError, match=why) as refused:
        check_pattern(pattern)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize("pattern", [*ORDINARY, *SLOW])
@pytest.mark.parametrize("text", ["a" * 2_999 + "!", "1." * 1_500, "a-" * 1_500, "/ " * 1_500])
def test_an_accepted_pattern_answers_soon_however_slow_it_is_for_re(
    pattern: str, text: str
) -> None:
    """T62: Security H2: its reading and its running together."""
    with cpu_limit(1):
        errors = check_args({"properties": {"a": {"pattern": pattern}}}, {"a": text})
    if pattern in ORDINARY and not re.search(pattern, text):
        assert [error.pointer for error in errors] == ["/a"]


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "k",
        ".",
        r"\d",
        r"\w",
        r"\s",
        r"\W",
        "[ab]",
        "[^a]",
        "[a-c1]",
        "^",
        r"\b",
        r"\Z",
        r"\A",
    ]
)
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "*?", "{2,}"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds("{}{}".format, inner, inner)
        | st.builds("(?:{}|{})".format, inner, inner)
        | st.builds("(?:{}){}".format, inner, REPEATS)
        | st.builds("(?{}{})".format, st.sampled_from(["=", "!"]), inner)
        | st.builds("(?i:{})".format, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(PATTERNS, st.lists(st.text("abcABk1 \n\u212a-", max_size=7), min_size=1, max_size=4))
def test_a_pattern_means_what_re_says(pattern: str, texts: list[str]) -> None:
    for text in texts:
        assert search(pattern, text, Budget(VALUE_STEPS)) == bool(re.search(pattern, text))


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a$", "a", True),
        ("^a$", "a\n", False),  # `re` says True
        ("(?m)^a$", "b\na\nc", True),
        ("(?i)straSSe", "STRA\u017fSE", True),
        ("(?a)^\\w$", "\u00e9", False),
        ("(?<=a)b", "ab", True),
        ("(?<!a)b", "ab", False),
        ("(?s)a.b", "a\nb", True),
        ("", "", True),
        ("^$", "", True),
    ],
)
def test_the_dollar_is_the_very_end(pattern: str, text: str, found: bool) -> None:
    """As ECMA-262 has it, which JSON Schema follows."""
    assert search(pattern, text, Budget(VALUE_STEPS)) is found


def test_a_text_that_takes_more_than_is_left_is_no_answer() -> None:
    text = "".join(random.Random(62).choices("ab", k=20_000))
    with pytest.raises(TextTooLong, match="20,000 characters"):
        search("(a|b)*a(a|b){400}c", text, Budget(VALUE_STEPS))


def test_a_schema_with_such_a_pattern_anywhere_is_refused() -> None:
    for schema in (
        {"properties": {"a": {"pattern": "(a)\\1"}}},
        {"patternProperties": {"(a)\\1": {}}},
        {"anyOf": [{"items": {"pattern": "(a)\\1"}}]},
        {"$defs": {"x": {"pattern": "(a)\\1"}}},
    ):
        with pytest.raises(PatternError):
            check_schema(schema)


def test_values_and_names_that_look_like_patterns_are_not_patterns() -> None:
    check_schema(
        {
            "properties": {"pattern": {"type": "string", "default": "(a)\\1"}},
            "examples": [{"pattern": "*.py"}],
        }
    )
