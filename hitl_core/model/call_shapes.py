"""Tool calls as models, frameworks and protocols write them. Pure.

Whatever stands for arguments is read, or the call is refused: people must never approve a call whose
arguments were lost on the way. What is missing or null is not taken for none: such a call says `{}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.arguments import MAX_BYTES, JsonObject, decode

#: Under which keys arguments stand: ours and LangChain's, OpenAI's and MCP's, Anthropic's.
ARGUMENTS = ("args", "arguments", "input")
#: Under which others they may: no shape that we know has these, so that they are refused.
OTHERS = frozenset(
    {
        "argument",
        "inputs",
        "kwargs",
        "parameters",
        "params",
        "payload",
        "partial_json",
        "tool_args",
        "tool_input",
        "toolArgs",
        "toolInput",
    }
)
#: What holds name and arguments: of OpenAI's chat completions, of Gemini (and its Python client), of MCP.
WRAPPERS = ("function", "functionCall", "function_call", "params")
#: What else these shapes may hold that says nothing of the arguments.
_ABOUT = frozenset(
    {
        "_meta",
        "additional_kwargs",
        "annotations",
        "cache_control",
        "caller",
        "extra_content",
        "extras",
        "metadata",
        "response_metadata",
        "usage_metadata",
    }
)
#: All keys by which a call is read, or refused; of a log's line the others say something else.
CALL_KEYS = frozenset({"id", "name", *ARGUMENTS, *OTHERS, *WRAPPERS})
#: The longest text of arguments that is parsed, were every byte of them an escape.
_MAX_TEXT = 6 * MAX_BYTES


class Parts(NamedTuple):
    """What a call is made of, the id and the name as they were given."""

    id: object
    name: object
    args: JsonObject


def parts_of(value: object) -> Parts:
    """Takes `{"id", "name", "args"}` (ours, and LangChain's), and the calls of OpenAI (chat completions and
    responses), Anthropic, Gemini and MCP. Raises InvalidToolCall for anything else.
    """
    if not isinstance(value, Mapping):
        raise InvalidToolCall("A tool call must be an object with `id`, `name` and `args`.")
    outer = cast(Mapping[str, Any], value)
    wrappers = [key for key in WRAPPERS if isinstance(outer.get(key), Mapping)]
    if not wrappers:
        return Parts(_id(outer), outer.get("name") or "", _args(outer, ()))
    inner = cast(Mapping[str, Any], outer[wrappers[0]])
    twice = [*wrappers[1:], *(key for key in ("name", *ARGUMENTS) if outer.get(key) is not None)]
    if twice:
        raise InvalidToolCall(
            f"This call stands in `{wrappers[0]}`, and `{twice[0]}` says more of it: give it once."
        )
    if outer.get("method", "tools/call") != "tools/call":
        raise InvalidToolCall(f"{outer['method']!r:.80} is no call of a tool: tools/call is.")
    _check_rest(inner.get("name"), outer, (wrappers[0],))
    return Parts(_id(inner) or _id(outer), inner.get("name") or "", _args(inner, ()))


def arguments_in(value: Mapping[str, Any], *keys: str, tool: object) -> JsonObject:
    """The object under the one of `keys` that is there. Raises InvalidToolCall where none is, or several are,
    where it is no object, or something else in `value` may hold arguments too.
    """
    known = (*ARGUMENTS, *sorted(OTHERS))
    given = [key for key in known if key in value and (key in keys or value[key] is not None)]
    if not given:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has no arguments: give `{keys[0]}`, {{}} where there are none."
        )
    if len(given) > 1:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} gives its arguments twice, as `{given[0]}` and as `{given[1]}`."
        )
    if given[0] not in keys:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} gives its arguments as `{given[0]}`: give them as `{keys[0]}`."
        )
    return _object(value[given[0]], given[0], tool)


def _args(value: Mapping[str, Any], beside: Iterable[str]) -> JsonObject:
    tool = value.get("name")
    args = arguments_in(value, *ARGUMENTS, tool=tool)
    _check_rest(tool, value, beside)
    return args


def _object(value: object, key: str, tool: object) -> JsonObject:
    if isinstance(value, str) and key == "arguments":  # OpenAI's are text
        if len(value) > _MAX_TEXT:
            raise InvalidToolCall(
                f"The arguments of {tool!r:.80} take more than {_MAX_TEXT:,} bytes."
            )
        try:
            return decode(value)
        except InvalidToolCall as error:
            raise InvalidToolCall(f"`arguments` of {tool!r:.80}: {error}") from error
    if not isinstance(value, dict):
        shown = "null" if value is None else f"of type {type(value).__name__}"
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has arguments that are not a JSON object: `{key}` is {shown}."
            " Give {} where there are none."
        )
    return cast(JsonObject, value)


def _check_rest(tool: object, value: Mapping[str, Any], known: Iterable[str]) -> None:
    """Nothing else in it may hold what people should see."""
    for key, item in value.items():
        if key in (*known, *ARGUMENTS, *_ABOUT):
            continue
        if (key in OTHERS and item is not None) or _holds_values(item):
            raise InvalidToolCall(
                f"The call of {tool!r:.80} has a `{key}` that may hold arguments, and nobody would see it: a"
                " call has `id`, `name` and `args`."
            )


def _holds_values(item: object) -> bool:
    if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):
        try:
            item = json.loads(item[:_MAX_TEXT])
        except (ValueError, RecursionError):
            return True
    return isinstance(item, Mapping | list | tuple) and bool(cast(Any, item))


def _id(value: Mapping[str, Any]) -> object:
    """OpenAI's responses name the call by `call_id`, and the item by `id`; MCP counts."""
    found = value.get("call_id") or value.get("id")
    counts = isinstance(found, int) and not isinstance(found, bool) and "jsonrpc" in value
    return str(found) if counts else found or ""
