"""A form that nobody changed gives back the same bytes, for any schema and arguments."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_core.forms import FormErrors, make_form
from hitl_core.jsonschema import check_args
from tests.forms.reading import read_answers

Json = dict[str, Any]

NAMES = ["a", "b", "to", "a/~", "", "kind"]
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["", " ", "a\nb", "a\r\nb", "x\r", "[]", '""', "0", "yes", "2026-11-21"]),
    st.sampled_from(["10:00:59Z", "2026-11-21T10:00:30.25+02:00", "jo@example.org", "urn:x"]),
)
numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, 0.0, -0.0, 1e40, 10**40, 0.1, 2**53 + 1, 1e-9]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)

# A strategy of pairs: a schema, and the values that it allows (mostly).
Pair = tuple[Any, st.SearchStrategy[Any]]


def pair(schema: Any, allowed: st.SearchStrategy[Any]) -> Pair:
    return schema, allowed


def an_enum(items: list[Any]) -> Pair:
    return {"enum": items}, st.sampled_from(items)


FORMATS = {
    "date": ["2026-11-21", "0001-01-01"],
    "time": ["10:00:59Z", "23:59:00.5+05:30"],
    "date-time": ["2026-11-21T10:00:30.25+02:00", "1970-01-01T00:00:00Z", "2026-11-21t10:00:00z"],
    "email": ["jo@example.org"],
    "uri": ["https://example.org/a?b#c", "urn:x"],
}
leaves: st.SearchStrategy[Pair] = st.one_of(
    st.sampled_from(
        [
            pair({"type": "string"}, texts),
            pair({"type": "string", "maxLength": 500}, texts),
            pair({"type": "integer"}, st.integers()),
            pair({"type": "integer"}, st.sampled_from([1.0, -3.0])),
            pair({"type": "number", "minimum": -(10**9)}, numbers.filter(lambda n: n >= -(10**9))),
            pair({"type": "boolean"}, st.booleans()),
            pair({"type": ["string", "null"]}, st.none() | texts),
            pair({"type": ["string", "integer"]}, texts | st.integers()),
            pair({"anyOf": [{"type": "number"}, {"type": "null"}]}, st.none() | numbers),
            pair({"type": "string", "readOnly": True}, texts),
            pair({"type": "string", "writeOnly": True}, texts),
            pair({"type": "string", "format": "password"}, texts),
            pair({"type": "array"}, st.lists(values, max_size=3)),
            pair({"type": "object"}, st.dictionaries(st.sampled_from(NAMES), values, max_size=2)),
            pair({}, values),
            pair(True, values),
            pair({"$ref": "#/$defs/node"}, st.sampled_from([{}, {"next": {"next": {}}}, {"v": 1}])),
            pair({"oneOf": [{"const": 1, "title": "One"}, {"const": None}]}, st.sampled_from([1, None])),
        ]
    ),
    st.lists(scalars, min_size=1, max_size=4).map(an_enum),
    st.sampled_from(sorted(FORMATS)).map(
        lambda name: pair({"type": "string", "format": name}, st.sampled_from(FORMATS[name]))
    ),
)  # fmt: skip


def a_list(item: Pair) -> Pair:
    return {"type": "array", "items": item[0]}, st.lists(item[1], max_size=4)


def an_object(properties: dict[str, Pair], required: list[str]) -> Pair:
    must = [name for name in required if name in properties]
    schema = {
        "type": "object",
        "properties": {name: declared for name, (declared, _) in properties.items()},
        "required": must,
    }
    allowed = st.fixed_dictionaries(
        {name: properties[name][1] for name in must},
        optional={name: held for name, (_, held) in properties.items() if name not in must},
    )
    return schema, allowed


def objects(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    properties = st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    return st.builds(an_object, properties, st.lists(st.sampled_from(NAMES), unique=True))


def in_parts(whole: Pair) -> Pair:
    return {"allOf": [whole[0], {"description": "told"}]}, whole[1]


def or_null(whole: Pair) -> Pair:
    return {"anyOf": [whole[0], {"type": "null"}], "default": None}, st.none() | whole[1]


def either(first: Pair, second: Pair) -> Pair:
    schemas = [{"title": "One", "allOf": [first[0]]}, {"title": "Two", "allOf": [second[0]]}]
    return {"anyOf": schemas}, first[1] | second[1]


def discriminate(first: Pair, second: Pair) -> Pair:
    """By a property `kind` with another constant in each."""
    schemas, held = [], []
    for name, (schema, allowed) in (("x", first), ("y", second)):
        only = {"properties": {"kind": {"const": name}}, "required": ["kind"]}
        schemas.append({"type": "object", "allOf": [schema, only]})
        held.append(allowed.map(lambda value, name=name: {**value, "kind": name}))
    return {"oneOf": schemas}, held[0] | held[1]


parts = st.recursive(
    leaves,
    lambda inner: st.one_of(
        objects(inner),
        objects(inner),
        inner.map(a_list),
        inner.map(in_parts),
        inner.map(or_null),
        st.builds(either, inner, inner),
        st.builds(discriminate, objects(inner), objects(inner)),
    ),
    max_leaves=8,
)
NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
}
roots = st.one_of(objects(parts), st.builds(discriminate, objects(parts), objects(parts)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Json, Json]:
    schema, allowed = draw(roots)
    args = draw(allowed)
    extra = draw(st.dictionaries(st.sampled_from(["more", "z"]), values, max_size=1))
    return {**schema, "$defs": {"node": NODE}}, {**args, **extra}


def write(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def with_other_line_ends(text: str | None) -> str | None:
    plain = (text or "").replace("\r\n", "\n").replace("\r", "\n")
    return plain.replace("\n", "\r\n") or None


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.sampled_from([4, 3000]))
def test_promise_8_an_untouched_form_gives_back_the_same_bytes(
    case: tuple[Json, Json], max_text: int
) -> None:
    """Given any schema and arguments, when nothing, everything as it was shown, or the same with other line
    ends is answered, then nothing is different; arguments that were wrong are still named so."""
    schema, args = case
    form = make_form(schema, args, max_text=max_text)
    shown = {field.pointer: field.initial for field in form.fields}
    before = write(args)
    wrong = bool(check_args(schema, args))
    assert len(shown) == len(form.fields)
    for answers in ({}, shown, {at: with_other_line_ends(text) for at, text in shown.items()}):
        try:
            after = read_answers(schema, args, answers, max_text=max_text)
        except FormErrors:
            assert wrong
        else:
            assert write(after) == before
            assert not wrong
    assert write(args) == before
