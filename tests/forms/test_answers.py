"""Answers become arguments, or errors beside their fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.forms import FormErrors, make_form
from hitl_core.forms.field import ABSENT
from hitl_core.jsonschema import check_args
from hitl_core.jsonschema.errors import parse_pointer
from tests.forms.reading import read_answers


def errors(schema: Any, args: dict[str, Any], answers: dict[str, str | None]) -> FormErrors:
    with pytest.raises(FormErrors) as refused:
        read_answers(schema, args, answers)
    return refused.value


def one(schema: Any, value: Any, answer: str | None, *, required: bool = False) -> dict[str, Any]:
    whole = {"properties": {"x": schema}, "required": ["x"] if required else []}
    return read_answers(whole, {"x": value}, {"/x": answer})


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
subschemas = st.sampled_from(
    [
        True,
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "number"}, {"type": "null"}]},
        {"type": "array"},
        {"type": "string", "readOnly": True},
    ]
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(texts, values, max_size=5), st.sampled_from([3, 3000]))
def test_untouched_answers_give_back_the_same_bytes_without_a_schema(
    args: dict[str, Any], max_text: int
) -> None:
    form = make_form(None, args, max_text=max_text)
    answers = {f.pointer: f.initial for f in form.fields}
    assert canonical(read_answers(None, args, answers, max_text=max_text)) == canonical(args)
    assert canonical(read_answers(None, args, {}, max_text=max_text)) == canonical(args)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcde"), subschemas, max_size=5),
    st.dictionaries(st.sampled_from("abcdefg"), values, max_size=5),
)
def test_untouched_answers_give_back_the_same_bytes_or_say_what_was_already_wrong(
    properties: dict[str, Any], args: dict[str, Any]
) -> None:
    schema = {"properties": properties}
    answers = {f.pointer: f.initial for f in make_form(schema, args).fields}
    if check_args(schema, args):
        assert errors(schema, args, answers)
    else:
        assert canonical(read_answers(schema, args, answers)) == canonical(args)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(texts, values, min_size=1, max_size=4), st.data())
def test_an_answer_changes_its_own_argument_only(args: dict[str, Any], data: Any) -> None:
    field = data.draw(st.sampled_from(make_form(None, args).fields))
    result = read_answers(None, args, {field.pointer: "1" if field.kind == "boolean" else "7"})
    top = parse_pointer(field.pointer)[0]
    assert canonical({**result, top: None}) == canonical({**args, top: None})


@pytest.mark.parametrize("value", ["a\r\nb", "a\rb\n"])
def test_line_ends_that_an_input_changes_do_not_change_the_value(value: str) -> None:
    assert one({"type": "string"}, value, value.replace("\r\n", "\n").replace("\r", "\n")) == {
        "x": value
    }


@pytest.mark.parametrize(
    ("schema", "value", "answer", "result"),
    [
        ({"type": "string"}, "a", " b ", " b "),
        ({"type": "integer"}, 1, "12", 12),
        ({"type": "integer"}, 1.0, "1", 1.0),
        ({"type": "number"}, 1.0, "12", 12),
        ({"type": "number"}, 1, "1.0", 1.0),
        ({"type": "boolean"}, True, "1", False),
        ({"enum": ["a", None, 1.5]}, "a", "1", None),
        ({"type": "array"}, [], "[1, 1.0]", [1, 1.0]),
        ({"type": "integer"}, 2**60, str(2**60 + 1), 2**60 + 1),
        ({"type": "number"}, 1, "1" + "0" * 40, 10**40),
        ({"type": "number"}, 1, "1e40", 1e40),
        ({"type": "number"}, 1, "0.1", 0.1),
        ({"type": ["boolean", "null"]}, None, "0", True),
        ({"type": "array", "items": {"type": "integer"}}, [1, 1.0], "1.0\r\n2\n\n", [1.0, 2]),
        ({"type": "array", "items": {"type": "string"}}, ["a"], "[]", []),
        ({"type": "array", "items": {"enum": ["x", "y", 3]}}, ["y", "x"], "0,1,2", ["y", "x", 3]),
        ({"type": "array", "items": {"enum": ["x", "y", 3]}}, ["y", "x"], "0,2", ["x", 3]),
        ({"type": "array", "items": {"enum": [1, "y"]}}, ["y", 1.0], "0,1", ["y", 1.0]),
        ({"type": "string", "format": "date"}, "2026-11-21", "2026-01-02", "2026-01-02"),
        ({"type": "string", "format": "time"}, "10:00:59.5+02:00", "11:30", "11:30:00+02:00"),
        (
            {"type": "string", "format": "date-time"},
            "2026-11-21T15:30:10+01:00",
            "1795275000",
            "2026-11-21T16:30:00+01:00",
        ),
        ({"type": ["string", "null"]}, "a", '""', ""),
    ],
)
def test_an_answer_is_read_as_its_type(schema: Any, value: Any, answer: str, result: Any) -> None:
    assert repr(one(schema, value, answer)["x"]) == repr(result)


@pytest.mark.parametrize(
    ("schema", "required", "result"),
    [
        ({"type": "string"}, False, {}),
        ({"type": "string", "minLength": 0}, True, {"x": ""}),
        ({"type": ["string", "null"]}, False, {"x": None}),
        ({"type": ["string", "null"]}, True, {"x": None}),
    ],
)
@pytest.mark.parametrize("empty", [None, ""])
def test_a_cleared_text_goes_away_or_is_empty(
    schema: Any, required: bool, result: dict[str, Any], empty: str | None
) -> None:
    assert one(schema, "a", empty, required=required) == result


@pytest.mark.parametrize("empty", [None, ""])
def test_a_required_input_is_not_made_empty(empty: str | None) -> None:
    """Slack-clients 3: some clients send null for what nobody touched."""
    with pytest.raises(FormErrors) as refused:
        one({"type": "string"}, "a", empty, required=True)
    assert refused.value.fields == {"/x": "is required"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2026-11-21T15:30:10.25+01:00", "1795271410"),
        ("2026-11-21T15:30:10.25+01:00", "1795271400"),  # as a picker without seconds gives it back
        ("2026-11-21t14:30:00z", "1795271400"),
    ],
)
def test_a_moment_that_is_the_same_keeps_its_text(text: str, answer: str) -> None:
    assert one({"type": "string", "format": "date-time"}, text, answer) == {"x": text}


def test_two_quotes_are_the_empty_text_only_where_an_empty_input_means_something_else() -> None:
    assert one({"type": "string"}, "a", '""') == {"x": ""}
    assert one({"type": "string"}, "a", '""', required=True) == {"x": '""'}
    assert one({"type": "string"}, '""', '""') == {"x": '""'}  # nobody touched it


@pytest.mark.parametrize(
    ("schema", "required", "result"),
    [
        ({"type": "array", "items": {"type": "string"}}, False, {}),
        ({"type": "array", "items": {"type": "string"}}, True, {"x": []}),
        ({"type": ["array", "null"], "items": {"enum": ["a", "b"]}}, False, {"x": None}),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, True, {"x": []}),
    ],
)
def test_a_cleared_list_goes_away_or_is_empty(
    schema: Any, required: bool, result: dict[str, Any]
) -> None:
    assert one(schema, ["a"], "", required=required) == result


@pytest.mark.parametrize(
    ("nullable", "answer", "result"),
    [(False, "2", {}), (False, "", {}), (True, "2", {"x": None}), (True, "1", {"x": False})],
)
def test_a_boolean_has_three_states(nullable: bool, answer: str, result: dict[str, Any]) -> None:
    schema = {"type": ["boolean", "null"] if nullable else "boolean"}
    assert one(schema, True, answer) == result


def test_not_set_keeps_null_and_absent_apart() -> None:
    schema = {"properties": {"x": {"type": ["boolean", "null"]}}}
    for args in ({}, {"x": None}):
        for answer in ("2", "", None):
            assert read_answers(schema, args, {"/x": answer}) == args


def test_an_error_in_a_list_says_which_line() -> None:
    schema = {"properties": {"x": {"type": "array", "items": {"type": "integer", "minimum": 1}}}}
    assert errors(schema, {"x": [1]}, {"/x": "1\nb"}).fields == {
        "/x": "line 2 must be a whole number"
    }
    assert errors(schema, {"x": [1]}, {"/x": "1\n0"}).fields == {
        "/x": "number 2 must be at least 1"
    }


def test_the_whole_arguments_are_one_json_object() -> None:
    assert read_answers(None, {}, {"": '{"a": 1}'}) == {"a": 1}
    assert errors(None, {}, {"": "[1]"}).fields == {"": "must be a JSON object"}
    assert errors(None, {}, {"": ""}).fields == {"": "is required"}
    schema = {"not": {"required": ["b"]}, "patternProperties": {"a": {"type": "integer"}}}
    assert errors(schema, {"a": 1}, {"": '{"a": "x"}'}).fields == {"": "a must be a whole number"}


def test_an_answer_to_a_field_that_the_form_does_not_have_is_not_dropped() -> None:
    assert "Open it again" in errors(None, {"a": 1}, {"/b": "1"}).top[0]


def test_a_half_character_is_refused() -> None:
    assert "half a character" in errors(None, {"a": "x"}, {"/a": "\ud800"}).fields["/a"]


def test_half_a_character_on_a_line_is_an_error_of_the_field() -> None:
    """Given a list of texts, when a line has a lone surrogate, then it is refused at its field."""
    schema = {"properties": {"x": {"type": "array", "items": {"type": "string"}}}}
    with pytest.raises(FormErrors) as caught:
        read_answers(schema, {"x": ["a"]}, {"/x": "a\n\ud800"})
    assert "half a character" in caught.value.fields["/x"]


@pytest.mark.parametrize(
    ("declared", "filled"),
    [
        ({"type": "array", "items": {"enum": ["x", "y"]}}, []),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "string", "minLength": 0}, ""),
        ({"type": ["integer", "null"]}, None),
        ({"enum": ["a", None]}, ABSENT),
        ({"type": "array", "items": {"enum": ["x"]}, "minItems": 1}, ABSENT),
        ({"type": "boolean"}, ABSENT),
        ({"type": "string"}, ABSENT),
    ],
)
def test_a_blank_input_of_a_new_answer_is_a_value_if_the_form_says_so(
    declared: dict[str, Any], filled: object
) -> None:
    """Given a required value that isn't there yet: an answer that leaves a field out that the form calls
    optional is null or empty; any other is asked for. An edit never adds a value that nobody entered."""
    schema = {"properties": {"v": declared}, "required": ["v"]}
    form = make_form(schema, {}, fills_blanks=True)
    [field] = form.fields
    if filled is ABSENT:
        with pytest.raises(FormErrors, match="is required"):
            form.read({"/v": None})
    else:
        assert not field.required
        assert form.read({"/v": None}) == {"v": filled}
    with pytest.raises(FormErrors, match="is required"):
        make_form(schema, {}).read({"/v": None})


LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
MAYBE: dict[str, Any] = {"type": ["string", "null"], "minLength": 1}


@pytest.mark.parametrize(
    ("declared", "filled"),
    [
        ({"type": "object", "properties": {"a": LIST}, "required": ["a"]}, {"a": []}),
        ({"anyOf": [{"properties": {"a": MAYBE}, "required": ["a"]}, {"type": "null"}]}, None),
        (
            {
                "properties": {"a": {"properties": {"b": MAYBE}, "required": ["b"]}},
                "required": ["a"],
            },
            {"a": {"b": None}},
        ),
        (
            {
                "properties": {f"p{at}": LIST for at in range(60)},
                "required": [f"p{at}" for at in range(60)],
            },
            {f"p{at}": [] for at in range(60)},
        ),
    ],
)
def test_a_blank_answer_with_objects_is_a_value_if_the_form_says_so(
    declared: dict[str, Any], filled: object
) -> None:
    """Given a new answer with values inside objects, or with very many; when a person leaves all fields out,
    which the form calls optional, then that is an answer: it was refused as required."""
    schema = {"properties": {"v": declared}, "required": ["v"]}
    form = make_form(schema, {}, fills_blanks=True)
    assert not any(field.required for field in form.fields)
    assert form.read({field.pointer: None for field in form.fields}) == {"v": filled}


def test_an_optional_object_that_another_value_needs_is_not_filled_in() -> None:
    schema: dict[str, Any] = {
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "object", "properties": {"c": MAYBE}},
        },
        "dependentRequired": {"a": ["b"]},
    }
    with pytest.raises(FormErrors, match="is required"):
        make_form(schema, {}, fills_blanks=True).read({"/a": "x", "/b/c": None})


def test_an_optional_value_that_another_one_needs_is_not_filled_in() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}}
    schema |= {"dependentRequired": {"a": ["b"]}}
    with pytest.raises(FormErrors, match="is required"):
        make_form(schema, {}, fills_blanks=True).read({"/a": "x", "/b": None})
