"""A schema and arguments become a form."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import Field, FormErrors, Option, make_form
from hitl_core.jsonschema import SchemaError
from tests.forms.reading import read_answers


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
        ({"enum": ["a", 1]}, "not one of them", "choice", "2"),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, 2, "choice", "1"),
        ({"type": ["string", "null"]}, None, "text", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3, "integer", "3"),
        ({"type": "array"}, [1], "json", "[1]"),
        ({"type": "object"}, {"é": 1}, "json", '{"é": 1}'),
        ({"$ref": "#/properties/x/$defs/y", "$defs": {"y": {}}}, "a", "json", '"a"'),
        ({}, None, "json", "null"),
        ({"type": "string"}, 5, "json", "5"),
        ({"type": "boolean"}, "yes", "json", '"yes"'),
        ({"type": "string"}, "a\r", "long_text", "a\r"),
        ({"type": "string", "format": "email"}, "jo@example.org", "email", "jo@example.org"),
        ({"type": "string", "format": "email"}, "jo", "text", "jo"),
        ({"type": "string", "format": "uri"}, "https://x.org", "uri", "https://x.org"),
        ({"type": "string", "format": "date"}, "2026-11-21", "date", "2026-11-21"),
        ({"type": "string", "format": "date"}, "21.11.2026", "text", "21.11.2026"),
        ({"type": "string", "format": "time"}, "14:30:59+02:00", "time", "14:30"),
        (
            {"type": "string", "format": "date-time"},
            "2026-11-21T15:30:00.5+01:00",
            "datetime",
            "1795271400",
        ),
        (
            {"type": "string", "format": "date-time"},
            "1970-01-01T00:00:00Z",
            "text",
            "1970-01-01T00:00:00Z",
        ),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], "lines", "a\nb"),
        ({"type": "array", "items": {"type": "number"}}, [1, 1.0], "lines", "1\n1.0"),
        ({"type": "array", "items": {"type": "string"}}, ["a\nb"], "json", '["a\\nb"]'),
        ({"type": "array", "items": {"type": "string"}}, ["a\r"], "json", '["a\\r"]'),
        ({"type": "array", "items": {"type": "string"}}, ["a", ""], "json", '["a", ""]'),
        ({"type": "array", "items": {"enum": ["x", 1, None]}}, [None, "x"], "choices", "2,0"),
        (
            {"type": "array", "items": {"enum": ["x", "y"]}},
            ["x", "x"],
            "json",
            '["x", "x"]',
        ),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, 5, "integer", "5"),
        ({"allOf": [{"type": "integer"}, {"type": "string"}]}, 5, "json", "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, 5, "number", "5"),
        ({"type": "integer"}, True, "json", "true"),
    ],
)
def test_each_schema_has_its_input(schema: Any, value: Any, kind: str, initial: str | None) -> None:
    made = field(schema, value)
    assert (made.kind, made.initial) == (kind, initial)


@pytest.mark.parametrize("kind", ["string", "integer", "number", "array", "object"])
def test_an_absent_argument_is_an_empty_input(kind: str) -> None:
    assert field({"type": kind, "default": "never put in"}).initial is None


@pytest.mark.parametrize("schema", [{"type": "boolean"}, {"enum": ["a", "b"]}])
def test_a_choice_that_may_be_left_out_has_an_option_for_that(schema: Any) -> None:
    made = field(schema)
    assert (made.initial, made.options[2]) == ("2", Option("Not set"))
    required = field(schema, required=True)
    assert (required.initial, len(required.options)) == (None, 2)


def test_a_value_that_is_no_option_is_seen_and_can_only_be_kept() -> None:
    made = field({"enum": ["a", "b"]}, "c", required=True)
    assert made.options[int(made.initial or "")].label == "c (now, not allowed)"


def test_without_a_schema_longer_texts_come_last_also_those_that_are_long_by_a_hint() -> None:
    args = {"body": "Hi Jo", "note": "two\nlines", "subject": "Refund", "to": "jo@example.com"}
    form = make_form(None, args, long_texts=["/body"])
    assert [f.pointer for f in form.fields] == ["/subject", "/to", "/body", "/note"]


def test_fields_have_the_schemas_order_then_come_the_other_arguments() -> None:
    schema = {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    form = make_form(schema, {"z": 1, "a/~": "t", "a": 2})
    assert [f.pointer for f in form.fields] == ["/b", "/a", "/z", "/a~1~0"]
    assert [f.kind for f in form.fields] == ["text", "integer", "number", "text"]


def test_without_a_schema_the_arguments_say_what_the_fields_are() -> None:
    args = {"s": "t", "n": 1, "b": True, "l": [], "o": {"in": {"x": 1}}, "t": ["a"], "none": None}
    form = make_form(None, args)
    assert [(f.pointer, f.kind) for f in form.fields] == [
        ("/s", "text"),
        ("/n", "number"),
        ("/b", "boolean"),
        ("/l", "json"),
        ("/o/in/x", "number"),
        ("/t", "lines"),
        ("/none", "json"),
    ]


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "object", "properties": {}}, {}),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}),
        (None, {str(n): n for n in range(401)}),
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
    assert field({"type": "string", "default": "formal"}).hint == "Default formal"
    assert field({"type": "array", "items": {"type": "string"}, "maxItems": 3}).hint == (
        "At most 3 items, one per line"
    )
    assert field({"type": "string", "format": "time"}, "14:30:00+02:00").hint == "UTC+02:00"
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
    assert field({"type": "array"}, [1, 2, 3], max_text=8).initial == "[1,2,3]"
    assert field({"type": "array"}, [1] * 10, max_text=10).locked


def test_an_enum_of_more_values_than_there_is_room_for_is_typed() -> None:
    schema = {"properties": {"x": {"enum": [f"option {n}" for n in range(300)]}}}
    assert make_form(schema, {"x": "option 7"}).fields[0].kind == "choice"
    assert make_form(schema, {"x": "option 7"}, max_options=200).fields[0].kind == "text"
    with pytest.raises(FormErrors, match=r"one of: option 0, .* and 280 more"):
        read_answers(schema, {"x": "option 7"}, {"/x": "option 300"}, max_options=200)


def test_a_schema_that_is_not_accepted_makes_no_form() -> None:
    with pytest.raises(SchemaError):
        make_form({"properties": {"x": {"pattern": "(a)\\1"}}}, {})


def test_a_value_that_reads_like_our_option_is_quoted() -> None:
    """Given a text among the values that is our own word for no value; then people can tell the two apart."""
    labels = [one.label for one in field({"enum": ["Not set", "a"]}, "a").options]
    assert labels == ['"Not set"', "a", "Not set"]
