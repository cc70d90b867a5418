"""Nested objects, references and `allOf`: how deep the fields go, and what an empty object becomes."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import FormErrors, make_form
from hitl_core.jsonschema import check_schema
from tests.forms.reading import read_answers

Json = dict[str, Any]
ADDRESS = {
    "title": "Address",
    "type": "object",
    "properties": {
        "street": {"type": "string"},
        "city": {"type": "string", "title": "Town"},
        "geo": {
            "type": "object",
            "properties": {
                "lat": {"type": "number"},
                "more": {"type": "object", "properties": {"x": {"type": "integer"}}},
            },
        },
    },
    "required": ["street", "city"],
}
ORDER: Json = {
    "$defs": {"address": ADDRESS},
    "properties": {
        "to": {"$ref": "#/$defs/address"},
        "bill": {"anyOf": [{"$ref": "#/$defs/address"}, {"type": "null"}]},
    },
    "required": ["to"],
}
ARGS: Json = {"to": {"street": "s", "city": "c", "geo": {"lat": 1.0}, "floor": 2}}


def pointers(schema: Json | None, args: Json) -> list[str]:
    return [field.pointer for field in make_form(schema, args).fields]


def test_two_levels_are_fields_and_what_is_deeper_is_json() -> None:
    fields = make_form(ORDER, ARGS).fields[:6]
    assert [(field.label, field.kind, field.required) for field in fields] == [
        ("to \u203a street", "text", True),
        ("to \u203a Town", "text", True),
        ("to \u203a geo \u203a lat", "number", False),
        ("to \u203a geo \u203a more", "json", False),
        ("to \u203a floor", "number", False),  # an argument that the schema doesn't name
        ("bill \u203a street", "text", False),
    ]


@pytest.mark.parametrize("given", [{}, {"bill": None}])
def test_an_optional_object_whose_fields_are_blank_stays_as_it_is(given: Json) -> None:
    answers = {field.pointer: "" for field in make_form(ORDER, given).fields}
    schema = {**ORDER, "required": []}
    assert read_answers(schema, given, answers) == given


def test_a_field_of_an_absent_object_makes_the_object() -> None:
    answers = {"/bill/street": "s", "/bill/city": "c", "/bill/geo/lat": "0.5"}
    after = read_answers(ORDER, ARGS, answers)
    assert after == {**ARGS, "bill": {"street": "s", "city": "c", "geo": {"lat": 0.5}}}


def test_half_an_object_is_told_beside_the_half_that_is_missing() -> None:
    with pytest.raises(FormErrors) as refused:
        read_answers(ORDER, ARGS, {"/bill/street": "s"})
    assert refused.value.fields == {"/bill/city": "is required"}


@pytest.mark.parametrize(
    ("kind", "required", "left"),
    [
        ("object", [], {}),
        ("object", ["o"], {"o": {}}),
        (["object", "null"], [], {"o": None}),
    ],
)
def test_an_object_goes_with_the_last_of_its_fields(kind: Any, required: Any, left: Json) -> None:
    inner = {"type": kind, "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    schema = {"properties": {"o": inner}, "required": required}
    given = {"o": {"a": "x", "b": 1}}
    assert read_answers(schema, given, {"/o/a": ""}) == {"o": {"b": 1}}
    assert read_answers(schema, given, {"/o/a": "", "/o/b": ""}) == left


def test_reading_never_changes_what_it_was_given() -> None:
    given = {"to": {"street": "s", "city": "c", "geo": {"lat": 1.0}}}
    read_answers(ORDER, given, {"/to/geo/lat": "2", "/to/street": "t"})
    assert given == {"to": {"street": "s", "city": "c", "geo": {"lat": 1.0}}}


def test_parts_are_put_together() -> None:
    base = {"properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}
    more = {"properties": {"a": {"maximum": 5}, "b": {"type": "string"}}}
    schema = {"$defs": {"base": base}, "allOf": [{"$ref": "#/$defs/base"}, more]}
    first, second = make_form(schema, {"a": 2}).fields
    assert (first.kind, first.minimum, first.maximum, first.required) == ("integer", "1", "5", True)
    assert (second.pointer, second.kind) == ("/b", "text")


def test_parts_that_contradict_each_other_are_json() -> None:
    schema = {"properties": {"x": {"allOf": [{"pattern": "a"}, {"pattern": "b"}]}}}
    (field,) = make_form(schema, {"x": "ab"}).fields
    assert (field.kind, field.initial) == ("json", '"ab"')


def test_a_schema_that_goes_round_ends_as_json() -> None:
    node = {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    schema = {"$defs": {"node": node}, "properties": {"list": {"$ref": "#/$defs/node"}}}
    args = {"list": {"v": 1, "next": {"v": 2, "next": {"v": 3}}}}
    fields = make_form(schema, args).fields
    assert [(f.pointer, f.kind) for f in fields] == [("/list/v", "integer"), ("/list/next", "json")]
    assert read_answers(schema, args, {"/list/v": "9"})["list"]["v"] == 9


@pytest.mark.parametrize(("length", "kind"), [(7, "integer"), (12, "json")])
def test_references_are_followed_eight_deep(length: int, kind: str) -> None:
    links: Json = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(length)}
    schema = {
        "$defs": {**links, f"d{length}": {"type": "integer"}},
        "properties": {"x": {"$ref": "#/$defs/d0"}},
    }
    assert make_form(schema, {"x": 1}).fields[0].kind == kind


def test_draft_7_is_read_as_well() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"size": {"enum": ["s", "m"]}},
        "properties": {"size": {"$ref": "#/definitions/size"}, "pair": {"items": [{}, {}]}},
    }
    assert [f.kind for f in make_form(schema, {"pair": [1, 2]}).fields] == ["choice", "json"]


def test_other_arguments_get_the_field_that_their_schema_or_their_value_says() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": ["string", "null"]}}
    fields = make_form(schema, {"a": 1, "b": None}).fields
    assert [(f.pointer, f.kind) for f in fields] == [("/a", "json"), ("/b", "text")]
    assert pointers({"properties": {"a": False, "b": True}}, {}) == ["/b"]


def test_objects_with_more_fields_than_a_form_has_stay_whole() -> None:
    wide = {f"o{n}": {f"a{k}": k for k in range(30)} for n in range(20)}
    assert pointers(None, wide) == [f"/o{n}" for n in range(20)]


def test_read_only_parts_of_a_json_value_must_stay() -> None:
    inner = {"properties": {"id": {"type": "string", "readOnly": True}, "n": {"type": "integer"}}}
    deep = {"properties": {"b": {"properties": {"c": inner}}}}
    schema = {"properties": {"a": deep}}
    args = {"a": {"b": {"c": {"id": "x", "n": 1}}}}
    after = read_answers(schema, args, {"/a/b/c": '{"id": "x", "n": 2}'})
    assert after == {"a": {"b": {"c": {"id": "x", "n": 2}}}}
    for typed in ('{"id": "y", "n": 2}', '{"n": 2}'):
        with pytest.raises(FormErrors, match="must keep id unchanged"):
            read_answers(schema, args, {"/a/b/c": typed})


def test_a_read_only_object_locks_what_is_in_it() -> None:
    schema = {"properties": {"a": {"readOnly": True, "properties": {"b": {"type": "string"}}}}}
    (field,) = make_form(schema, {"a": {"b": "x"}}).fields
    assert (field.pointer, field.initial, bool(field.locked)) == ("/a/b", "x", True)
    assert read_answers(schema, {"a": {"b": "x"}}, {"/a/b": "y"}) == {"a": {"b": "x"}}


def _fan(keyword: str) -> Json:
    """Twenty levels that each name the next one twice."""
    levels = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 20)}
    return {
        "$defs": {"d0": {"type": "string"}, **levels},
        "properties": {"x": {"$ref": "#/$defs/d19"}},
    }


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_fan_out_make_a_json_field_at_once(keyword: str) -> None:
    """T63: given a schema that is a million parts when it is written out, then its form costs no more than
    it."""
    schema = _fan(keyword)
    check_schema(schema)
    assert make_form(schema, {"x": "a"}).fields[0].kind == "json"
