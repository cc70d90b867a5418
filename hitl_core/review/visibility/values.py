"""What people may see of a call: what is hidden, and by which schema the call is drawn. Pure.

In a review that hides values nobody reads the agent's texts: a text may quote a hidden value as it is, in
part, encoded or in another spelling, and no search finds all of that. The arguments without the hidden
values, and what the policy's file says, are always shown.

Cards and forms draw arguments by `visible_schema`. The policy's own words (titles, hints, names of choices,
order) are shown as the policy says them. What an agent adds only checks arguments: a card or form takes from
it the types of arguments that the policy doesn't name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, cast

from hitl_core.forms import keep_types, number_options, strip_texts
from hitl_core.jsonschema import (
    NO_TEXTS_MARK,
    Budget,
    find_hidden,
    is_hiding_unclear,
    mask_args,
    schema_properties,
    to_pointer,
)
from hitl_core.model import Action, Call, Review, ReviewConfig
from hitl_core.policy import has_refs

Schema = dict[str, Any]

#: With these keywords the policy describes arguments that it doesn't name: then the agent's schema adds none.
_SAYS_MORE = (
    "$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependencies", "dependentSchemas", "patternProperties",
    "additionalProperties", "unevaluatedProperties", "propertyNames",
)  # fmt: skip

WHY_HIDDEN = "not shown, because this review has hidden values"


class Hiding(Protocol):
    """What hides values: a policy's ruling, or the config of an action."""

    @property
    def redact(self) -> tuple[str, ...]: ...
    @property
    def policy_schema(self) -> dict[str, Any] | None: ...
    @property
    def hiding_schema(self) -> dict[str, Any] | None: ...


def find_pointers(hiding: Hiding, args: Mapping[str, Any]) -> tuple[str, ...]:
    """JSON pointers (RFC 6901) to those of these arguments that are hidden."""
    paths = find_hidden((hiding.policy_schema, hiding.hiding_schema), args, hiding.redact)
    return tuple(sorted(map(to_pointer, paths)))


def redaction_pointers(owner: Action | Call, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers to the hidden values in the arguments of an action, or of a call that needs no person:
    those of `redact`, and those that a trusted schema hides. The rules that applied before an edit count too.
    """
    if isinstance(owner, Call):
        return owner.redact
    configs = [owner.config, *(terms.config for terms in owner.earlier)]
    pointers = (
        each for config in configs for each in (*config.redact, *find_pointers(config, args))
    )
    return tuple(dict.fromkeys(pointers))


def compared_pointers(action: Action, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers to what is hidden when an action is compared with the rejected call that it follows: what
    the rules of one or the other hide.
    """
    earlier = action.rejected_before
    return (*redaction_pointers(action, args), *(earlier.redact if earlier else ()))


def find_redaction_flaw(
    schemas: Iterable[dict[str, Any] | None], args: dict[str, Any], budget: Budget | None = None
) -> str | None:
    """Why these arguments can't be shown to people; None if they can. If it is unclear what a schema hides, a
    card would hide everything. `schemas` are the ones that the policy trusts. Raises TooMuchWork if the
    `budget` is not enough.
    """
    if not is_hiding_unclear(schemas, args, budget):
        return None
    return (
        "it is unclear which of these arguments the schema hides: they are too large, or it has a `$ref`"
        " that does not begin with `#/`, or a part with its own `$id`. Make the arguments smaller, or write"
        " references as `#/$defs/…`, without `$id`"
    )


def mask_hidden(owner: Action | Call, args: dict[str, Any]) -> dict[str, Any]:
    """These arguments with "(hidden)" for the values that `redaction_pointers` hides."""
    return mask_args(args, find_hidden((), args, redaction_pointers(owner, args)))


def visible_args(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" for hidden values; by default those of the newest revision. Revision
    0 has the arguments of the rejected call that this call follows.
    """
    action, args = review.action(call.key), review.arguments(call.key, revision).parse()
    if revision == 0 and action is not None:
        return mask_args(args, find_hidden((), args, compared_pointers(action, args)))
    return mask_hidden(action or call, args)


def description_of(review: Review, action: Action) -> str | None:
    """None if it is not shown: a text of the agent, or of Python code that read the arguments."""
    request = action.request
    is_withheld = review.hides_values and (request.by_agent or request.computed)
    return None if is_withheld else request.description


def title_of(review: Review, action: Action) -> str | None:
    """The title that the agent's own system gives to the action; None also if it is not shown."""
    return None if review.hides_values else action.request.title


def reason_of(review: Review, call: Call) -> str | None:
    """Why the agent wants this call, "" if it gave no reason; None if it is not shown."""
    return None if review.hides_values and call.reason else call.reason or ""


def rule_reason_of(review: Review, call: Call) -> str:
    """Why the policy rules so; "" for a text that is not shown, because it is the agent's or Python code
    wrote it. A text of the agent (`verdict.by_agent`) must be shown as the agent's.
    """
    is_withheld = review.hides_values and (call.verdict.by_agent or call.verdict.computed)
    return "" if is_withheld else call.verdict.reason


def cancel_reason_of(review: Review) -> str | None:
    """Why the review was cancelled, or what people read in place of the agent's reason."""
    if (cancelled := review.cancelled) is None or not cancelled.reason:
        return None
    if cancelled.by is None and review.hides_values:
        return f"the agent's reason is {WHY_HIDDEN}"
    return cancelled.reason


def visible_schema(config: ReviewConfig) -> Schema | None:
    """The schema by which a card titles and orders arguments. None if no schema describes them."""
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
    return _without_agents_words(config, lambda schema: keep_types(schema, args))


def answer_schema_of(review: Review, action: Action) -> Schema | None:
    """The schema of people's answers. It has numbers in place of the agent's words if these are not shown."""
    schema = action.config.answer_schema
    if schema is None or not (review.hides_values and action.config.answer_by_agent):
        return schema
    return number_options(schema)


def hides_options(review: Review, action: Action) -> bool:
    """Whether the agent's words for the choices are not shown. Then the chosen answer is hidden too."""
    schema = answer_schema_of(review, action)
    if schema is None or schema is action.config.answer_schema:
        return False
    return schema.get("type") not in ("boolean", "integer", "number", "string")


def message_of_answer(
    review: Review, action: Action, answer: object, message: str | None
) -> str | None:
    """What a person wrote with this answer, or what is shown in its place."""
    if answer is None or not hides_options(review, action):
        return message
    return f"the answer is {WHY_HIDDEN}"


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
