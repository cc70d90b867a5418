"""Values for which a schema has several branches: which branch is shown, and what happens if a person chooses
another one.
"""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import Form, FormErrors, make_form
from tests.forms.reading import read_answers

Json = dict[str, Any]
CARD = {
    "title": "Card",
    "properties": {
        "kind": {"const": "card"},
        "number": {"type": "string", "minLength": 1},
        "note": {"type": "string"},
    },
    "required": ["kind", "number"],
}
BANK = {
    "title": "Bank",
    "properties": {
        "kind": {"enum": ["bank"]},
        "iban": {"type": "string", "minLength": 1},
        "note": {"type": "string"},
    },
    "required": ["kind", "iban"],
}
PAY: Json = {"properties": {"pay": {"oneOf": [CARD, BANK]}}, "required": ["pay"]}
ARGS: Json = {"pay": {"kind": "card", "number": "4", "note": "n", "trace": 7}}


def fields_of(form: Form) -> list[tuple[str, str | None]]:
    return [(field.pointer, field.initial) for field in form.fields]


def test_the_choice_comes_before_the_fields_of_its_form() -> None:
    choice, number, note, trace = make_form(PAY, ARGS).fields
    assert (choice.pointer, choice.kind, choice.redraws, choice.initial) == (
        "/pay~",
        "choice",
        True,
        "0",
    )
    assert [option.label for option in choice.options] == ["Card", "Bank"]
    assert (number.pointer, number.label, number.required) == (
        "/pay/number",
        "pay \u203a number",
        True,
    )
    assert (note.pointer, trace.pointer) == ("/pay/note", "/pay/trace")


def test_choosing_another_form_draws_its_fields_and_keeps_what_was_typed_in_those_that_stay() -> (
    None
):
    answers = {"/pay~": "1", "/pay/number": "5", "/pay/note": "typed"}
    form = make_form(PAY, ARGS, answers=answers)
    assert fields_of(form) == [
        ("/pay~", "1"),
        ("/pay/iban", None),
        ("/pay/note", "typed"),
        ("/pay/trace", "7"),
    ]
    after = read_answers(PAY, ARGS, {**answers, "/pay/iban": "DE"})
    assert after == {"pay": {"kind": "bank", "iban": "DE", "note": "typed", "trace": 7}}


def test_what_does_not_fit_the_field_of_the_same_name_in_another_form_is_left_behind() -> None:
    one = {"title": "One", "properties": {"v": {"type": "string"}}, "additionalProperties": False}
    two = {"title": "Two", "properties": {"v": {"type": "integer"}}, "additionalProperties": False}
    schema = {"properties": {"x": {"anyOf": [one, two]}}, "required": ["x"]}
    form = make_form(schema, {"x": {"v": "t"}}, answers={"/x~": "1"})
    assert fields_of(form) == [("/x~", "1"), ("/x/v", None)]
    assert read_answers(schema, {"x": {"v": "t"}}, {"/x~": "1", "/x/v": "3"}) == {"x": {"v": 3}}


def test_a_text_that_may_be_empty_can_be_made_so_in_its_form_as_well() -> None:
    kinds = [{"type": "string", "minLength": 0}, {"type": "integer"}]
    schema = {"properties": {"x": {"anyOf": kinds}}, "required": ["x"]}
    assert read_answers(schema, {"x": "a"}, {"/x": ""}) == {"x": ""}
    assert read_answers({**schema, "required": []}, {"x": "a"}, {"/x": ""}) == {}


def test_back_at_the_first_form_nothing_has_changed() -> None:
    answers = {"/pay~": "0", "/pay/iban": "typed in between"}
    assert fields_of(make_form(PAY, ARGS, answers=answers)) == fields_of(make_form(PAY, ARGS))
    assert read_answers(PAY, ARGS, answers) == ARGS


def test_what_the_new_form_needs_is_told_beside_its_field() -> None:
    with pytest.raises(FormErrors) as refused:
        read_answers(PAY, ARGS, {"/pay~": "1"})
    assert refused.value.fields == {"/pay/iban": "is required"}


def test_a_form_that_must_be_chosen_is_asked_for() -> None:
    choice = make_form(PAY, {}).fields[0]
    assert (choice.initial, choice.required, len(make_form(PAY, {}).fields)) == (None, True, 1)
    with pytest.raises(FormErrors) as refused:
        read_answers(PAY, {}, {"/pay~": None})
    assert refused.value.fields == {"/pay~": "is required"}
    with pytest.raises(FormErrors, match="not one of the options"):
        read_answers(PAY, {}, {"/pay~": "9"})


def test_a_value_that_may_be_left_out_can_be_not_set() -> None:
    schema = {**PAY, "required": []}
    choice = make_form(schema, ARGS).fields[0]
    assert [option.label for option in choice.options] == ["Card", "Bank", "Not set"]
    assert fields_of(make_form(schema, ARGS, answers={"/pay~": "2"})) == [("/pay~", "2")]
    assert read_answers(schema, ARGS, {"/pay~": "2"}) == {}
    assert read_answers(schema, {}, {"/pay~": "2"}) == {}


def test_an_answer_outside_of_all_forms_is_not_dropped() -> None:
    with pytest.raises(FormErrors, match="not up to date"):
        read_answers(PAY, ARGS, {"/payment/iban": "x"})


