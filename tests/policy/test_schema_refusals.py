"""Schemas in a policy that are refused when it is loaded."""

from __future__ import annotations

import pytest

from hitl_core.policy import Policy
from tests.policy.test_refusals import problems


@pytest.mark.parametrize(
    "schema", ["{x-note: 5, properties: {a: {x-unit: EUR, nullable: true, type: string}}}"]
)
def test_notes_of_ones_own_are_welcome_in_a_schema(schema: str) -> None:
    Policy.from_yaml(f"default: review\ninterrupt_on:\n  run: {{args_schema: {schema}}}")


def test_an_agent_s_own_schema_may_hold_any_note() -> None:
    """It stops no submit; but `dependencies` counts, as in the drafts that have it."""
    from hitl_core.jsonschema import check_args

    schema = {"propertes": {}, "markdownDescription": "x", "dependencies": {"a": ["b"]}}
    assert [error.pointer for error in check_args(schema, {"a": 1})] == ["/b"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            "{type: string, format: password}",
            "People write the answer, so no part of it can be `format: password`.",
        ),
        (
            "{properties: {a: {type: integer, readOnly: true}}}",
            "People write the answer, so no part of it can be `readOnly: true`.",
        ),
        (
            "{anyOf: [{type: string, writeOnly: true}]}",
            "People write the answer, so no part of it can be `writeOnly: true`.",
        ),
        (
            '{type: array, items: {$ref: "#"}}',
            "In an answer's schema a `$ref` must begin with `#/$defs/`, not '#'.",
        ),
        (
            '{$id: "https://a.b/c", $ref: "#/$defs/x", $defs: {x: {}}}',
            "The schema refers to #/$defs/x, which does not exist in it.",
        ),
    ],
)
def test_an_answer_that_nobody_could_give_is_refused_at_load(schema: str, reason: str) -> None:
    """Each answer to such a question was refused, so its review waited without end."""
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    [problem] = problems(f"default: deny\ninterrupt_on:\n  {rule}")
    assert problem.endswith(f".answer_schema: {reason}")


@pytest.mark.parametrize(
    "schema",
    [
        "{enum: [{readOnly: true}, {$ref: x}]}",
        "{const: {format: password}}",
        "{type: object, default: {writeOnly: true}, examples: [{$ref: x}]}",
        '{items: {$ref: "#a"}, $defs: {a: {$anchor: a}}}',
        '{items: {$dynamicRef: "#a"}, $defs: {a: {$dynamicAnchor: a}}}',
    ],
)
def test_values_in_a_schema_are_no_keywords(schema: str) -> None:
    """Given values that look like keywords, or references to anchors; then people can answer."""
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    Policy.from_yaml(f"default: deny\ninterrupt_on:\n  {rule}")


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("{properties: {default: {writeOnly: true}}}", "`writeOnly: true`"),
        ("{properties: {enum: {readOnly: true}}}", "`readOnly: true`"),
        (
            '{$schema: "https://json-schema.org/draft/2019-09/schema", items: {$recursiveRef: "#"}}',
            "a `$recursiveRef` must begin with `#/$defs/`",
        ),
        ('{items: {$dynamicRef: "#/properties/a"}, properties: {a: {}}}', "a `$dynamicRef` must"),
    ],
)
def test_no_name_and_no_other_reference_hides_what_nobody_could_answer(
    schema: str, what: str
) -> None:
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    [problem] = problems(f"default: deny\ninterrupt_on:\n  {rule}")
    assert what in problem


def test_names_of_properties_are_no_keywords() -> None:
    properties = "{format: {$ref: '#/$defs/t'}, readOnly: {type: boolean}, $ref: {}}"
    schema = f"{{properties: {properties}, $defs: {{t: {{}}}}}}"
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    Policy.from_yaml(f"default: deny\ninterrupt_on:\n  {rule}")
