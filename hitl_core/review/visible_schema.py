"""By which schema the arguments of an action are drawn, on cards and in forms. Pure.

The policy's own words (titles, hints, names of choices, order) stand as the policy says them. What an agent
adds only checks arguments: a card or form takes from it the types of arguments that the policy doesn't name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from hitl_core.forms import strip_texts
from hitl_core.jsonschema import NO_TEXTS_MARK
from hitl_core.model import ReviewConfig
from hitl_core.policy import has_refs

Schema = dict[str, Any]

#: Where the policy's schema says something of further arguments, the agent's says nothing of them.
_SAYS_MORE = (
    "$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependencies", "dependentSchemas", "patternProperties",
    "additionalProperties", "unevaluatedProperties", "propertyNames",
)  # fmt: skip


def visible_schema(config: ReviewConfig) -> Schema | None:
    """None where no schema says anything of the arguments."""
    schema, policy_schema = config.args_schema, config.policy_schema
    if schema is None or schema == policy_schema:
        return schema and _join(_parts(schema))
    if policy_schema is None:
        return strip_texts(schema)
    own = _parts(policy_schema)
    added = [part for part in _parts(schema) if part not in own]
    if any(key in part and part[key] is not True for part in own for key in _SAYS_MORE):
        return _join(own)
    return _with_types(_join(own), added)


def _parts(schema: Schema) -> list[Schema]:
    """The schemas of which `combine_schemas` made one, each once."""
    both = schema.get("allOf")
    if schema.keys() != {"type", "allOf"} or not isinstance(both, list) or has_refs(schema):
        return [schema]
    parts: list[Schema] = []
    for each in cast("list[object]", both):
        found = _parts(cast(Schema, each)) if isinstance(each, dict) else []
        parts += (part for part in found if part not in parts)
    return parts


def _join(schemas: list[Schema]) -> Schema:
    """All of them in one, with the arguments where a card looks for their titles and order."""
    first, *others = schemas
    if not others:
        return first
    properties = {
        name: each for one in reversed(schemas) for name, each in _properties(one).items()
    }
    order = dict.fromkeys(name for one in schemas for name in _properties(one))
    return {
        **first,
        "properties": {name: properties[name] for name in order},
        "allOf": [*first.get("allOf", []), *others],
    }


def _with_types(policy_schema: Schema, added: Iterable[Schema]) -> Schema:
    """With what these say of arguments of which the policy says nothing."""
    known, more = _properties(policy_schema), dict[str, object]()
    for part in added:
        bare = None if has_refs(part) else strip_texts(part)
        more |= {name: each for name, each in _properties(bare or {}).items() if name not in known}
    # What is hidden are the values of `redaction_pointers`, which no schema has to say again.
    return {**policy_schema, "properties": {**known, **more}, NO_TEXTS_MARK: True}


def _properties(schema: Schema) -> dict[str, object]:
    properties = schema.get("properties")
    return cast("dict[str, object]", properties) if isinstance(properties, dict) else {}
