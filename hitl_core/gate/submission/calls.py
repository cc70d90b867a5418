"""The calls of one model turn: their limits, and copies that the agent can't change. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.model import (
    Arguments,
    DialectName,
    JsonObject,
    ToolCall,
    encode,
    parsed_has_more_values,
)
from hitl_core.policy import Ruling

#: The most tool calls of one model turn.
MAX_CALLS = 100
#: The most JSON values in all arguments of a turn: each is read several times before a card is shown.
MAX_VALUES = 100_000


class JudgedCalls(NamedTuple):
    """The calls of one model turn, with their rulings.

    `tools` are the tools that an edit may switch to, each with its own schema or None. `path` names the
    agents that led to the calls, the outermost first. The model gets the texts of `dialect`. `policy` is the
    digest of the policy that judged the calls; `excerpt` is the part of it by which edits are judged
    (`schemas.excerpt_for`), or None.
    """

    calls: Sequence[ToolCall]
    rulings: Sequence[Ruling]
    path: tuple[str, ...] = ()
    dialect: DialectName = "langchain"
    tools: Mapping[str, JsonObject | None] = {}
    edit_notice: str | None = None
    policy: str | None = None
    excerpt: str | None = None


class FrozenCalls(tuple[ToolCall, ...]):
    """Calls that nothing changes any more. `encoded_args`: the arguments of each call, from `encode`."""

    encoded_args: tuple[Arguments, ...]


def freeze_calls(
    calls: Iterable[ToolCall], encoded_args: Sequence[Arguments] | None = None
) -> FrozenCalls:
    """Copies of the calls, so that what is judged is what is stored, even if the agent changes its objects
    meanwhile. `encoded_args`: their arguments, if the caller has encoded them. Raises InvalidToolCall, also
    when two calls have the same id. Frozen calls are returned as they are.
    """
    if isinstance(calls, FrozenCalls):
        return calls
    calls = list(calls)
    if parsed_has_more_values([call.args for call in calls], MAX_VALUES):
        message = f"The arguments of one turn may have at most {MAX_VALUES:,} values."
        raise InvalidToolCall(message)
    if encoded_args is None:
        encoded_args = [encode(call.args) for call in calls]
    if not calls:
        raise InvalidToolCall("There is no tool call to review.")
    if len(calls) > MAX_CALLS:
        raise InvalidToolCall(f"A turn may have at most {MAX_CALLS} tool calls, not {len(calls)}.")
    ids = [call.id for call in calls]
    if duplicate := next((id for id in ids if ids.count(id) > 1), None):
        raise InvalidToolCall(f"Two calls of this turn have the id {duplicate!r}.")
    copies = FrozenCalls(replace(call, args=_copy_args(call.args)) for call in calls)
    copies.encoded_args = tuple(encoded_args)
    return copies


def _copy_args(args: JsonObject) -> JsonObject:
    """A copy, with the keys in the model's order, because descriptions show them in this order."""
    return json.loads(json.dumps(args))
