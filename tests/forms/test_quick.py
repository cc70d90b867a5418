"""The fast yes is a yes."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.forms.quick import Quick
from tests.forms.test_round_trip import parts, values

limits = st.dictionaries(
    st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
    st.integers(-3, 3) | st.floats(-3, 3),
)
lengths = st.dictionaries(
    st.sampled_from(["minLength", "maxLength", "minItems", "maxItems"]), st.integers(0, 3)
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
types = st.fixed_dictionaries({}, optional={"type": kinds | st.lists(kinds, min_size=1)})
leaves = st.builds(
    lambda *some: {k: v for part in some for k, v in part.items()}, limits, lengths, types
)
schemas = st.recursive(
    leaves | st.just(True) | st.builds(lambda items: {"enum": items}, st.lists(values, min_size=1)),
    lambda inner: (
        st.builds(lambda items: {"items": items}, inner)
        | st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from(["a", "b", "to"]), inner)},
            optional={
                "required": st.lists(st.sampled_from(["a", "kind"]), unique=True),
                "additionalProperties": st.booleans() | inner,
            },
        )
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(schemas | parts.map(lambda pair: pair[0]), values)
def test_what_is_accepted_the_fast_way_is_valid(schema: Any, value: Any) -> None:
    root = {"$defs": {"node": {}}, "allOf": [schema]}
    if Quick().accepts(schema, value):
        assert jsonschema.Draft202012Validator(root).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 3),
        ({"type": ["integer", "null"], "description": "told"}, None),
        ({"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2}, ["abc"]),
        ({"properties": {"a": {"enum": ["x"]}}, "required": ["a"]}, {"a": "x", "b": 1}),
        ({"properties": {"a": True}, "additionalProperties": False}, {"a": 1}),
    ],
)
def test_what_most_schemas_say_is_understood(schema: Any, value: Any) -> None:
    assert Quick().accepts(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, True),
        ({"type": "integer"}, 3.0),  # draft 4 says no
        ({"enum": [1]}, True),
        ({"type": "string", "format": "email"}, "no address"),
        ({"minimum": 0, "exclusiveMinimum": True}, 0),  # as in draft 4
        ({"type": "string", "required": True}, "x"),  # as in draft 3
        ({"properties": {"a": False}}, {"a": 1}),
        ({"properties": {}, "additionalProperties": False}, {"a": 1}),
        ({"additionalProperties": False}, {"a": 1}),
    ],
)
def test_what_is_not_plain_is_left_to_the_slow_way(schema: Any, value: Any) -> None:
    assert not Quick().accepts(schema, value)
