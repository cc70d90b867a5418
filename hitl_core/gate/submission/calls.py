"""The calls of one model turn, as what is judged, stored and run. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model import DialectName, ToolCall, encode
from hitl_core.model.arguments import Arguments, JsonObject
from hitl_core.policy import Ruling

#: What one model turn may hold.
MAX_CALLS = 100
#: And how many JSON values in all its arguments: each is looked at several times before anybody is asked.
MAX_VALUES = 100_000


class JudgedCalls(NamedTuple):
    """The calls of one model turn, with everything that is said of them.

    `tools` are those that an edit may name, each with its own schema or None. `path` names the agents that
    led here, the outermost first; `dialect` is the one whose texts the model gets; `policy` the digest of the
    policy that judged; `excerpt` what of it an edit is judged by (`schemas.excerpt_for`), None without one.
    """

    calls: Sequence[ToolCall]
    rulings: Sequence[Ruling]
    path: tuple[str, ...] = ()
    dialect: DialectName = "langchain"
    tools: Mapping[str, JsonObject | None] = {}
    edit_notice: str | None = None
    policy: str | None = None
    excerpt: JsonObject | None = None


class FrozenCalls(tuple[ToolCall, ...]):
    """Calls that are what is stored. `written`: the arguments of each, as `encode` writes them."""

    encoded_args: tuple[Arguments, ...]


def freeze_calls(calls: Iterable[ToolCall]) -> FrozenCalls:
    """The calls with arguments of their own, so that what is judged is what is stored, whatever the agent
    does to its objects meanwhile. Raises InvalidToolCall, also for a turn whose answers could not be
    told apart. Of calls that are frozen nothing is looked at again.
    """
    if isinstance(calls, FrozenCalls):
        return calls
    calls = list(calls)
    if has_more_than(MAX_VALUES, [call.args for call in calls]):
        message = f"A turn may have {MAX_VALUES:,} values at most in its arguments."
        raise InvalidToolCall(message)
    written = tuple(encode(call.args) for call in calls)
    if not calls:
        raise InvalidToolCall("There is no tool call to review.")
    if len(calls) > MAX_CALLS:
        raise InvalidToolCall(f"A turn may have {MAX_CALLS} tool calls at most, not {len(calls)}.")
    ids = [call.id for call in calls]
    if duplicate := next((id for id in ids if ids.count(id) > 1), None):
        raise InvalidToolCall(f"Two calls of this turn have the id {duplicate!r}.")
    copies = FrozenCalls(ToolCall(call.id, call.name, _copy_args(call.args)) for call in calls)
    copies.encoded_args = written
    return copies


def has_more_than(limit: int, value: object) -> bool:
    """Whether this is more JSON values than so many. Counts no further, also in a list that holds itself."""
    return next(islice(_values(value), limit, None), None) is not None


def _values(value: object) -> Iterator[tuple[object]]:
    """Each value in it, the outermost first; in a tuple, since null is one too."""
    stack = [value]
    while stack:
        value = stack.pop()
        yield (value,)
        if isinstance(value, dict):
            stack.extend(cast(dict[str, Any], value).values())
        elif isinstance(value, list | tuple):
            stack.extend(cast(Sequence[Any], value))


def _copy_args(args: JsonObject) -> JsonObject:
    """A copy, in the model's order: descriptions show them so."""
    return json.loads(json.dumps(args))
