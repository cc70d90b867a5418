"""What nobody may see of a call's arguments. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core.forms import hidden_in, masked_args
from hitl_core.forms.pointer import pointer
from hitl_core.model import Action, Call, Review


def redacted(review: Review, action: Action, args: dict[str, Any], *tools: str) -> tuple[str, ...]:
    """JSON pointers (RFC 6901) to what nobody may see of an action's arguments: by the policy, by its own
    schema, and by those of the tool that it was turned into and of these.
    """
    config = action.config
    others = [review.tools[name] for name in (action.name, *tools) if name in review.tools]
    schemas = [config.args_schema, *(other.args_schema for other in others)]
    ways = {way for schema in schemas for way in hidden_in(schema, args)}
    return tuple(dict.fromkeys([*config.redact, *map(pointer, ways)]))


def args_shown(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" where nobody may see them; without a revision the newest."""
    args = review.arguments(call.key, revision).parse()
    if (action := review.action(call.key)) is None:
        return args
    return masked_args(args, hidden_in(None, args, redacted(review, action, args)))
