"""Which schemas are accepted, and the check that each becomes: in a budget, and without ever fetching anything."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from hitl_core.forms import applicators as a
from hitl_core.forms import keywords as k
from hitl_core.forms.applicators import Node
from hitl_core.forms.budget import SCHEMA_STEPS, Budget, TooMuchWork
from hitl_core.forms.drafts import NEWEST, draft_of, knows
from hitl_core.forms.form import PatternError, SchemaError
from hitl_core.forms.problem import Check, Problem, Problems, Run
from hitl_core.forms.resolve import REFS, Document

MAX_SCHEMA = 64 * 1024  # bytes of JSON
_MUCH = "the schema is too large or too complex to be checked"
_MUCH_TOGETHER = "the schemas of this request are together too large to be checked"
Json = dict[str, Any]


class Compiled(NamedTuple):
    """`root` is the schema as JSON has it."""

    root: Json
    check: Check


class _Outcome(NamedTuple):
    """What came of reading a schema, and what that cost."""

    compiled: Compiled | None
    flaw: SchemaError | None
    cost: int


def check_schema(
    schema: Mapping[str, Any], *, strict: bool = False, budget: Budget | None = None
) -> None:
    """Raise SchemaError, one sentence, unless arguments can be checked by this schema here.

    `strict` also refuses what would be ignored: keywords that its draft doesn't know. `budget`: of several
    schemas that have to fit in together.
    """
    if budget is not None and budget.left < 0:
        raise SchemaError(_MUCH_TOGETHER)
    cost, flaw = _flaw(_text(schema), strict)
    if budget is not None:
        budget.left -= cost
        if budget.left < 0:
            raise SchemaError(_MUCH_TOGETHER)
    if flaw is not None:
        raise type(flaw)(str(flaw))


def compiled(schema: Mapping[str, Any]) -> Compiled:
    """Each schema once. Raises SchemaError."""
    outcome = _outcome(_text(schema), False)
    if outcome.compiled is None:
        raise SchemaError(str(outcome.flaw))
    return outcome.compiled


def _text(schema: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(dict(schema), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not plain JSON: {error}") from error
    if size > MAX_SCHEMA:
        raise SchemaError(f"the schema is {size:,} bytes long; {MAX_SCHEMA:,} are allowed")
    return text


@lru_cache(maxsize=1024)
def _flaw(text: str, strict: bool) -> tuple[int, SchemaError | None]:
    """What reading a schema costs, and what is wrong with it: remembered longer than its check."""
    outcome = _outcome(text, strict)
    return outcome.cost, outcome.flaw


@lru_cache(maxsize=128)
def _outcome(text: str, strict: bool) -> _Outcome:
    budget, found, flaw = Budget(SCHEMA_STEPS), None, None
    try:
        budget.spend(len(text) // 16)
        schema: Json = json.loads(text)
        draft = draft_of(schema["$schema"]) if "$schema" in schema else NEWEST
        document = Document(schema, draft, budget, strict=strict)
        found = Compiled(schema, _Compiler(document, budget).whole())
    except (SchemaError, PatternError) as error:
        flaw = error
    except TooMuchWork:
        flaw = SchemaError(_MUCH)
    except RecursionError:
        flaw = SchemaError("the schema is nested too deeply")
    return _Outcome(found, flaw, SCHEMA_STEPS - max(budget.left, 0))


def _nothing(value: Any, run: Run) -> Problems:
    return ()


def _never(value: Any, run: Run) -> Problems:
    return (Problem("false"),)


class _Compiler:
    """Each part of a document as a check, once."""

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
        value = said[name]
        if name in _SIZES:
            of, holds = _SIZES[name]
            return k.size_check(name, value, of, holds)
        if name in _LIMITS:
            return self._limit(name, said)
        match name:
            case "type":
                return k.type_check(value, self._draft)
            case "enum":
                return k.enum_check(value)
            case "const":
                return k.enum_check([value], "const")
            case "multipleOf":
                return k.multiple_check(value)
            case "pattern":
                return k.pattern_check(value)
            case "format":
                return k.format_check(value)
            case "required":
                return k.required_check(value)
            case "dependentRequired":
                return k.needs_check(value)
            case "uniqueItems":
                return k.unique_check if value else None
            case _:
                return self._applicator(name, said)

    def _limit(self, name: str, said: Json) -> Check | None:
        if self._draft > 4:
            return k.limit_check(name, said[name], _LIMITS[name])
        exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(name)
        if exclusive is None:
            return None  # said by the limit beside it
        name = exclusive if said.get(exclusive) else name
        return k.limit_check(name, said[exclusive.replace("exclusiveM", "m")], _LIMITS[name])

    def _applicator(self, name: str, said: Json) -> Check | None:
        value = said[name]
        match name:
            case "properties":
                return a.properties_check(self._each(value))
            case "patternProperties":
                return a.patterns_check(self._each(value))
            case "additionalProperties":
                named, patterns = said.get("properties", {}), said.get("patternProperties", {})
                return a.extra_check(list(named), list(patterns), self.node(value))
            case "propertyNames":
                return a.names_check(self.node(value))
            case "items" | "prefixItems":
                return self._items(name, said)
            case "contains":
                most = said.get("maxContains")
                newest = self._draft == NEWEST
                return a.contains_check(self.node(value), said.get("minContains", 1), most, marks=newest)
            case "allOf":
                return a.all_check([*map(self.node, value)])
            case "anyOf":
                return a.any_check([*map(self.node, value)])
            case "oneOf":
                return a.one_check([*map(self.node, value)])
            case "not":
                return a.not_check(self.node(value))
            case "if":
                then, other = (self.node(said[n]) if n in said else None for n in ("then", "else"))
                return a.if_check(self.node(value), then, other)
            case "dependentSchemas":
                return a.dependent_check(self._each(value))
            case "dependencies":
                return self._dependencies(value)
            case _:
                return None

    def _each(self, named: Json) -> dict[str, Node]:
        return {name: self.node(schema) for name, schema in named.items()}

    def _items(self, name: str, said: Json) -> Check | None:
        """`prefixItems` and `items`; before 2020-12, `items` and `additionalItems`."""
        if name == "items" and "prefixItems" in said:
            return None  # with those
        first, rest = said.get("prefixItems", ()), said.get("items")
        if isinstance(rest, list):
            first, rest = cast("list[Any]", rest), said.get("additionalItems")
        return a.items_check([*map(self.node, first)], None if rest is None else self.node(rest))

    def _dependencies(self, value: Json) -> Check:
        needs = {name: each for name, each in value.items() if isinstance(each, list)}
        schemas = {name: each for name, each in value.items() if name not in needs}
        checks = [k.needs_check(needs), a.dependent_check(self._each(schemas))]
        return a.all_check([Node(each) for each in checks])


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
