"""What nobody may see of a call's arguments. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hitl_core.forms import find_hidden, is_hiding_unclear, mask_args
from hitl_core.jsonschema.pointer import to_pointer
from hitl_core.model import Action, Call, Review


def redaction_pointers(action: Action, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers (RFC 6901) to what nobody may see of an action's arguments: by the policy and the schema
    that it vouches for, also by those that held before an edit.
    """
    configs = [action.config, *(standing.config for standing in action.earlier)]
    paths = {path for config in configs for path in find_hidden(config.policy_schema, args)}
    policy_pointers = (each for config in configs for each in config.redact)
    return tuple(dict.fromkeys([*policy_pointers, *sorted(map(to_pointer, paths))]))


def find_redaction_flaw(
    schemas: Iterable[dict[str, Any] | None], args: dict[str, Any]
) -> str | None:
    """Why nobody can be asked about these arguments: cards could hide anything in them. `schemas` are those
    that the policy vouches for.
    """
    if not any(is_hiding_unclear(schema, args) for schema in schemas):
        return None
    return (
        "nobody can tell what the schema hides of these arguments: they are too large, or it has a `$ref`"
        " that does not begin with `#/`, or a part with an `$id` of its own. Make them smaller, or write such"
        " references as `#/$defs/…`, without `$id`"
    )


def visible_args(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" where nobody may see them; without a revision the newest."""
    args = review.arguments(call.key, revision).parse()
    if (action := review.action(call.key)) is None:
        return args
    return mask_args(args, find_hidden(None, args, redaction_pointers(action, args)))
