"""A tool call: what the model asked for, also in the formats of other models, frameworks and protocols.

A call is refused if anything in it could be arguments that we don't read: people must never approve a call
whose arguments were lost. So missing or null arguments are refused too. A call without arguments has `{}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.strict_json import MAX_BYTES, JsonObject, decode

#: A valid tool name. Names are compared exactly, without case folding or Unicode normalisation. A name with
#: an invisible character is refused; otherwise no rule would match it, and a default of `allow` would run it.
TOOL_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")
MAX_ID = 256
#: The most characters of an agent's reason for one call.
MAX_REASON = 2000


def is_text(value: str) -> bool:
    """False if it contains half a surrogate pair, which can't be stored."""
    return not _HALF_PAIR.search(value)


def storable_text(value: str) -> str:
    """The text as it can be stored: with "?" for each half of a surrogate pair."""
    return value.encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`id` is the model's id for the call. `args` is a JSON object. `reason` says why the agent wants this
    call: at most MAX_REASON characters, shown to people as the agent's words. It is not part of the arguments
    nor of their hash. Raises InvalidToolCall.
    """

    id: str
    name: str
    args: JsonObject
    reason: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"The call of {self.name!r} has no `id`. Give one: the answer is matched to the call by it."
            )
        if len(self.id) > MAX_ID or not is_text(self.id):
            raise InvalidToolCall(
                f"The `id` of a tool call must be valid text of at most {MAX_ID} characters."
            )
        if not isinstance(self.name, str) or not TOOL_NAME.fullmatch(self.name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"The call {self.id!r} has the invalid tool name {self.name!r}. A name has 1 to 128 of the"
                " characters A-Z a-z 0-9 _ . : / -."
            )
        if not isinstance(self.args, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"The call {self.id!r} of {self.name} has arguments that are not a JSON object."
            )
        if self.reason is not None and not _is_reason(self.reason):
            raise InvalidToolCall(
                f"The `reason` of the call {self.id!r} must be valid text of at most {MAX_REASON:,}"
                " characters."
            )

    @classmethod
    def from_mapping(cls, value: Mapping[str, Any], *, id: str = "") -> Self:
        """From `{"id", "name", "args"}` with an optional `reason`, or from a call in the format of LangChain,
        OpenAI (chat completions, responses), Anthropic, Gemini or MCP. `id` is used if the call has none.
        Raises InvalidToolCall for anything else, and if the arguments are missing: write `{}` for a call
        without arguments.
        """
        parts = parse_call(value)
        name, reason = cast(str, parts.name), value.get("reason")
        return cls(cast(str, parts.id or id), name, parts.args, reason)


def _is_reason(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_REASON and is_text(value)


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
#: All keys that are read or refused. A log line shows only these: other keys are not part of the call.
CALL_KEYS = frozenset({"id", "name", *ARGUMENT_KEYS, *OTHER_ARGUMENT_KEYS, *WRAPPER_KEYS})
#: The longest text of arguments that is parsed: MAX_BYTES bytes, each written as an escape of six characters.
_MAX_TEXT = 6 * MAX_BYTES
#: JSON text of an empty object or list.
_EMPTY = re.compile(r"\s*(?:\{\s*\}|\[\s*\])\s*")


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
        args = read_arguments(outer, *ARGUMENT_KEYS, tool=outer.get("name"), texts=("reason",))
        return CallParts(_read_id(outer), outer.get("name") or "", args)
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
    check_other_keys(inner.get("name"), outer, (wrappers[0],))
    args = read_arguments(inner, *ARGUMENT_KEYS, tool=inner.get("name"))
    return CallParts(_read_id(inner) or _read_id(outer), inner.get("name") or "", args)


def read_arguments(
    value: Mapping[str, Any], *keys: str, tool: object, texts: Iterable[str] = ()
) -> JsonObject:
    """The arguments: the object under the one of `keys` that `value` has. `texts`: other keys, of texts that
    people read.

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
    args = _read_object(value[present[0]], present[0], tool)
    check_other_keys(tool, value, texts)
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


def check_other_keys(tool: object, value: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raises InvalidToolCall if a key that is not `known` may hold arguments: people would not see them."""
    for key, item in value.items():
        if key in (*known, *ARGUMENT_KEYS, *_METADATA_KEYS):
            continue
        if (key in OTHER_ARGUMENT_KEYS and item is not None) or _holds_values(item):
            raise InvalidToolCall(
                f"The call of {tool!r:.80} has the key `{key}`, which may hold arguments that people would"
                " not see. Put it into the arguments, or leave it out."
            )


def _holds_values(item: object) -> bool:
    if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):
        return _EMPTY.fullmatch(item) is None
    return isinstance(item, Mapping | list | tuple) and bool(cast(Any, item))


def _read_id(value: Mapping[str, Any]) -> object:
    """The call's id: `call_id` in OpenAI's responses, where `id` is the item's. MCP's ids may be numbers."""
    call_id = value.get("call_id") or value.get("id")
    is_number = isinstance(call_id, int) and not isinstance(call_id, bool) and "jsonrpc" in value
    return str(call_id) if is_number else call_id or ""
