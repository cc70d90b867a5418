"""A tool call: what the model asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.model.call_formats import parse_call

#: What a tool may be called. Compared exactly: no case folding and no Unicode normalisation, so a name
#: with an invisible character is refused and never merely unmatched by a rule.
TOOL_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
MAX_ID = 256


def is_text(value: str) -> bool:
    """Half a surrogate pair is no text: nothing can store it."""
    return not re.search(r"[\ud800-\udfff]", value)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`id` is the model's own id of the call; `args` a JSON object. Raises InvalidToolCall."""

    id: str
    name: str
    args: JsonObject

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"A call of {self.name!r} has no id, so its answer could not be matched to it."
            )
        if len(self.id) > MAX_ID or not is_text(self.id):
            raise InvalidToolCall(f"A tool call's id is text of {MAX_ID} characters at most.")
        if not isinstance(self.name, str) or not TOOL_NAME.fullmatch(self.name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"The call {self.id!r} names the tool {self.name!r}; a tool's name has 1 to 128 of"
                " A-Z a-z 0-9 _ . : / -."
            )
        if not isinstance(self.args, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidToolCall(
                f"The call {self.id!r} of {self.name} has arguments that are not a JSON object."
            )

    @classmethod
    def from_mapping(cls, value: Mapping[str, Any], *, id: str = "") -> Self:
        """From `{"id", "name", "args"}`, and from a call as LangChain, OpenAI (chat completions, responses),
        Anthropic, Gemini or MCP write it; `id` is for one that has none. Raises InvalidToolCall for anything
        else: no argument is lost, and missing ones are not taken for none.
        """
        parts = parse_call(value)
        return cls(cast(str, parts.id or id), cast(str, parts.name), parts.args)
