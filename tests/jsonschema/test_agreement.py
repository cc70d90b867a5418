"""Our validator agrees with the jsonschema library on random schemas, and with JSON Schema's official
examples.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.forms import FormErrors, make_form
from hitl_core.jsonschema import SchemaError, check_args, check_schema
from hitl_core.jsonschema.checks.problem import CheckState
from hitl_core.jsonschema.limits import Budget, TooMuchWork
from hitl_core.jsonschema.validate import compile_schema
from tests.forms.reading import read_answers

NAMES = st.sampled_from(["a", "b", "kind"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.0, 1e300])
    | st.sampled_from(["", "a", "ab", "b\n"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
SIZES = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
LIMITS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
LEAVES = (
    st.fixed_dictionaries({"type": KINDS | st.lists(KINDS, min_size=1, unique=True)})
    | st.builds(lambda key, n: {key: n}, st.sampled_from(LIMITS), st.integers(-2, 2) | st.just(0.5))
    | st.builds(lambda key, n: {key: n}, st.sampled_from(SIZES), st.integers(0, 2))
    | st.builds(lambda items: {"enum": items}, st.lists(VALUES, min_size=1, max_size=3))
    | st.builds(lambda item: {"const": item}, VALUES)
    | st.builds(lambda n: {"multipleOf": n}, st.sampled_from([1, 2, 0.5]))
    | st.builds(lambda p: {"pattern": p}, st.sampled_from(["^a", "b", "^(a|b)+", "a{2}"]))
    | st.builds(lambda names: {"required": names}, st.lists(NAMES, unique=True))
    | st.builds(
        lambda needs: {"dependentRequired": needs},
        st.dictionaries(NAMES, st.lists(NAMES, unique=True), max_size=2),
    )
    | st.just({"uniqueItems": True})
    | st.just({"$ref": "#/$defs/node"})
    | st.just({"$ref": "#named"})
    | st.booleans()
)


def _inner(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=2)
    one = {
        **dict.fromkeys(
            ["items", "contains", "not", "additionalProperties", "propertyNames"], inner
        ),
        **dict.fromkeys(["unevaluatedProperties", "unevaluatedItems", "if", "then", "else"], inner),
        **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], some),
        **dict.fromkeys(["properties", "dependentSchemas"], named),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|k"]), inner, max_size=2),
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "type": KINDS,
        "readOnly": st.booleans(),
        "title": st.just("T"),
    }
    return st.lists(st.sampled_from(sorted(one)), min_size=1, max_size=3, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: one[key] for key in keys})
    )


SCHEMAS = st.recursive(LEAVES, _inner, max_leaves=6)


def _whole(schema: Any, node: Any) -> dict[str, Any]:
    return {
        "$defs": {"node": node, "other": {"$anchor": "named", "maxLength": 1}},
        "allOf": [schema],
    }


@settings(max_examples=600, deadline=None)
@given(SCHEMAS, SCHEMAS, st.lists(VALUES, min_size=1, max_size=5))
def test_what_we_accept_and_refuse_is_what_the_library_does(
    schema: Any, node: Any, values: list[Any]
) -> None:
    """Security H2 and Low: nothing else is raised, nothing takes more than the budget."""
    root = _whole(schema, node)
    theirs, ours = jsonschema.Draft202012Validator(root), compile_schema(root)
    for value in values:
        run = CheckState()
        try:
            problems = ours.check(value, run)
        except TooMuchWork:
            continue  # a reference that goes round
        assert run.left >= 0
        try:
            assert (not problems) == theirs.is_valid(value)
        except RecursionError:
            continue


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=3))
def test_any_schema_has_words_and_a_form(schema: Any, node: Any, args: dict[str, Any]) -> None:
    """`false` among alternatives, lists of types in branches, a choice that is not set."""
    for root in ({**_whole(schema, node), "properties": {"a": schema}}, schema):
        if isinstance(root, bool):
            continue
        try:
            check_schema(root)
            assert all(error.message for error in check_args(root, args))
            form = make_form(root, args)
            some = {field.pointer: (field.initial or "0") for field in form.fields}
            for answers in ({}, dict.fromkeys(some, ""), some):
                make_form(root, args, answers=answers)
                read_answers(root, args, answers)
        except (SchemaError, FormErrors):
            continue


JSON = st.recursive(
    SCALARS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "items",
                    "enum",
                    "$ref",
                    "$id",
                    "$anchor",
                    "anyOf",
                    "properties",
                    "required",
                    "if",
                    "pattern",
                    "discriminator",
                    "mapping",
                    "dependencies",
                    "format",
                    "nullable",
                    "$defs",
                    "readOnly",
                    "dependentSchemas",
                    "additionalItems",
                    "minLength",
                    "default",
                    "$schema",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)
DRAFTS = st.sampled_from(
    [
        {},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema"},
    ]
)


@settings(max_examples=300, deadline=None)
@given(DRAFTS, st.dictionaries(st.sampled_from(["properties", "anyOf", "a", "$ref"]), JSON), JSON)
def test_junk_is_refused_or_used_and_never_crashes(
    draft: Any, junk: dict[str, Any], value: Any
) -> None:
    schema, args = {**draft, **junk}, {"a": value}
    budget = Budget(10**6)
    for strict in (False, True):
        try:
            check_schema(schema, strict=strict, budget=budget)
        except SchemaError:
            continue
        check_args(schema, args)
        make_form(schema, args)


#: What is refused of them, as docs/policy.md says.
REFUSED = ("is not fetched", "could lead to several parts")
NAMED = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
SUITE = Path(__file__).parent.parent / "data" / "json_schema_test_suite"


@pytest.mark.parametrize(
    "path", sorted(SUITE.glob("*/*.json")), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_the_official_examples(path: Path) -> None:
    """A selection of json-schema-org/JSON-Schema-Test-Suite (its licence is beside it)."""
    wrong: list[str] = []
    for case in json.loads(path.read_text()):
        schema = case["schema"] if isinstance(case["schema"], dict) else {"allOf": [case["schema"]]}
        try:
            check = compile_schema({"$schema": NAMED[path.parent.name], **schema}).check
        except SchemaError as error:
            if not any(words in str(error) for words in REFUSED):
                wrong.append(f"{case['description']}: {error}")
            continue
        for test in case["tests"]:
            if (not check(test["data"], CheckState())) != test["valid"]:
                wrong.append(f"{case['description']}: {test['description']}")
    assert wrong == []