def test_the_openapi_discriminator_tells_forms_apart() -> None:
    free = {"properties": {"pet": {"type": "string"}, "age": {"type": "integer"}}}
    schema = {
        "$defs": {"cat": free, "dog": free},
        "properties": {
            "pet": {
                "oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}],
                "discriminator": {"propertyName": "pet", "mapping": {"meow": "#/$defs/cat"}},
            }
        },
    }
    choice, age = make_form(schema, {"pet": {"pet": "dog", "age": 3}}).fields
    assert [option.label for option in choice.options] == ["meow", "dog", "Not set"]
    assert (choice.initial, age.pointer) == ("1", "/pet/age")


def test_types_are_forms_as_well() -> None:
    kinds = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"const": "all"}]
    schema = {"properties": {"to": {"anyOf": kinds}}, "required": ["to"]}
    choice, value = make_form(schema, {"to": ["a", "b"]}).fields
    assert [option.label for option in choice.options] == ["Text", "List", "all"]
    assert (value.pointer, value.label, value.initial) == ("/to", "to \u203a List", "a\nb")
    assert read_answers(schema, {"to": ["a"]}, {"/to~": "0", "/to": "x"}) == {"to": "x"}
    assert read_answers(schema, {"to": ["a"]}, {"/to~": "2", "/to": "a"}) == {"to": "all"}


def test_the_whole_arguments_can_have_several_forms() -> None:
    schema = {"properties": {"id": {"type": "string"}}, "oneOf": [CARD, BANK]}
    args = {"id": "x", "kind": "card", "number": "4"}
    assert [field.pointer for field in make_form(schema, args).fields] == [
        "~",
        "/id",
        "/number",
        "/note",
    ]
    after = read_answers(schema, args, {"~": "1", "/iban": "DE"})
    assert after == {"id": "x", "kind": "bank", "iban": "DE"}


@pytest.mark.parametrize(
    ("branches", "value"),
    [
        ([{"properties": {"a": {}}}, {"properties": {"b": {}}}], {"a": 1}),  # no names for them
        ([{**CARD, "title": "x"}, {**BANK, "title": "x"}], {"kind": "coins"}),  # none of them
        ([CARD, BANK], "text"),
    ],
)
def test_forms_that_can_not_be_told_apart_are_json(branches: Any, value: Any) -> None:
    (field,) = make_form({"properties": {"x": {"oneOf": branches}}}, {"x": value}).fields
    assert (field.pointer, field.kind) == ("/x", "json")


def test_a_read_only_choice_can_not_be_made() -> None:
    schema = {"properties": {"pay": {**PAY["properties"]["pay"], "readOnly": True}}}
    fields = make_form(schema, ARGS, answers={"/pay~": "1"}).fields
    assert [(field.redraws, bool(field.locked)) for field in fields] == [(False, True)] * 4
    assert read_answers(schema, ARGS, {"/pay~": "1"}) == ARGS


def test_a_form_drawn_again_shows_what_was_entered() -> None:
    schema = {
        "properties": {
            "name": {"type": "string", "minLength": 3},
            "n": {"type": "integer", "maximum": 9},
            "m": {"type": "integer", "minimum": 5, "maximum": 9},
            "on": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 1},
            "flag": {"type": "boolean"},
            "mail": {"type": "string", "format": "email"},
            "id": {"type": "string", "readOnly": True},
        }
    }
    args = {"name": "Jo Li", "n": 1, "on": "2026-01-01", "flag": True, "id": "x"}
    answers = {
        "/name": "Jo",
        "/n": "12",
        "/m": "3",
        "/on": "2026-02-02",
        "/tags": "0,2",
        "/flag": "",
        "/id": "y",
    }
    fields = {f.pointer: f for f in make_form(schema, args, answers=answers).fields}
    assert {at: fields[at].initial for at in answers} == {**answers, "/flag": "2", "/id": "x"}
    assert (fields["/name"].min_length, fields["/n"].maximum) == (None, None)
    assert (fields["/m"].minimum, fields["/m"].maximum) == (None, "9")
    assert fields["/tags"].max_items is None
    odd = {"/n": "1e3", "/on": "soon", "/mail": "no address", "/tags": "7"}
    fields = {f.pointer: f for f in make_form(schema, args, answers=odd).fields}
    assert [(fields[at].kind, fields[at].initial) for at in odd] == [
        ("text", "1e3"),
        ("date", "2026-01-01"),
        ("text", "no address"),
        ("choices", None),
    ]


ROOTS: dict[str, tuple[Json, Json]] = {
    "null, in branches": ({"anyOf": [CARD, BANK, {"type": "null"}]}, ARGS["pay"]),
    "null, in one field": ({"type": ["object", "null"]}, {}),
    "a text": ({"type": ["object", "string"], "properties": {"a": {}}}, {"a": 1}),
    "a constant": ({"oneOf": [{"title": "A", "const": {"a": 1}}, {"title": "B", "const": 5}]}, {"a": 1}),
    "a list": ({"oneOf": [CARD, {"title": "B", "type": "array"}]}, ARGS["pay"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("answer", ["", "0", "1", "2", "null"])
def test_all_arguments_together_are_always_an_object(name: str, answer: str) -> None:
    """Given a schema that allows all arguments together to be null, a text or a list; whatever a person
    answers, the result is an object, or a sentence says what is wrong.
    """
    schema, args = ROOTS[name]
    first = make_form(schema, args).fields[0].pointer
    assert make_form(schema, args, answers={first: answer}).fields
    try:
        assert isinstance(read_answers(schema, args, {first: answer}), dict)
    except FormErrors as errors:
        [text] = [*errors.fields.values(), *errors.top]
        assert text in {
            "is required",
            "is not one of the options",
            "must be a JSON object",
            "These arguments must be a JSON object. Choose another option.",
        }
