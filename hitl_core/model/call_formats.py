"""Reads tool calls in the formats of models, frameworks and protocols. Pure.

A call is refused if anything in it could be arguments that we don't read: people must never approve a call
whose arguments were lost. Missing or null arguments are refused too. A call without arguments has `{}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.arguments import MAX_BYTES, JsonObject, decode

#: The keys for arguments: of our format and LangChain, of OpenAI and MCP, of Anthropic.
ARGUMENT_KEYS = ("args", "arguments", "input")
#: Other keys that probably hold arguments. No format that we know has them, so a call with one is refused.
OTHER_ARGUMENT_KEYS = frozenset(
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
#: The keys of an inner object with name and arguments: OpenAI's chat completions, Gemini (and its Python
#: client), MCP.
WRAPPER_KEYS = ("function", "functionCall", "function_call", "params")
#: Other keys of these formats. They never hold arguments.
_METADATA_KEYS = frozenset(
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
#: All keys that are read or refused. For a line of a log: other keys are not part of the call.
CALL_KEYS = frozenset({"id", "name", *ARGUMENT_KEYS, *OTHER_ARGUMENT_KEYS, *WRAPPER_KEYS})
#: The longest text of arguments that is parsed: MAX_BYTES bytes, each written as an escape of six characters.
_MAX_TEXT = 6 * MAX_BYTES


class CallParts(NamedTuple):
    """The parts of a call. `id` and `name` are not checked yet."""

    id: object
    name: object
    args: JsonObject


def parse_call(value: object) -> CallParts:
    """Reads `{"id", "name", "args"}` (our format, and LangChain's) and the calls of OpenAI (chat completions
    and responses), Anthropic, Gemini and MCP. Raises InvalidToolCall for anything else.
    """
    if not isinstance(value, Mapping):
        raise InvalidToolCall("A tool call must be an object with `id`, `name` and `args`.")
    outer = cast(Mapping[str, Any], value)
    wrappers = [key for key in WRAPPER_KEYS if isinstance(outer.get(key), Mapping)]
    if not wrappers:
        return CallParts(_read_id(outer), outer.get("name") or "", _read_args(outer, ()))
    inner = cast(Mapping[str, Any], outer[wrappers[0]])
    twice = [
        *wrappers[1:],
        *(key for key in ("name", *ARGUMENT_KEYS) if outer.get(key) is not None),
    ]
    if twice:
        raise InvalidToolCall(
            f"The call has both `{wrappers[0]}` and `{twice[0]}`: give its name and arguments in one of them."
        )
    if outer.get("method", "tools/call") != "tools/call":
        raise InvalidToolCall(
            f"The `method` must be 'tools/call' for a tool call, not {outer['method']!r:.80}."
        )
    _check_other_keys(inner.get("name"), outer, (wrappers[0],))
    return CallParts(
        _read_id(inner) or _read_id(outer), inner.get("name") or "", _read_args(inner, ())
    )


def read_arguments(value: Mapping[str, Any], *keys: str, tool: object) -> JsonObject:
    """The arguments: the object in that one of `keys` that `value` has.

    Raises InvalidToolCall if there is none or more than one, if it is not an object, or if another key of
    `value` may hold arguments too.
    """
    known = (*ARGUMENT_KEYS, *sorted(OTHER_ARGUMENT_KEYS))
    present = [key for key in known if key in value and (key in keys or value[key] is not None)]
    if not present:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has no arguments: add `{keys[0]}` (`{{}}` for no arguments)."
        )
    if len(present) > 1:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has its arguments twice, in `{present[0]}` and in `{present[1]}`:"
            " give them once."
        )
    if present[0] not in keys:
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has its arguments in `{present[0]}`: put them in `{keys[0]}`."
        )
    return _read_object(value[present[0]], present[0], tool)


def _read_args(value: Mapping[str, Any], beside: Iterable[str]) -> JsonObject:
    tool = value.get("name")
    args = read_arguments(value, *ARGUMENT_KEYS, tool=tool)
    _check_other_keys(tool, value, beside)
    return args


def _read_object(value: object, key: str, tool: object) -> JsonObject:
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
        type_text = "null" if value is None else f"of type {type(value).__name__}"
        raise InvalidToolCall(
            f"The call of {tool!r:.80} has arguments that are not a JSON object: `{key}` is {type_text}."
            " Write `{}` for no arguments."
        )
    return cast(JsonObject, value)


def _check_other_keys(tool: object, value: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a call if another key may hold values that people should see."""
    for key, item in value.items():
        if key in (*known, *ARGUMENT_KEYS, *_METADATA_KEYS):
            continue
        if (key in OTHER_ARGUMENT_KEYS and item is not None) or _holds_values(item):
            raise InvalidToolCall(
                f"The call of {tool!r:.80} has the key `{key}`, which may hold arguments that people would"
                " not see. A call has `id`, `name` and `args` only."
            )


def _holds_values(item: object) -> bool:
    if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):
        try:
            item = json.loads(item[:_MAX_TEXT])
        except (ValueError, RecursionError):
            return True
    return isinstance(item, Mapping | list | tuple) and bool(cast(Any, item))


def _read_id(value: Mapping[str, Any]) -> object:
    """In OpenAI's responses `call_id` is the call's id and `id` the item's. MCP's ids may be numbers."""
    call_id = value.get("call_id") or value.get("id")
    is_number = isinstance(call_id, int) and not isinstance(call_id, bool) and "jsonrpc" in value
    return str(call_id) if is_number else call_id or ""
