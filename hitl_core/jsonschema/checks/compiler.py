"""Compiles a schema document to checks: one check for each part, with all keywords of this part."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from hitl_core.jsonschema.checks import alternatives, applicators
from hitl_core.jsonschema.checks import keywords as k
from hitl_core.jsonschema.checks.problem import Check, CheckState, CompiledNode, Problem, Problems
from hitl_core.jsonschema.drafts import NEWEST, is_keyword
from hitl_core.jsonschema.limits import Budget
from hitl_core.jsonschema.resolve import REFS, SchemaDocument

Json = dict[str, Any]


def _accept(value: Any, state: CheckState) -> Problems:
    return ()


def _reject(value: Any, state: CheckState) -> Problems:
    return (Problem("false"),)


class Compiler:
    """Compiles the parts of one document, each part once."""

    def __init__(self, document: SchemaDocument, budget: Budget) -> None:
        self._document, self._draft, self._budget = document, document.draft, budget
        self._nodes = {id(True): CompiledNode(_accept), id(False): CompiledNode(_reject)}
        self._targets: list[Any] = []

    def compile_root(self) -> Check:
        node = self.compile_part(self._document.root)
        while self._targets:
            self.compile_part(self._targets.pop())
        return node.check

    def compile_part(self, schema: Any) -> CompiledNode:
        if id(schema) not in self._nodes:
            self._budget.spend(4 + 4 * len(schema))
            self._nodes[id(schema)] = self._compile_part(schema)
        return self._nodes[id(schema)]

    def _compile_part(self, schema: Json) -> CompiledNode:
        if "$ref" in schema and self._draft <= 7:
            return CompiledNode(self._ref_check(schema, "$ref"))
        keywords = {name: value for name, value in schema.items() if is_keyword(self._draft, name)}
        nodes = [CompiledNode(self._ref_check(schema, key)) for key in REFS if key in keywords]
        for name, value in keywords.items():
            if (check := self._keyword_check(name, keywords)) is not None:
                accepted = k.accepted_types(value) if name == "type" else frozenset[type]()
                nodes.append(CompiledNode(check, accepted))
        node = nodes[0] if len(nodes) == 1 else CompiledNode(applicators.make_all_of_check(nodes))
        properties, items = (
            self.compile_part(keywords[name]) if name in keywords else None
            for name in ("unevaluatedProperties", "unevaluatedItems")
        )
        if properties or items:
            return CompiledNode(alternatives.make_unevaluated_check(node.check, properties, items))
        return node if nodes else CompiledNode(_accept)

    def _ref_check(self, schema: Json, key: str) -> Check:
        target = self._document.ref_target(schema, key)
        self._targets.append(target)
        return alternatives.make_ref_check(self._nodes, id(target))

    def _keyword_check(self, name: str, keywords: Json) -> Check | None:
        """None if the keyword checks nothing, or if another keyword includes its check."""
        if name in _SIZES:
            of, holds = _SIZES[name]
            return k.make_size_check(name, keywords[name], of, holds)
        if name in _LIMITS:
            return self._limit_check(name, keywords)
        if name in _KEYWORDS:
            return _KEYWORDS[name](keywords[name], self._draft)
        return _APPLICATORS[name](self, keywords[name], keywords) if name in _APPLICATORS else None

    def _limit_check(self, name: str, keywords: Json) -> Check | None:
        if self._draft > 4:
            return k.make_limit_check(name, keywords[name], _LIMITS[name])
        exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(name)
        if exclusive is None:
            return None  # in draft 4 it is a flag, which `minimum` or `maximum` reads
        name = exclusive if keywords.get(exclusive) else name
        return k.make_limit_check(
            name, keywords[exclusive.replace("exclusiveM", "m")], _LIMITS[name]
        )

    def additional_properties(self, value: Any, keywords: Json) -> Check:
        named, patterns = keywords.get("properties", {}), keywords.get("patternProperties", {})
        return applicators.make_additional_properties_check(
            list(named), list(patterns), self.compile_part(value)
        )

    def contains(self, value: Any, keywords: Json) -> Check:
        most, newest = keywords.get("maxContains"), self._draft == NEWEST
        return alternatives.make_contains_check(
            self.compile_part(value), keywords.get("minContains", 1), most, marks=newest
        )

    def if_then_else(self, value: Any, keywords: Json) -> Check:
        then, other = (
            self.compile_part(keywords[name]) if name in keywords else None
            for name in ("then", "else")
        )
        return alternatives.make_if_check(self.compile_part(value), then, other)

    def compile_named(self, named: Json) -> dict[str, CompiledNode]:
        return {name: self.compile_part(schema) for name, schema in named.items()}

    def items(self, _: Any, keywords: Json) -> Check:
        """`prefixItems` and `items`; before 2020-12, `items` and `additionalItems`."""
        first, rest = keywords.get("prefixItems", ()), keywords.get("items")
        if isinstance(rest, list):
            first, rest = cast("list[Any]", rest), keywords.get("additionalItems")
        return applicators.make_items_check(
            [*map(self.compile_part, first)], None if rest is None else self.compile_part(rest)
        )

    def dependencies(self, value: Json, _: Json) -> Check:
        needs: dict[str, list[str]] = {
            n: each for n, each in value.items() if isinstance(each, list)
        }
        schemas = {name: each for name, each in value.items() if name not in needs}
        checks = [
            k.make_dependent_required_check(needs),
            applicators.make_dependent_schemas_check(self.compile_named(schemas)),
        ]
        return applicators.make_all_of_check([CompiledNode(each) for each in checks])

    def compile_list(self, value: list[Any]) -> list[CompiledNode]:
        return [*map(self.compile_part, value)]


_SIZES: dict[str, tuple[type, Callable[[Any, Any], bool]]] = {
    "minLength": (str, operator.ge),
    "maxLength": (str, operator.le),
    "minItems": (list, operator.ge),
    "maxItems": (list, operator.le),
    "minProperties": (dict, operator.ge),
    "maxProperties": (dict, operator.le),
}
_LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.ge,
    "maximum": operator.le,
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
}
_KEYWORDS: dict[str, Callable[[Any, int], Check | None]] = {
    "type": k.make_type_check,
    "enum": lambda value, _: k.make_enum_check(value),
    "const": lambda value, _: k.make_enum_check([value], "const"),
    "multipleOf": lambda value, _: k.make_multiple_check(value),
    "pattern": lambda value, _: k.make_pattern_check(value),
    "format": lambda value, _: k.make_format_check(value),
    "required": lambda value, _: k.make_required_check(value),
    "dependentRequired": lambda value, _: k.make_dependent_required_check(value),
    "uniqueItems": lambda value, _: k.check_unique if value else None,
}
_APPLICATORS: dict[str, Callable[[Compiler, Any, Json], Check | None]] = {
    "properties": lambda c, value, _: applicators.make_properties_check(c.compile_named(value)),
    "patternProperties": lambda c, value, _: applicators.make_pattern_properties_check(
        c.compile_named(value)
    ),
    "additionalProperties": Compiler.additional_properties,
    "propertyNames": lambda c, value, _: applicators.make_property_names_check(
        c.compile_part(value)
    ),
    "prefixItems": Compiler.items,
    "items": lambda c, value, keywords: (
        None if "prefixItems" in keywords else c.items(value, keywords)
    ),
    "contains": Compiler.contains,
    "allOf": lambda c, value, _: applicators.make_all_of_check(c.compile_list(value)),
    "anyOf": lambda c, value, _: alternatives.make_any_of_check(c.compile_list(value)),
    "oneOf": lambda c, value, _: alternatives.make_one_of_check(c.compile_list(value), value),
    "not": lambda c, value, _: alternatives.make_not_check(c.compile_part(value), value),
    "if": Compiler.if_then_else,
    "dependentSchemas": lambda c, value, _: applicators.make_dependent_schemas_check(
        c.compile_named(value)
    ),
    "dependencies": Compiler.dependencies,
}
