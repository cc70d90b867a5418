"""Each part of a schema as a check: what its keywords say at once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from hitl_core.forms import applicators as a
from hitl_core.forms import keywords as k
from hitl_core.forms.applicators import Node
from hitl_core.forms.budget import Budget
from hitl_core.forms.drafts import NEWEST, knows
from hitl_core.forms.problem import Check, Problem, Problems, Run
from hitl_core.forms.resolve import REFS, Document

Json = dict[str, Any]


def _nothing(value: Any, run: Run) -> Problems:
    return ()


def _never(value: Any, run: Run) -> Problems:
    return (Problem("false"),)


class Compiler:
    """Of one document; each part once."""

    def __init__(self, document: Document, budget: Budget) -> None:
        self._document, self._draft, self._budget = document, document.draft, budget
        self._nodes = {id(True): Node(_nothing), id(False): Node(_never)}
        self._targets: list[Any] = []

    def whole(self) -> Check:
        node = self.node(self._document.root)
        while self._targets:
            self.node(self._targets.pop())
        return node.check

    def node(self, schema: Any) -> Node:
        if id(schema) not in self._nodes:
            self._budget.spend(4 + 4 * len(schema))
            self._nodes[id(schema)] = self._node(schema)
        return self._nodes[id(schema)]

    def _node(self, schema: Json) -> Node:
        if "$ref" in schema and self._draft <= 7:
            return Node(self._ref(schema, "$ref"))
        said = {name: value for name, value in schema.items() if knows(self._draft, name)}
        refs = [self._ref(schema, key) for key in REFS if key in said]
        others = [check for name in said if (check := self._check(name, said)) is not None]
        checks = [*refs, *others]
        properties, items = (
            self.node(said[name]) if name in said else None
            for name in ("unevaluatedProperties", "unevaluatedItems")
        )
        check = checks[0] if len(checks) == 1 else a.all_check([Node(each) for each in checks])
        if properties or items:
            return Node(a.unevaluated_check(check, properties, items))
        if not checks:
            return Node(_nothing)
        only = said.get("type") if len(checks) == 1 else None
        kinds = cast("list[str]", [only] if isinstance(only, str) else only or [])
        certain = [kind for name in kinds for kind in k.CERTAIN[name]]
        return Node(check, frozenset(certain))

    def _ref(self, schema: Json, key: str) -> Check:
        target = self._document.target(schema, key)
        self._targets.append(target)
        return a.ref_check(self._nodes, id(target))

    def _check(self, name: str, said: Json) -> Check | None:
        """None where the keyword says nothing of its own."""
        if name in _SIZES:
            of, holds = _SIZES[name]
            return k.size_check(name, said[name], of, holds)
        if name in _LIMITS:
            return self._limit(name, said)
        if name in _KEYWORDS:
            return _KEYWORDS[name](said[name], self._draft)
        return _APPLICATORS[name](self, said[name], said) if name in _APPLICATORS else None

    def _limit(self, name: str, said: Json) -> Check | None:
        if self._draft > 4:
            return k.limit_check(name, said[name], _LIMITS[name])
        exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(name)
        if exclusive is None:
            return None  # said by the limit beside it
        name = exclusive if said.get(exclusive) else name
        return k.limit_check(name, said[exclusive.replace("exclusiveM", "m")], _LIMITS[name])

    def extra(self, value: Any, said: Json) -> Check:
        named, patterns = said.get("properties", {}), said.get("patternProperties", {})
        return a.extra_check(list(named), list(patterns), self.node(value))

    def contains(self, value: Any, said: Json) -> Check:
        most, newest = said.get("maxContains"), self._draft == NEWEST
        return a.contains_check(self.node(value), said.get("minContains", 1), most, marks=newest)

    def when(self, value: Any, said: Json) -> Check:
        then, other = (self.node(said[name]) if name in said else None for name in ("then", "else"))
        return a.if_check(self.node(value), then, other)

    def each(self, named: Json) -> dict[str, Node]:
        return {name: self.node(schema) for name, schema in named.items()}

    def items(self, _: Any, said: Json) -> Check:
        """`prefixItems` and `items`; before 2020-12, `items` and `additionalItems`."""
        first, rest = said.get("prefixItems", ()), said.get("items")
        if isinstance(rest, list):
            first, rest = cast("list[Any]", rest), said.get("additionalItems")
        return a.items_check([*map(self.node, first)], None if rest is None else self.node(rest))

    def dependencies(self, value: Json, _: Json) -> Check:
        needs: dict[str, list[str]] = {
            n: each for n, each in value.items() if isinstance(each, list)
        }
        schemas = {name: each for name, each in value.items() if name not in needs}
        checks = [k.needs_check(needs), a.dependent_check(self.each(schemas))]
        return a.all_check([Node(each) for each in checks])

    def all(self, value: list[Any]) -> list[Node]:
        return [*map(self.node, value)]


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
    "type": k.type_check,
    "enum": lambda value, _: k.enum_check(value),
    "const": lambda value, _: k.enum_check([value], "const"),
    "multipleOf": lambda value, _: k.multiple_check(value),
    "pattern": lambda value, _: k.pattern_check(value),
    "format": lambda value, _: k.format_check(value),
    "required": lambda value, _: k.required_check(value),
    "dependentRequired": lambda value, _: k.needs_check(value),
    "uniqueItems": lambda value, _: k.unique_check if value else None,
}
_APPLICATORS: dict[str, Callable[[Compiler, Any, Json], Check | None]] = {
    "properties": lambda c, value, _: a.properties_check(c.each(value)),
    "patternProperties": lambda c, value, _: a.patterns_check(c.each(value)),
    "additionalProperties": Compiler.extra,
    "propertyNames": lambda c, value, _: a.names_check(c.node(value)),
    "prefixItems": Compiler.items,
    "items": lambda c, value, said: None if "prefixItems" in said else c.items(value, said),
    "contains": Compiler.contains,
    "allOf": lambda c, value, _: a.all_check(c.all(value)),
    "anyOf": lambda c, value, _: a.any_check(c.all(value)),
    "oneOf": lambda c, value, _: a.one_check(c.all(value)),
    "not": lambda c, value, _: a.not_check(c.node(value)),
    "if": Compiler.when,
    "dependentSchemas": lambda c, value, _: a.dependent_check(c.each(value)),
    "dependencies": Compiler.dependencies,
}
