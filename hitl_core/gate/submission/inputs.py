"""Checks what an application passes to the gate: a value of another type is an error with a sentence, before
anything is stored. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from hitl_core.errors import InvalidToolCall, SettingsError
from hitl_core.gate.submission.review_key import ReviewKey, read_origin
from hitl_core.model import MAX_REASON, ToolCall, is_text


def list_calls(calls: object) -> list[ToolCall]:
    """The calls as a list. Raises InvalidToolCall for anything but ToolCalls."""
    if not isinstance(calls, Iterable) or isinstance(calls, str | Mapping):
        raise InvalidToolCall(f"The calls must be a list of ToolCalls, not {calls!r:.80}.")
    given = list(cast("Iterable[Any]", calls))
    if wrong := [each for each in given if not isinstance(each, ToolCall)]:
        raise InvalidToolCall(
            f"The calls must be ToolCalls; one is {wrong[0]!r:.80}. ToolCall.from_mapping makes one of an"
            " object."
        )
    return given


def check_tools(tools: object) -> None:
    """Raises InvalidToolCall unless each tool has the JSON Schema of its arguments, or None."""
    if not isinstance(tools, Mapping):
        raise InvalidToolCall(
            "The tools must be an object that has each tool's JSON Schema, or None, by the tool's name, not"
            f" {tools!r:.80}."
        )
    for name, schema in cast("Mapping[Any, Any]", tools).items():
        if not isinstance(name, str) or not is_text(name):
            raise InvalidToolCall(f"The name of a tool must be text, not {name!r:.80}.")
        if schema is not None and not isinstance(schema, dict):
            raise InvalidToolCall(
                f"The schema of {name:.80} must be a JSON Schema object or None, not {schema!r:.80}."
            )


def list_path(path: object) -> tuple[str, ...]:
    """The names of agents. Raises InvalidToolCall for a name that can't be stored."""
    if not isinstance(path, Iterable) or isinstance(path, str | Mapping):
        raise InvalidToolCall(f"The path must be a list of names, not {path!r:.80}.")
    names = tuple(cast("Iterable[Any]", path))
    check_path(names)
    return names


def check_path(names: Iterable[object]) -> None:
    for name in names:
        if not isinstance(name, str) or not is_text(name):
            raise InvalidToolCall(f"The path must be a list of texts; one is {name!r:.80}.")


def check_agent(agent: object) -> None:
    """Raises SettingsError for a name that no review can have."""
    if not agent or not _is_text(agent):
        raise SettingsError(
            f"`agent` must be the name of your program, like 'billing', not {agent!r:.80}."
        )


def check_review_key(key: ReviewKey) -> None:
    """Raises InvalidToolCall for a name that can't be stored, and for a bad origin."""
    for word, name in zip(("agent", "thread_id"), key[:2], strict=True):
        if not name or not _is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")
    for word, name in zip(("turn", "requester", "origin"), key[2:], strict=True):
        if name is not None and not _is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")
    read_origin(key.origin)


def check_cancel_reason(reason: object) -> None:
    """Raises InvalidToolCall for a reason that can't be stored."""
    if reason is not None and (not _is_text(reason) or len(cast(str, reason)) > MAX_REASON):
        raise InvalidToolCall(
            f"The reason must be valid text of at most {MAX_REASON:,} characters, not {reason!r:.80}."
        )


def check_seconds(name: str, value: object) -> None:
    """Raises SettingsError for a time in which nothing could run."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e9:
        raise SettingsError(f"`{name}` must be a number of seconds above 0, not {value!r:.80}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_text(value)
