"""The keywords that contain schemas (`properties`, `anyOf`, `$ref`, …), each compiled to a check."""

from hitl_core.jsonschema.applicators.combinations import (
    make_all_of_check,
    make_any_of_check,
    make_if_check,
    make_not_check,
    make_one_of_check,
    make_ref_check,
)
from hitl_core.jsonschema.applicators.lists import make_contains_check, make_items_check
from hitl_core.jsonschema.applicators.node import CompiledNode
from hitl_core.jsonschema.applicators.objects import (
    make_additional_properties_check,
    make_dependent_schemas_check,
    make_pattern_properties_check,
    make_properties_check,
    make_property_names_check,
)
from hitl_core.jsonschema.applicators.unevaluated import make_unevaluated_check

__all__ = [
    "CompiledNode",
    "make_additional_properties_check",
    "make_all_of_check",
    "make_any_of_check",
    "make_contains_check",
    "make_dependent_schemas_check",
    "make_if_check",
    "make_items_check",
    "make_not_check",
    "make_one_of_check",
    "make_pattern_properties_check",
    "make_properties_check",
    "make_property_names_check",
    "make_ref_check",
    "make_unevaluated_check",
]
