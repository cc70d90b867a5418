"""Hidden values are in no form, and an edit leaves them as they are."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings

from hitl_core.forms import FormErrors, make_form
from hitl_core.forms.edit_args import find_changed_fixed
from hitl_core.jsonschema import check_args, find_hidden, is_hiding_unclear, mask_args
from tests.forms.reading import read_answers
from tests.forms.test_round_trip import cases, write

Json = dict[str, Any]
SECRET = "s3cr3t"


def row(**said: Any) -> Json:
    return {"type": "object", "properties": {"name": {"type": "string"}, "pin": said}}


@pytest.mark.parametrize("text", [{"writeOnly": True}, {"type": "string", "format": "password"}])
@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (lambda pin: row(**pin), {"name": "n", "pin": SECRET}),
        (lambda pin: {"properties": {"o": row(**pin)}}, {"o": {"pin": SECRET}}),
        (lambda pin: {"properties": {"l": {"items": row(**pin)}}}, {"l": [{"pin": SECRET}]}),
        (lambda pin: {"additionalProperties": row(**pin)}, {"x": {"name": "n", "pin": SECRET}}),
        (lambda pin: {"patternProperties": {"^x": pin}}, {"x1": SECRET}),
        (lambda pin: {"properties": {"o": {"allOf": [row(**pin)]}}}, {"o": {"pin": SECRET}}),
        (lambda pin: {"properties": {"o": {"oneOf": [row(**pin), {"type": "null"}, {"type": "string"}]}}},
         {"o": {"pin": SECRET}}),
        (lambda pin: {"properties": {"v": {"anyOf": [pin, {"type": "null"}]}}}, {"v": SECRET}),
        (lambda pin: {"$defs": {"p": pin}, "properties": {"v": {"$ref": "#/$defs/p"}}}, {"v": SECRET}),
        (lambda pin: {"$defs": {"p": pin}, "properties": {"v": {"items": {"$ref": "#/$defs/p"}}}},
         {"v": [SECRET]}),
        (lambda pin: {"if": {"properties": {"v": pin}}, "properties": {"v": {}}}, {"v": SECRET}),
    ],
)  # fmt: skip
def test_a_secret_of_the_schema_is_hidden_everywhere(schema: Any, args: Json, text: Json) -> None:
    form = make_form(schema(text), args)
    assert SECRET not in repr(form)
    assert any(field.locked for field in form.fields)
    everything = {field.pointer: "typed" for field in form.fields if field.locked}
    assert read_answers(schema(text), args, everything) == args


def test_a_hidden_field_says_what_it_is_and_nothing_of_the_value() -> None:
    message = {
        "writeOnly": True,
        "enum": [SECRET, "b"],
        "default": SECRET,
        "description": "The PIN",
    }
    (_, field) = make_form(row(**message), {"pin": SECRET}).fields
    assert (field.label, field.hint, field.hidden, field.initial) == ("pin", "The PIN", True, None)
    assert (field.options, bool(field.locked)) == ((), True)


ARGS: Json = {"token": SECRET, "card": {"number": SECRET, "owner": "jo"}, "list": [[SECRET, "b"]]}


@pytest.mark.parametrize(
    "schema", [None, {"properties": {"card": {}, "token": {"type": "string"}}}]
)
def test_what_the_policy_hides_is_hidden_and_what_holds_it_can_not_be_changed(schema: Any) -> None:
    redact = ["/token", "/card/number", "/list/0/0", "/nothing"]
    form = make_form(schema, ARGS, redact=redact)
    assert SECRET not in repr(form)
    fields = {field.pointer: field for field in form.fields}
    assert fields["/token"].hidden
    assert "(hidden)" in str(fields["/list"].initial)
    assert "b" in str(fields["/list"].initial)
    assert "part of this is hidden" in str(fields["/list"].locked)
    answers = {at: "[]" for at, field in fields.items() if field.locked}
    assert read_answers(schema, ARGS, answers, redact=redact) == ARGS


def test_a_value_above_what_is_named_is_hidden_with_all_that_it_holds() -> None:
    (field,) = make_form(None, ARGS, redact=[""]).fields
    assert (field.pointer, field.hidden, field.initial) == ("", True, None)
    assert [f.pointer for f in make_form(None, ARGS, redact=["/card"]).fields if f.hidden] == [
        "/card"
    ]


def test_whole_arguments_in_one_field_hide_their_part() -> None:
    args = {**{f"a{n}": n for n in range(500)}, "token": SECRET}
    (field,) = make_form(None, args, redact=["/token"]).fields
    assert field.locked
    assert SECRET not in repr(field)


def test_an_error_does_not_quote_a_hidden_value() -> None:
    schema = {"properties": {"pin": {"type": "integer"}, "n": {"type": "integer"}}}
    with pytest.raises(FormErrors) as refused:
        read_answers(schema, {"pin": SECRET, "n": 1}, {"/n": "2"}, redact=["/pin"])
    assert refused.value.fields == {"/pin": "is hidden, and its value is not valid"}


def test_what_there_is_no_time_to_look_into_is_hidden() -> None:
    schema = {"properties": {"rows": {"items": row(writeOnly=True)}}}
    args = {"rows": [{"name": "n", "pin": SECRET}] * 9_000}
    (field,) = make_form(schema, args).fields
    assert (field.pointer, field.hidden) == ("/rows", True)


def test_a_hidden_discriminator_makes_no_choice_that_would_tell_it() -> None:
    forms = [{"properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in ("x", "y")]
    schema = {"properties": {"o": {"oneOf": forms}}}
    (field,) = make_form(schema, {"o": {"kind": "x"}}, redact=["/o/kind"]).fields
    assert (field.pointer, field.kind, bool(field.locked)) == ("/o", "json", True)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_hiding_an_argument_changes_nothing_else(case: tuple[Json, Json]) -> None:
    """Given any schema and arguments, when one of them is hidden, then an untouched form gives it back."""
    schema, args = case
    for name in list(args)[:1]:
        redact = ["/" + name.replace("~", "~0").replace("/", "~1")]
        form = make_form(schema, args, redact=redact)
        shown = {field.pointer: field.initial for field in form.fields}
        assert any(field.hidden or "(hidden)" in str(field.initial) for field in form.fields)
        with suppress(FormErrors):  # for arguments that were wrong before
            assert write(read_answers(schema, args, shown, redact=redact)) == write(args)


def bundle(word: str = "$id", **more: Any) -> Json:
    """A compound document: inside `account` a `#/…` is looked up from there, as the root has other parts of
    these names."""
    account: Json = {
        word: "account",
        "type": "object",
        "$defs": {
            "secret": {"type": "string", "writeOnly": True},
            "fixed": {"type": "string", "readOnly": True},
        },
        "properties": {
            "user": {"$ref": "#/$defs/fixed"},
            "password": {"$ref": "#/$defs/secret"},
        },
    }
    plain = {"secret": {"type": "string"}, "fixed": {"type": "string"}, "account": account}
    return {
        word: "https://acme.example/login",
        "type": "object",
        "properties": {"account": {"$ref": "#/$defs/account"}},
        "$defs": plain,
        **more,
    }


@pytest.mark.parametrize(
    "schema", [bundle(), bundle("id", **{"$schema": "http://json-schema.org/draft-04/schema#"})]
)
def test_a_reference_that_the_check_follows_elsewhere_is_never_followed_for_marks(
    schema: Json,
) -> None:
    """Given a schema whose part has an address of its own, then what its references lead to is
    not known: nobody is asked about such arguments, nothing of them is shown, and nothing may change."""
    args: Json = {"account": {"user": "ada", "password": SECRET}}
    assert check_args(schema, args) == []
    assert is_hiding_unclear([schema], args)
    assert mask_args(args, find_hidden([schema], args)) == {"account": "(hidden)"}
    assert find_changed_fixed([schema], args, {"account": {"user": "bo", "password": SECRET}})


def test_an_address_at_the_root_changes_nothing() -> None:
    schema = {"$id": "https://acme.example/x", "$defs": {"p": {"writeOnly": True}},
              "properties": {"id": {"$ref": "#/$defs/p"}}}  # fmt: skip
    assert not is_hiding_unclear([schema], {"id": SECRET})
    assert find_hidden([schema], {"id": SECRET}) == [("id",)]


@pytest.mark.parametrize(
    ("schema", "value", "hidden"),
    [
        ({"enum": [{"plan": "a", "pin": SECRET}, {"plan": "b"}]}, {"plan": "a", "pin": SECRET}, "/v/pin"),
        ({"type": "array", "items": {"enum": ["a", SECRET]}}, ["a", SECRET], "/v/1"),
    ],
)  # fmt: skip
def test_a_choice_that_holds_a_hidden_part_is_no_choice(
    schema: Json, value: Any, hidden: str
) -> None:
    """Given a value between options, of which a part is hidden, then its field is locked JSON without
    options: they would show the hidden part."""
    form = make_form({"properties": {"v": schema}}, {"v": value}, redact=[hidden])
    [field] = form.fields
    assert (field.kind, field.options) == ("json", ())
    assert field.locked is not None
    assert field.initial is not None
    assert SECRET not in field.initial
    assert SECRET not in str(form.shown_texts())
