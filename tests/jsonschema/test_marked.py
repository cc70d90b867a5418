"""Which values of the given arguments a schema hides: those that it marks, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.jsonschema import find_fixed, find_hidden, is_hiding_unclear, mask_args

Json = dict[str, Any]
SECRET: Json = {"writeOnly": True}


@pytest.mark.parametrize(
    ("schema", "args", "hidden"),
    [
        ({"patternProperties": {"^x_": SECRET}}, {"x_a": 1, "b": 2}, ["x_a"]),
        ({"patternProperties": {"^x_": SECRET, "b": {}}}, {"x_a": 1, "b": 2}, ["x_a"]),
        ({"patternProperties": {"^x_": SECRET}}, {"a": {"x_a": 1}}, []),
        ({"patternProperties": {"^x": {"$ref": "#/$defs/s"}}, "$defs": {"s": SECRET}},
         {"x": 1, "y": 2}, ["x"]),
        ({"properties": {"a": {}}, "additionalProperties": SECRET}, {"a": 1, "b": 2}, ["b"]),
        ({"properties": {"a": SECRET}, "additionalProperties": {}}, {"a": 1, "b": 2}, ["a"]),
        ({"patternProperties": {"^x_": {}}, "additionalProperties": SECRET}, {"x_a": 1, "b": 2}, ["b"]),
        ({"patternProperties": {"^x_": SECRET}, "additionalProperties": SECRET},
         {"x_a": 1, "b": 2}, ["b", "x_a"]),
        ({"properties": {"a": {}}, "unevaluatedProperties": SECRET}, {"a": 1, "b": 2}, ["b"]),
        # What is evaluated elsewhere is not looked for: it may be hidden as well.
        ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": SECRET}, {"a": 1}, ["a"]),
        # Each part speaks for itself: `additionalProperties` doesn't know of those beside its own part.
        ({"properties": {"a": {}}, "allOf": [{"additionalProperties": SECRET}]}, {"a": 1}, ["a"]),
        ({"properties": {"l": {"prefixItems": [{}], "items": SECRET}}}, {"l": [1, 2, 3]}, ["l/1", "l/2"]),
        ({"properties": {"l": {"items": [{}], "additionalItems": SECRET}}}, {"l": [1, 2]}, ["l/1"]),
        ({"properties": {"l": {"items": [SECRET]}}}, {"l": [1, 2]}, ["l/0"]),
        ({"properties": {"l": {"items": {}, "additionalItems": SECRET}}}, {"l": [1, 2]}, []),
        ({"properties": {"l": {"contains": SECRET}}}, {"l": [1, 2]}, ["l/0", "l/1"]),
        # Nobody looks into a text: all of it is hidden.
        ({"properties": {"t": {"contentSchema": {"$ref": "#/$defs/s"}}, "u": {"contentSchema": {}}},
          "$defs": {"s": {"properties": {"a": SECRET}}}}, {"t": '{"b": 1}', "u": "x"}, ["t"]),
    ],
)  # fmt: skip
def test_a_mark_hides_the_values_that_it_is_about(
    schema: Json, args: Json, hidden: list[str]
) -> None:
    """Given `writeOnly` for some names or places; then those are hidden, and people read all others."""
    assert sorted("/".join(path) for path in find_hidden([schema], args)) == hidden
    assert not is_hiding_unclear([schema], args)


NUMBER: Json = {"properties": {"card": {"properties": {"number": SECRET}}}}


@pytest.mark.parametrize(
    ("card", "hidden"),
    [
        ('{"number": "4111"}', ["card"]),
        ("4111", ["card"]),
        (4111, ["card"]),
        ([{"number": "4111"}], ["card"]),
        ({"number": "4111"}, ["card/number"]),
        ({"holder": "Jo"}, []),
        (None, []),
        ("", []),
        ([], []),
    ],
)
def test_a_value_in_another_form_than_the_pointer_expects_is_hidden(
    card: object, hidden: list[str]
) -> None:
    """Given a pointer to a part of an object; when a model sends the object as text, as a list or as its only
    value, then all of it is hidden, because nobody looks for the part in there.
    """
    args = {"card": card}
    assert ["/".join(path) for path in find_hidden([], args, ["/card/number"])] == hidden


def test_json_in_a_text_is_hidden_and_told_where_the_schema_hides_a_part_of_it() -> None:
    """Given a schema that hides a part of an object; when a model sends the object as JSON in a text, then
    all of the text is hidden, and nobody is asked.
    """
    for text in ('{"number": "4111"}', ' {"number": "4111"', '[{"number": "4111"}]'):
        assert find_hidden([NUMBER], {"card": text}) == [("card",)]
        assert is_hiding_unclear([NUMBER], {"card": text})
    assert not is_hiding_unclear([NUMBER], {"card": {}, "other": "{}"})


LOGIN: Json = {"properties": {"name": {}, "password": SECRET}}
LOGINS: Json = {"items": LOGIN}
JO: Json = {"name": "Jo", "password": "hunter2"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (LOGIN, [JO]),
        (LOGIN, ["Jo", "hunter2"]),
        ({"type": "object", **LOGIN}, [JO]),
        ({"anyOf": [LOGIN, {"type": "null"}]}, [JO]),
        ({"allOf": [LOGIN]}, [[JO]]),
        (LOGINS, JO),
        (LOGINS, {"login": [JO]}),
        (LOGINS, [[JO]]),
        ({"additionalProperties": SECRET}, ["hunter2"]),
        ({"patternProperties": {"^p": SECRET}}, [JO]),
        ({"items": SECRET}, {"a": "hunter2"}),
        ({"prefixItems": [SECRET]}, {"0": "hunter2"}),
        ({"$ref": "#/$defs/login"}, [JO]),
        (LOGIN, "hunter2"),
        (LOGINS, "hunter2"),
        ({"anyOf": [LOGIN, {"type": "null"}, {"title": "anything"}]}, "hunter2"),
        ({"anyOf": [LOGIN, {"type": "string"}]}, '{"password": "hunter2"}'),
        ({"anyOf": [LOGIN, {"type": "integer"}], "not": {"type": "string"}}, "hunter2"),
    ],
)
def test_a_value_in_place_of_an_object_with_a_hidden_part_is_hidden_and_told(
    schema: Json, value: object
) -> None:
    """Given a schema that hides parts of an object or of a list; when a model sends the other of the two, or
    a text, then it is hidden, because nobody looks for the part in there, and nobody is asked."""
    whole = {"properties": {"value": schema}, "$defs": {"login": LOGIN}}
    for outer, args in ((whole, {"value": value}), ({"items": whole}, [{"value": value}])):
        root, made = {"properties": {"outer": outer}}, {"outer": args}
        root["$defs"] = whole["$defs"]
        assert "hunter2" not in str(mask_args(made, find_hidden([root], made)))
        assert is_hiding_unclear([root], made)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["object", "string"], **LOGIN}, "default"),
        ({"anyOf": [LOGIN, {"type": "string"}]}, "default"),
        ({"oneOf": [{"type": ["null", "integer"]}, LOGINS]}, 4111),
        ({"type": "number", "dependentSchemas": {"name": LOGIN}}, 4.5),
        ({"anyOf": [{"$ref": "#/$defs/login"}, {"$ref": "#/$defs/name"}]}, "default"),
    ],
)
def test_a_text_or_number_that_the_schema_names_beside_an_object_is_shown(
    schema: Json, value: object
) -> None:
    """Given a schema that takes an object with a hidden part, or the name of a known one; when a call has the
    name, then people read it."""
    defs = {"login": LOGIN, "name": {"type": "string", "enum": ["default", "other"]}}
    root, args = {"properties": {"value": schema}, "$defs": defs}, {"value": value}
    assert find_hidden([root], args) == []
    assert not is_hiding_unclear([root], args)


@pytest.mark.parametrize("value", [JO, [JO, JO], [], {}, None, "", True])
def test_a_schema_for_both_forms_hides_as_much_as_it_says(value: object) -> None:
    schema = {"properties": {"value": {"oneOf": [LOGIN, LOGINS]}}}
    args = {"value": value}
    assert not is_hiding_unclear([schema], args)
    masked = str(mask_args(args, find_hidden([schema], args)))
    assert "hunter2" not in masked
    assert masked.count("Jo") == str(value).count("Jo")


Wrap = Callable[[Json, Any], tuple[Json, Any]]
WRAPS: list[Wrap] = [
    lambda schema, value: ({"properties": {"a": {}, "b": schema}}, {"a": "Jo", "b": value}),
    lambda schema, value: ({"type": "object", "additionalProperties": schema}, {"a": value}),
    lambda schema, value: ({"patternProperties": {"^b$": schema}}, {"a": "Jo", "b": value}),
    lambda schema, value: ({"items": schema}, [value, value]),
    lambda schema, value: ({"contains": schema}, ["Jo", value]),
    lambda schema, value: ({"anyOf": [{"type": "null"}, schema]}, value),
    lambda schema, value: ({"if": {"type": "object"}, "else": schema}, value),
    lambda schema, value: ({"allOf": [{"title": "t"}, schema]}, value),
]
OTHER_FORMS: list[Callable[[Any], Any]] = [
    lambda value: value,
    json.dumps,
    lambda value: f"```json\n{json.dumps(value)}",
    lambda value: [value],
    lambda value: "hunter2",
    lambda value: [*value.values()] if isinstance(value, dict) else {"x": value},
]


@given(
    st.lists(st.sampled_from(WRAPS), max_size=3),
    st.sampled_from(OTHER_FORMS),
    st.lists(st.sampled_from(WRAPS), max_size=3),
)
def test_in_no_form_is_a_hidden_value_shown(
    inner: list[Wrap], other_form: Callable[[Any], Any], outer: list[Wrap]
) -> None:
    """Given a secret anywhere in a schema; when a model sends a value around it in any other form, then no
    part of the secret is shown, or nobody is asked."""
    schema, value = SECRET, "hunter2"
    for wrap in inner:
        schema, value = wrap(schema, value)
    value = other_form(value)
    for wrap in outer:
        schema, value = wrap(schema, value)
    root, args = {"properties": {"value": schema}}, {"value": value}
    shown = str(mask_args(args, find_hidden([root], args)))
    assert "hunter2" not in shown or is_hiding_unclear([root], args)


@pytest.mark.parametrize("key", ["patternProperties", "additionalProperties"])
def test_a_name_that_takes_too_long_to_try_is_hidden_and_told(key: str) -> None:
    """Given a pattern that there is no time for; then what it may be about is hidden, and nobody is asked."""
    slow = "(?:(?:a|b)*a(?:a|b){100})c"
    schema: Json = {"patternProperties": {slow: {}}, "additionalProperties": SECRET}
    if key == "patternProperties":
        schema = {"patternProperties": {slow: SECRET}}
    args = {"ab" * 300 + "b" * n + "aab" * 100: 1 for n in range(30)}
    before = find_hidden([schema], args)
    assert before
    assert is_hiding_unclear([schema], args)
    assert find_hidden([schema], args) == before, "it doesn't depend on what was tried before"


def test_what_must_not_change_is_as_exact() -> None:
    schema = {"patternProperties": {"^id_": {"readOnly": True}}, "properties": {"a": {}}}
    assert find_fixed([schema], {"id_a": 1, "a": 2}) == [("id_a",)]


def test_each_of_several_schemas_counts_also_if_they_look_alike() -> None:
    """Given schemas that Python calls equal (1 == True), and one that is not there, then the marks of all
    count.
    """
    no_mark = {"properties": {"a": {"readOnly": 1}, "b": {"writeOnly": 1}}}
    marks = {"properties": {"a": {"readOnly": True}, "b": {"writeOnly": True}}}
    args = {"a": 1, "b": 2}

    assert find_fixed([no_mark, None, marks], args) == [("a",)]
    assert find_hidden([no_mark, None, marks], args) == [("b",)]
