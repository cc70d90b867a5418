"""Arguments always become the same bytes. What JSON can't hold exactly is refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.errors import InvalidToolCall
from hitl_core.model import ToolCall, decode, encode
from tests.support.cpu_time import cpu_limit

_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
_objects = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.recursive(
        _leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner), max_leaves=8
    ),
)


@given(_objects)
@settings(max_examples=40)
def test_promise_1_what_is_encoded_is_what_is_parsed(args: dict[str, Any]):
    """Given any arguments, when encoded, then parsing gives them back, and encodes to the same bytes."""
    data = encode(args)

    assert repr(data.parse()) == repr(encode(data.parse()).parse())
    assert data.parse() == args
    assert encode(data.parse()) == data
    assert decode(data.data) == args


def test_the_bytes_are_sorted_compact_utf_8():
    assert encode({"b": 1.0, "a": ["ü", None], "Z": True}).data == (
        '{"Z":true,"a":["ü",null],"b":1.0}'.encode()
    )


def test_different_arguments_have_different_hashes():
    """Also of values that are equal in Python."""
    texts = [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"a": [1]}, {}]
    texts += [{"a": "\u00fc"}, {"a": "u\u0308"}]
    assert len({encode(args).hash for args in texts}) == len(texts)


def test_each_parse_is_an_object_of_its_own():
    data = encode({"a": [1]})
    data.parse()["a"].append(2)
    assert data.parse() == {"a": [1]}


def _nest(levels: int) -> dict[str, Any]:
    value: Any = 1  # a level as well
    for _ in range(levels - 2):
        value = [value]
    return {"a": value}


def _bomb() -> dict[str, Any]:
    """Ten lists of ten of ten …: small in memory, endless as text."""
    value: list[Any] = [1]
    for _ in range(20):
        value = [value] * 10
    return {"a": value}


def _loop() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([1], "must be a JSON object, not a list"),
        (None, "must be a JSON object, not null"),
        ("{}", "must be a JSON object, not text"),
        ({"a": float("nan")}, "can't be written as JSON"),
        ({"a": float("inf")}, "can't be written as JSON"),
        ({"a": {1: 2}}, r"A key in the arguments must be text, not of type int: /a/\."),
        ({"a": {1, 2}}, "The argument /a is of type set, which JSON can't hold"),
        ({"a": b"x"}, "The argument /a is of type bytes"),
        ({"a": "\ud800"}, "half a surrogate pair"),
        ({"\udfff": 1}, "half a surrogate pair"),
        ({"a": "x" * 256 * 1024}, r"take 262,\d\d\d bytes; the limit is 262,144"),
        ({"a": "ü" * 140_000}, "the limit is 262,144"),
        (_nest(33), "nest deeper than 32 levels"),
        (_nest(5000), "nest deeper than 32 levels"),
        (_loop(), "nest deeper than 32 levels"),
        (_bomb(), "more than 262,144 values"),
        (dict.fromkeys(map(str, range(263_000))), "more than 262,144 values"),
        ({"a": 10**5000}, "can't be written as JSON"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "args",
)
def test_promise_10_values_that_json_cannot_hold_give_one_sentence(args: object, text: str):
    """T61: each within a fraction of a second, and the sentence does not hold the arguments."""
    with cpu_limit(1), pytest.raises(InvalidToolCall, match=text) as caught:
        encode(args)
    assert len(str(caught.value)) < 200


def test_the_limits_are_reachable():
    """A value at the limit is allowed."""
    assert encode(_nest(32)).parse() == _nest(32)
    assert len(encode({"a": "x" * (256 * 1024 - 8)}).data) == 256 * 1024


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' appears twice"),
        ('{"x": {"a": 1, "a": 1}}', r"the key 'a' appears twice \(at /x\)"),
        ('{"x": [1, {"a/b": NaN}], "y": NaN}', r"NaN is not a JSON number \(at /x/1/a~1b\)"),
        ('{"x": {"y": NaN}, "z": [], "z": 1}', r"the key 'z' appears twice\.$"),
        ('{"x": [2, 1e999]}', r"the number 1e999 is too large \(at /x/1\)"),
        ('{"%s": NaN}' % ("k" * 999), r"\(at /k{199}\)"),
        ('{"a": [%s7]}' % ("1" * 5000), r"more than 400 digits \(at /a/0\)"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": 1e999}', "the number 1e999 is too large"),
        ("[1]", "must be a JSON object, not a list"),
        ("{", "are not JSON"),
        ("", "are not JSON"),
        (b'{"a": "\xff"}', "are not JSON"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nest deeper"),
        ('{"a": ' + "1" * 5000 + "}", "are not JSON"),
    ],
    ids=range(16),
)
def test_json_that_could_be_read_in_two_ways_is_refused(text: str | bytes, message: str):
    """T66: nothing is guessed, and the last one doesn't win silently."""
    with pytest.raises(InvalidToolCall, match=message):
        decode(text)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "pay", "args": {}}, "The call of 'pay' has no `id`"),
        ({"id": "", "name": "pay", "args": {}}, "The call of 'pay' has no `id`"),
        ({"id": None, "name": "pay", "args": {}}, "The call of 'pay' has no `id`"),
        ({"id": 7, "name": "pay", "args": {}}, "The call of 'pay' has no `id`"),
        ({"id": "x" * 257, "name": "pay", "args": {}}, "at most 256 characters"),
        ({"id": "\ud800", "name": "pay", "args": {}}, "at most 256 characters"),
        ({"id": "c1", "args": {}}, "has the invalid tool name ''"),
        (
            {"id": "c1", "name": "delete_user\u200b", "args": {}},
            r"the invalid tool name 'delete_user\\u200b'",
        ),
        ({"id": "c1", "name": "d\u0435lete", "args": {}}, "A name has 1 to 128 of"),
        ({"id": "c1", "name": "pay\n", "args": {}}, "A name has 1 to 128 of"),
        ({"id": "c1", "name": "x" * 129, "args": {}}, "A name has 1 to 128 of"),
        ({"id": "c1", "name": "pay", "args": "{}"}, "arguments that are not a JSON object"),
        ({"id": "c1", "name": "pay", "args": None}, "arguments that are not a JSON object"),
    ],
    ids=range(13),
)
def test_promise_10_an_invalid_call_gives_one_sentence(fields: dict[str, Any], reason: str):
    """Without an id, with a strange name (T68), with arguments that are not an object."""
    with pytest.raises(InvalidToolCall, match=reason):
        ToolCall.from_mapping(fields)


def test_a_call_without_arguments_has_none():
    assert ToolCall.from_mapping({"id": "c1", "name": "ns.tool:a/b-c", "args": {}}).args == {}
