"""Properties that only `patternProperties` or `additionalProperties` describes."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import Field, make_form
from hitl_core.jsonschema import find_hidden
from tests.forms.reading import read_answers

Json = dict[str, Any]
SECRET: Json = {"type": "string", "writeOnly": True}
NUMBER: Json = {"type": "integer", "minimum": 3}


def field_of(schema: Json, args: Json, pointer: str) -> Field:
    return next(field for field in make_form(schema, args).fields if field.pointer == pointer)


def test_a_name_that_a_pattern_covers_is_not_hidden_by_additional_properties() -> None:
    """Given names that a pattern is about, and others that are secret; then the form hides what the schema
    hides, and nothing else."""
    schema: Json = {"patternProperties": {"^x_": NUMBER}, "additionalProperties": SECRET}
    args = {"x_a": 5, "pin": "s3cr3t"}
    assert find_hidden([schema], args) == [("pin",)]
    shown = field_of(schema, args, "/x_a")
    assert (shown.hidden, shown.locked, shown.kind, shown.minimum) == (False, None, "integer", "3")
    assert field_of(schema, args, "/pin").hidden
    assert read_answers(schema, args, {"/x_a": "7"}) == {"x_a": 7, "pin": "s3cr3t"}


def test_a_name_that_a_secret_pattern_covers_is_hidden() -> None:
    schema: Json = {"patternProperties": {"^x_": SECRET}, "additionalProperties": NUMBER}
    assert field_of(schema, {"x_a": "s3cr3t", "n": 4}, "/x_a").hidden
    assert field_of(schema, {"x_a": "s3cr3t", "n": 4}, "/n").kind == "integer"


@pytest.mark.parametrize("others", [False, True, {"type": "string"}])
def test_all_patterns_that_match_a_name_count(others: object) -> None:
    patterns = {"^x": {"type": "integer", "minimum": 3}, "a$": {"maximum": 9}, "^y": SECRET}
    schema: Json = {"patternProperties": patterns, "additionalProperties": others}
    shown = field_of(schema, {"xa": 5}, "/xa")
    assert (shown.kind, shown.minimum, shown.maximum) == ("integer", "3", "9")


@pytest.mark.parametrize("keyword", ["pattern", "additional"])
def test_a_title_for_many_names_is_no_label(keyword: str) -> None:
    """Given one title for all names that are not declared; then each field has its own name as its label."""
    part: Json = {"type": "string", "title": "Amount"}
    schema = (
        {"patternProperties": {"": part}}
        if keyword == "pattern"
        else {"additionalProperties": part}
    )
    fields = make_form(schema, {"fee": "1", "total": "2"}).fields
    assert [field.label for field in fields] == ["fee", "total"]


def branches(*patterns: str) -> Json:
    """A value with one form for each pattern: only names that match it are allowed."""
    return {
        "properties": {
            "v": {
                "oneOf": [
                    {
                        "title": f"Form {pattern}",
                        "type": "object",
                        "properties": {"k": {"const": pattern}},
                        "patternProperties": {pattern: {"type": "string"}},
                        "additionalProperties": False,
                    }
                    for pattern in patterns
                ]
            }
        },
        "required": ["v"],
    }


def test_a_branch_with_patterns_is_the_one_that_the_value_has() -> None:
    """Given a value without its discriminator, then its names tell the branch."""
    schema = branches("^a", "^b")
    assert field_of(schema, {"v": {"b1": "x"}}, "/v~").initial == "1"


def test_another_branch_keeps_the_names_that_its_patterns_allow() -> None:
    schema = branches("^a", "1$")
    args = {"v": {"k": "^a", "a1": "x", "a2": "y"}}
    assert read_answers(schema, args, {"/v~": "1"}) == {"v": {"k": "1$", "a1": "x"}}
