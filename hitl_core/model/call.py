"""A tool call: what the model asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.model.call_formats import parse_call

#: A valid tool name. Names are compared exactly, without case folding or Unicode normalisation. A name with
#: an invisible character is refused; otherwise no rule would match it, and a default of `allow` would run it.
TOOL_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
MAX_ID = 256


def is_text(value: str) -> bool:
    """False if it contains half a surrogate pair, which can't be stored."""
    return not re.search(r"[\ud800-\udfff]", value)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`id` is the model's id for the call. `args` is a JSON object. Raises InvalidToolCall."""

    id: str
    name: str
    args: JsonObject

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

    @classmethod
    def from_mapping(cls, value: Mapping[str, Any], *, id: str = "") -> Self:
        """From `{"id", "name", "args"}`, or from a call in the format of LangChain, OpenAI (chat completions,
        responses), Anthropic, Gemini or MCP. `id` is used if the call has none. Raises InvalidToolCall for
        anything else, and if the arguments are missing: write `{}` for a call without arguments.
        """
        parts = parse_call(value)
        return cls(cast(str, parts.id or id), cast(str, parts.name), parts.args)
