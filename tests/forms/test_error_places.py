"""An error about several fields names them by their labels."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import FormErrors, JointError, make_form
from hitl_core.jsonschema import check_args

Json = dict[str, Any]
COUPON, DISCOUNT = {"title": "Coupon"}, {"title": "Discount in %"}
BOTH = ("/coupon", "/discount")


def errors_of(rule: Json, args: Json, answers: dict[str, str | None] | None = None) -> FormErrors:
    properties = {
        "coupon": {"type": "string", **COUPON},
        "discount": {"type": "number", **DISCOUNT},
    }
    form = make_form({"type": "object", "properties": properties, **rule}, args)
    with pytest.raises(FormErrors) as caught:
        form.read(answers or {})
    return caught.value


@pytest.mark.parametrize(
    "rule",
    [
        {"not": {"required": ["coupon", "discount"]}},
        {"allOf": [{"not": {"type": "object", "required": ["coupon", "discount"]}}]},
        {"oneOf": [{"required": ["coupon"]}, {"required": ["discount"]}]},
    ],
)
def test_fields_that_cant_be_set_together_are_named(rule: Json) -> None:
    errors = errors_of(rule, {"coupon": "SPRING"}, {"/discount": "20"})
    assert (errors.fields, errors.top) == ({}, ())
    assert errors.joint == (JointError(BOTH, "Coupon and Discount in % can't be set together."),)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_fields_of_which_one_is_required_are_named(keyword: str) -> None:
    errors = errors_of({keyword: [{"required": ["coupon"]}, {"required": ["discount"]}]}, {})
    assert errors.joint == (JointError(BOTH, "Coupon or Discount in % is required."),)


def test_values_that_dont_fit_are_named() -> None:
    spring = {"properties": {"coupon": {"const": "SPRING"}, "discount": {"minimum": 10}}}
    args = {"coupon": "SPRING", "discount": 20}
    sentence = "Coupon and Discount in % can't have these values together."
    assert errors_of({"not": spring}, args).joint == (JointError(BOTH, sentence),)
    one = {"not": {"properties": {"coupon": {"const": "SPRING"}}}}
    assert errors_of(one, args).joint == (
        JointError(("/coupon",), "Coupon can't have this value."),
    )


@pytest.mark.parametrize("keyword", ["dependentRequired", "dependencies"])
def test_a_field_that_another_one_needs_names_it_by_its_label(keyword: str) -> None:
    errors = errors_of({keyword: {"coupon": ["discount"]}}, {"coupon": "SPRING"})
    assert errors.fields == {"/discount": "is required when Coupon is set"}


def test_a_rule_about_no_property_stays_at_the_top() -> None:
    errors = errors_of({"minProperties": 2}, {"coupon": "SPRING"})
    assert (errors.joint, errors.top) == ((), ("Must have at least 2 entries",))


def test_without_a_form_the_properties_are_named_too() -> None:
    schema: Json = {"type": "object", "not": {"required": ["a", "b"]}}
    [error] = check_args(schema, {"a": 1, "b": 2})
    assert (error.pointer, error.message) == ("", "can't have all of these together: a, b")


def test_a_schema_with_very_many_names_is_an_error_of_a_few() -> None:
    names = [f"n{at}" for at in range(5000)]
    [error] = check_args({"not": {"required": names}}, dict.fromkeys(names, 1))
    assert error.together is not None
    assert len(error.together.names) <= 8
