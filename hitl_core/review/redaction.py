"""Which values of a call's arguments are hidden from people. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hitl_core.jsonschema import find_hidden, is_hiding_unclear, mask_args, to_pointer
from hitl_core.model import Action, Call, Review


def redaction_pointers(action: Action, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers (RFC 6901) to the hidden values: those of `redact`, and those that a trusted schema
    hides. The rules that applied before an edit count too.
    """
    configs = [action.config, *(terms.config for terms in action.earlier)]
    paths = {path for config in configs for path in find_hidden(config.policy_schema, args)}
    policy_pointers = (each for config in configs for each in config.redact)
    return tuple(dict.fromkeys([*policy_pointers, *sorted(map(to_pointer, paths))]))


def find_redaction_flaw(
    schemas: Iterable[dict[str, Any] | None], args: dict[str, Any]
) -> str | None:
    """Why these arguments can't be shown to people; None if they can. `schemas` are the ones that the policy
    trusts. If it is unclear what a schema hides, a card would hide everything.
    """
    if not any(is_hiding_unclear(schema, args) for schema in schemas):
        return None
    return (
        "it is unclear which of these arguments the schema hides: they are too large, or it has a `$ref`"
        " that does not begin with `#/`, or a part with its own `$id`. Make the arguments smaller, or write"
        " references as `#/$defs/…`, without `$id`"
    )


def visible_args(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" for hidden values, by default of the newest revision."""
    args = review.arguments(call.key, revision).parse()
    if (action := review.action(call.key)) is None:
        return args
    return mask_args(args, find_hidden(None, args, redaction_pointers(action, args)))
