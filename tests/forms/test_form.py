"""A schema and arguments become a form."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import Field, SchemaError, make_form


def field(schema: Any, *value: Any, required: bool = False, max_text: int = 3000) -> Field:
    """The one field of an argument `x` with this schema, and with this value if there is one."""
    whole = {"properties": {"x": schema}, "required": ["x"] if required else []}
    form = make_form(whole, {"x": value[0]} if value else {}, max_text=max_text)
    assert [f.pointer for f in form.fields] == ["/x"]
    return form.fields[0]


@pytest.mark.parametrize(
    ("schema", "value", "kind", "initial"),
    [
        ({"type": "string"}, "abc", "text", "abc"),
        ({"type": "string"}, "", "text", None),
        ({"type": "string"}, "a\nb", "long_text", "a\nb"),
        ({"type": "string"}, "x" * 81, "long_text", "x" * 81),
        ({"type": "string", "maxLength": 500}, "a", "long_text", "a"),
        ({"type": "integer"}, 12, "integer", "12"),
        ({"type": "integer"}, 2**60, "text", str(2**60)),
        ({"type": "number"}, 1.0, "number", "1.0"),
        ({"type": "number"}, 1e-9, "text", "1e-09"),
        ({"type": "boolean"}, True, "boolean", "0"),
        ({"type": "boolean"}, False, "boolean", "1"),
        ({"enum": ["a", 1, True, None]}, True, "choice", "2"),
        ({"enum": ["a", 1]}, "not one of them", "choice", None),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, 2, "choice", "1"),
        ({"type": ["string", "null"]}, None, "text", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3, "integer", "3"),
        ({"type": "array"}, [1], "json", "[\n  1\n]"),
        ({"type": "object"}, {"é": 1}, "json", '{\n  "é": 1\n}'),
        ({"$ref": "#/properties/x/$defs/y", "$defs": {"y": {}}}, "a", "json", '"a"'),
        ({}, None, "json", "null"),
        ({"type": "string"}, 5, "json", "5"),
        ({"type": "boolean"}, "yes", "json", '"yes"'),
        ({"type": "integer"}, True, "json", "true"),
    ],
)
def test_each_schema_has_its_input(schema: Any, value: Any, kind: str, initial: str | None) -> None:
    made = field(schema, value)
    assert (made.kind, made.initial) == (kind, initial)


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "array", "object"])
def test_an_absent_argument_is_an_empty_input(kind: str) -> None:
    assert field({"type": kind, "default": None}).initial is None


def test_fields_stand_in_the_schemas_order_then_the_other_arguments() -> None:
    schema = {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    form = make_form(schema, {"z": 1, "a/~": "t", "a": 2})
    assert [f.pointer for f in form.fields] == ["/b", "/a", "/z", "/a~1~0"]
    assert [f.kind for f in form.fields] == ["text", "integer", "number", "text"]


def test_without_a_schema_the_arguments_say_what_the_fields_are() -> None:
    form = make_form(None, {"s": "t", "n": 1, "b": True, "l": [], "none": None})
    assert [f.kind for f in form.fields] == ["text", "number", "boolean", "json", "json"]


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "object", "properties": {}}, {}),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}),
        (None, {str(n): n for n in range(41)}),
    ],
)
def test_what_can_not_be_fields_is_one_json_field(schema: Any, args: dict[str, Any]) -> None:
    (whole,) = make_form(schema, args).fields
    assert (whole.pointer, whole.kind, whole.required) == ("", "json", True)


def test_labels_and_hints_say_what_is_allowed() -> None:
    limits = {"minimum": 0, "maximum": 500, "multipleOf": 5}
    made = field({"type": "integer", "title": "Amount", "description": "In euros", **limits})
    assert (made.label, made.hint) == ("Amount", "In euros. 0 to 500, a multiple of 5")
    assert (made.minimum, made.maximum) == ("0", "500")
    assert field({"type": "string", "minLength": 3, "maxLength": 9}).hint == "3 to 9 characters"
    assert field({"type": "string", "format": "email"}).hint == "An e-mail address"
    assert field({"type": "number", "exclusiveMinimum": 0}).hint == "More than 0"
    assert field({"type": "string"}).hint is None


def test_limits_that_the_value_breaks_are_left_to_the_check() -> None:
    made = field({"type": "integer", "minimum": 0, "maximum": 5}, 9)
    assert (made.minimum, made.maximum) == ("0", None)
    made = field({"type": "string", "minLength": 3, "maxLength": 4}, "abcde")
    assert (made.min_length, made.max_length) == (3, 3000)
    made = field({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10})
    assert (made.minimum, made.maximum) == ("1", "9")


def test_an_input_is_required_unless_it_may_be_submitted_empty() -> None:
    assert field({"type": "string"}, "a", required=True).required
    assert not field({"type": "string"}, "", required=True).required
    assert not field({"type": "string", "minLength": 0}, "a", required=True).required
    assert not field({"type": ["string", "null"]}, "a", required=True).required
    assert not field({"type": "string"}, "a").required


def test_what_must_not_change_is_locked() -> None:
    assert field({"type": "string", "readOnly": True}, "a").locked
    assert field({"const": 1}, 1).locked
    assert field({"const": 1}, 2).locked is None


def test_a_value_that_does_not_fit_is_locked_and_never_cut() -> None:
    long = "x" * 11
    made = field({"type": "string"}, long, max_text=10)
    assert (made.locked is not None, made.initial) == (True, long)
    assert field({"type": "string"}, "😀" * 6, max_text=10).locked  # two UTF-16 units each
    assert field({"type": "string"}, "x" * 10, max_text=10).locked is None
    assert field({"type": "array"}, [1, 2, 3], max_text=10).initial == "[1,2,3]"
    assert field({"type": "array"}, [1] * 10, max_text=10).locked


def test_a_schema_that_is_not_accepted_makes_no_form() -> None:
    with pytest.raises(SchemaError):
        make_form({"properties": {"x": {"pattern": "(a+)+$"}}}, {})
