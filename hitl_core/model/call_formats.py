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
ARGUMENT_KEYS = ("args", "arguments", "input")
#: Under which others they may: no shape that we know has these, so that they are refused.
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
#: What holds name and arguments: of OpenAI's chat completions, of Gemini (and its Python client), of MCP.
WRAPPER_KEYS = ("function", "functionCall", "function_call", "params")
#: What else these shapes may hold that says nothing of the arguments.
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
#: All keys by which a call is read, or refused; of a log's line the others say something else.
CALL_KEYS = frozenset({"id", "name", *ARGUMENT_KEYS, *OTHER_ARGUMENT_KEYS, *WRAPPER_KEYS})
#: The longest text of arguments that is parsed, were every byte of them an escape.
_MAX_TEXT = 6 * MAX_BYTES


class CallParts(NamedTuple):
    """What a call is made of, the id and the name as they were given."""

    id: object
    name: object
    args: JsonObject


def parse_call(value: object) -> CallParts:
    """Takes `{"id", "name", "args"}` (ours, and LangChain's), and the calls of OpenAI (chat completions and
    responses), Anthropic, Gemini and MCP. Raises InvalidToolCall for anything else.
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
            f"This call stands in `{wrappers[0]}`, and `{twice[0]}` says more of it: give it once."
        )
    if outer.get("method", "tools/call") != "tools/call":
        raise InvalidToolCall(f"{outer['method']!r:.80} is no call of a tool: tools/call is.")
    _check_other_keys(inner.get("name"), outer, (wrappers[0],))
    return CallParts(
        _read_id(inner) or _read_id(outer), inner.get("name") or "", _read_args(inner, ())
    )


def read_arguments(value: Mapping[str, Any], *keys: str, tool: object) -> JsonObject:
    """The object under the one of `keys` that is there. Raises InvalidToolCall where none is, or several are,
    where it is no object, or something else in `value` may hold arguments too.
    """
    known = (*ARGUMENT_KEYS, *sorted(OTHER_ARGUMENT_KEYS))
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
    return _read_object(value[given[0]], given[0], tool)


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
            " Give {} where there are none."
        )
    return cast(JsonObject, value)


def _check_other_keys(tool: object, value: Mapping[str, Any], known: Iterable[str]) -> None:
    """Nothing else in it may hold what people should see."""
    for key, item in value.items():
        if key in (*known, *ARGUMENT_KEYS, *_METADATA_KEYS):
            continue
        if (key in OTHER_ARGUMENT_KEYS and item is not None) or _holds_values(item):
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


def _read_id(value: Mapping[str, Any]) -> object:
    """OpenAI's responses name the call by `call_id`, and the item by `id`; MCP counts."""
    call_id = value.get("call_id") or value.get("id")
    counts = isinstance(call_id, int) and not isinstance(call_id, bool) and "jsonrpc" in value
    return str(call_id) if counts else call_id or ""
