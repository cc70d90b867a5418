"""By which schemas cards and forms are drawn.

The policy's own words (titles, hints, names of choices, order) are shown as the policy says them. What an
agent adds only checks arguments: a card or form takes from it the types of arguments that the policy doesn't
name.

Forms are imported where they are used: an agent that only imports `Gate` needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from hitl_core.jsonschema import NO_TEXTS_MARK, schema_properties
from hitl_core.model import Action, Review, ReviewConfig
from hitl_core.policy import has_refs

Schema = dict[str, Any]

#: With these keywords the policy describes arguments that it doesn't name: then the agent's schema adds none.
_SAYS_MORE = (
    "$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependencies", "dependentSchemas", "patternProperties",
    "additionalProperties", "unevaluatedProperties", "propertyNames",
)  # fmt: skip


def visible_schema(config: ReviewConfig) -> Schema | None:
    """The schema by which a card titles and orders arguments. None if no schema describes them."""
    from hitl_core.forms import strip_texts

    return _without_agents_words(config, strip_texts)


def form_schema(
    config: ReviewConfig, args: Mapping[str, Any], *, hides_values: bool
) -> Schema | None:
    """The schema of a form for these arguments, and of its errors. If the review hides values, a schema that
    the policy doesn't trust adds only the types of arguments that are there: its names, choices and limits
    may quote a hidden value.
    """
    if not hides_values:
        return visible_schema(config)
    from hitl_core.forms import keep_types

    return _without_agents_words(config, lambda schema: keep_types(schema, args))


def answer_schema_of(review: Review, action: Action) -> Schema | None:
    """The schema of people's answers. It has numbers in place of the agent's words if these are not shown."""
    schema = action.config.answer_schema
    if schema is None or not (review.hides_values and action.config.answer_by_agent):
        return schema
    from hitl_core.forms import number_options

    return number_options(schema)


def hides_options(review: Review, action: Action) -> bool:
    """Whether the agent's words for the choices are not shown. Then the chosen answer is hidden too."""
    schema = answer_schema_of(review, action)
    if schema is None or schema is action.config.answer_schema:
        return False
    return schema.get("type") not in ("boolean", "integer", "number", "string")


def _without_agents_words(
    config: ReviewConfig, strip: Callable[[Schema], Schema | None]
) -> Schema | None:
    schema, policy_schema = config.args_schema, config.policy_schema
    if schema is None or schema == policy_schema:
        return schema and _join(_parts(schema))
    if policy_schema is None:
        return strip(schema)
    own = _parts(policy_schema)
    added = [part for part in _parts(schema) if part not in own]
    if any(key in part and part[key] is not True for part in own for key in _SAYS_MORE):
        return _join(own)
    return _with_types(_join(own), filter(None, map(strip, added)))


def declared_arguments(config: ReviewConfig) -> dict[str, object]:
    """The arguments that a schema which the policy trusts describes, by their keys. An agent's own schema is
    not used: it must not make a key look like the policy's.
    """
    schema = config.policy_schema
    return schema_properties(_join(_parts(schema))) if schema else {}


def _parts(schema: Schema) -> list[Schema]:
    """The schemas that `combine_schemas` has combined in this one, each once."""
    both = schema.get("allOf")
    if schema.keys() != {"type", "allOf"} or not isinstance(both, list) or has_refs(schema):
        return [schema]
    parts: list[Schema] = []
    for each in cast("list[object]", both):
        found = _parts(cast(Schema, each)) if isinstance(each, dict) else []
        parts += (part for part in found if part not in parts)
    return parts


def _join(schemas: list[Schema]) -> Schema:
    """All of them in one schema. All `properties` are at the top, where a card looks for titles and order."""
    first, *others = schemas
    if not others:
        return first
    properties = {
        name: each for one in reversed(schemas) for name, each in schema_properties(one).items()
    }
    order = dict.fromkeys(name for one in schemas for name in schema_properties(one))
    return {
        **first,
        "properties": {name: properties[name] for name in order},
        "allOf": [*first.get("allOf", []), *others],
    }


def _with_types(policy_schema: Schema, added: Iterable[Schema]) -> Schema:
    """The policy's schema, with what `added` say about arguments that the policy doesn't describe."""
    known, more = schema_properties(policy_schema), dict[str, object]()
    for bare in added:
        if not has_refs(bare):
            more |= {
                name: each for name, each in schema_properties(bare).items() if name not in known
            }
    # `redaction_pointers` finds what is hidden, so the added schemas don't have to say it.
    return {**policy_schema, "properties": {**known, **more}, NO_TEXTS_MARK: True}
