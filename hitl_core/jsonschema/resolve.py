"""Reads all parts of one schema: checks each part, and resolves each reference. Nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast
from urllib.parse import unquote, urljoin

from hitl_core.jsonschema.drafts import (
    KEYWORDS,
    explain_unchecked_format,
    explain_unknown,
    find_flaw,
    is_keyword,
    parse_draft,
    subschemas,
)
from hitl_core.jsonschema.errors import SchemaError, format_path, parse_pointer
from hitl_core.jsonschema.limits import MAX_DEPTH, Budget
from hitl_core.jsonschema.patterns import check_pattern
from hitl_core.model import to_pointer

Schema = dict[str, Any]
_LAST_REF_ONLY_DRAFT = 7  # up to this draft all keywords beside `$ref` are ignored
REFS = ("$ref", "$dynamicRef", "$recursiveRef")
_KEYS_BESIDE_REF = (
    "$ref",
    "$schema",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
)


@dataclass
class Resource:
    """A schema with its own address: the whole document, or a part that has an `$id`."""

    uri: str
    root: Any
    anchors: dict[str, Any] = field(default_factory=dict[str, Any])
    # Names that `$dynamicRef` may resolve to another resource.
    dynamic_anchors: set[str] = field(default_factory=set[str])


class _Part(NamedTuple):
    schema: Any
    path: tuple[str, ...]
    resource: Resource


class SchemaDocument:
    """All parts of a schema, each read once. Parts that its draft ignores are read too, because forms use
    them. Raises SchemaError and TooMuchWork.

    `strict`: a keyword that the draft doesn't have is an error. Otherwise it is ignored.
    """

    def __init__(self, root: Any, draft: int, budget: Budget, *, strict: bool = False) -> None:
        self.root, self.draft = root, draft
        self._strict, self._budget = strict, budget
        self._resources: dict[str, Resource] = {}
        self._parts: dict[int, _Part] = {}
        self._patterns = set[str]()
        self._ref_targets: dict[tuple[int, str], Any] = {}
        whole = Resource("", root)
        self._resources[""] = whole
        self._read_parts(_Part(root, (), whole))
        done = 0
        while done < len(self._parts):  # a reference may lead to a place that was not a part before
            waiting = list(self._parts.values())[done:]
            done = len(self._parts)
            for part in waiting:
                self._follow_refs(part)

    def ref_target(self, part: Schema, key: str) -> Any:
        """The part that the reference in `part[key]` leads to."""
        return self._ref_targets[id(part), key]

    def _read_parts(self, start: _Part) -> None:
        waiting = [start]
        while waiting:
            part = waiting.pop()
            schema: Any = part.schema
            if isinstance(schema, bool):
                continue
            if not isinstance(schema, dict):
                raise _schema_error(part.path, "it must be a schema: a mapping, true or false")
            schema = cast(Schema, schema)
            if id(schema) in self._parts:
                continue
            if len(part.path) > MAX_DEPTH:
                raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels")
            self._budget.spend(8 + 4 * len(schema))
            part = self._parts[id(schema)] = self._register_part(part)
            waiting.extend(self._child_parts(part))

    def _child_parts(self, part: _Part) -> list[_Part]:
        path, resource = part.path, part.resource
        children: list[_Part] = []
        if self._strict:
            self._check_keywords(part)
        for name, value in cast(Schema, part.schema).items():
            if name not in KEYWORDS:
                continue
            holds = KEYWORDS[name].holds
            if flaw := find_flaw(holds, value, self.draft):
                raise _schema_error((*path, name), flaw)
            if isinstance(value, list | dict):
                self._budget.spend(len(cast("list[Any]", value)))
            if holds in ("pattern", "patterned"):
                for pattern in cast("list[str]", [value] if holds == "pattern" else [*value]):
                    if pattern not in self._patterns:  # each pattern costs its steps only once
                        check_pattern(pattern, self._budget)
                        self._patterns.add(pattern)
            children.extend(
                _Part(each, (*path, name, *way), resource) for way, each in subschemas(holds, value)
            )
        return children

    def _check_keywords(self, part: _Part) -> None:
        """Raises SchemaError for a keyword or format that would be ignored: its author relies on it."""
        if words := explain_unchecked_format(cast(Schema, part.schema).get("format")):
            raise _schema_error(part.path, words)
        for name in (schema := cast(Schema, part.schema)):
            if words := explain_unknown(self.draft, name):
                raise _schema_error(part.path, words)
            if (
                self.draft <= _LAST_REF_ONLY_DRAFT
                and "$ref" in schema
                and name not in _KEYS_BESIDE_REF
            ):
                raise _schema_error(
                    part.path, f"draft {self.draft} ignores {name} beside $ref: use allOf"
                )

    def _register_part(self, part: _Part) -> _Part:
        """The part with its own resource, if it has an `$id`. Its anchors are stored."""
        schema, path, resource = cast(Schema, part.schema), part.path, part.resource
        if "$schema" in schema and (path or parse_draft(schema["$schema"]) != self.draft):
            raise SchemaError(
                f"$schema is allowed only at the top of the schema, not at {format_path(to_pointer(path))}"
            )
        if self.draft <= _LAST_REF_ONLY_DRAFT and "$ref" in schema:
            return part
        own = schema.get("id" if self.draft == 4 else "$id")
        if isinstance(own, str) and self.draft <= _LAST_REF_ONLY_DRAFT and own.startswith("#"):
            self._add_anchor(resource, own[1:], schema)
        elif isinstance(own, str):
            resource = self._add_resource(resource, own, schema, path)
        for key in ("$anchor", "$dynamicAnchor"):
            if is_keyword(self.draft, key) and isinstance(name := schema.get(key), str):
                self._add_anchor(resource, name, schema)
                if key == "$dynamicAnchor":
                    resource.dynamic_anchors.add(name)
        if is_keyword(self.draft, "$recursiveAnchor") and schema.get("$recursiveAnchor") is True:
            resource.dynamic_anchors.add("")
        return part._replace(resource=resource)

    def _add_resource(
        self, parent: Resource, own: str, schema: Schema, path: tuple[str, ...]
    ) -> Resource:
        self._budget.spend(20)
        try:
            uri = urljoin(parent.uri, own.partition("#")[0])
        except ValueError as error:
            raise _schema_error(path, f"its address {own[:100]} is not valid") from error
        if not path:
            parent.uri = self._resources.setdefault(uri, parent).uri = uri
            return parent
        if uri in self._resources and self._resources[uri].root is not schema:
            raise _schema_error(path, f"the $id {uri[:100]} appears twice")
        return self._resources.setdefault(uri, Resource(uri, schema))

    def _add_anchor(self, resource: Resource, name: str, schema: Schema) -> None:
        if resource.anchors.setdefault(name, schema) is not schema:
            raise SchemaError(f"the schema has the anchor {name[:100]} twice")

    def _follow_refs(self, part: _Part) -> None:
        schema = cast(Schema, part.schema)
        for key in REFS:
            if key in schema and is_keyword(self.draft, key):
                target_part = self._resolve_ref(part.resource, key, schema[key])
                self._ref_targets[id(schema), key] = target_part.schema
                self._read_parts(target_part)

    def _resolve_ref(self, resource: Resource, key: str, ref: str) -> _Part:
        uri, _, fragment = ref.partition("#")
        self._budget.spend(4 + len(ref) // 8)
        if uri:
            self._budget.spend(20)
            try:
                resource = self._resources[urljoin(resource.uri, uri)]
            except (KeyError, ValueError) as error:
                raise SchemaError(
                    f"the schema refers to {ref[:100]}, which is outside the schema and is not fetched"
                ) from error
        try:
            target_part = self._part_at(resource, unquote(fragment))
        except (LookupError, TypeError, ValueError) as error:
            raise SchemaError(
                f"the schema refers to {ref[:100]}, which does not exist in it"
            ) from error
        several = [each for each in self._resources.values() if fragment in each.dynamic_anchors]
        if key != "$ref" and fragment in resource.dynamic_anchors and len({*map(id, several)}) > 1:
            raise SchemaError(
                f"{key} to {ref[:100]} could lead to several parts of the schema: use $ref"
            )
        return target_part

    def _part_at(self, resource: Resource, fragment: str) -> _Part:
        if fragment and not fragment.startswith("/"):
            node = resource.anchors[fragment]
            return self._parts[id(node)]
        node, way = resource.root, parse_pointer(fragment)
        for name in way:
            self._budget.spend(1)
            node = node[int(name) if isinstance(node, list) else name]
            if id(node) in self._parts:
                resource = self._parts[id(node)].resource
        if isinstance(node, dict) and id(cast(Schema, node)) in self._parts:
            return self._parts[id(cast(Schema, node))]
        return _Part(node, tuple(way), resource)


def _schema_error(path: tuple[str, ...], words: str) -> SchemaError:
    where = format_path(to_pointer(path)) or "its top"
    return SchemaError(f"the schema is not valid at {where}: {words}")
