"""The lines of a CALLS file: each is one model turn, with the decisions on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hitl_core import HitlError, Policy, ToolCall
from hitl_core.errors import InvalidToolCall
from hitl_core.model import DECISION_TYPES, decode, encode


class TurnError(HitlError):
    """A line is wrong. The text has the file, the line and what is wrong."""


@dataclass(frozen=True)
class PlannedDecision:
    """`args`: all arguments after an edit."""

    type: str
    args: dict[str, Any] | None = None
    message: str | None = None


@dataclass(frozen=True)
class Turn:
    """`number`: the line's number, from 1. `decisions`: one for each reviewed call, by tool call id."""

    number: int
    thread_id: str
    calls: tuple[ToolCall, ...]
    decisions: Mapping[str, PlannedDecision]

    def calls_to_run(self, policy: Policy) -> list[dict[str, Any]]:
        """The calls that must run, in order, with exactly these arguments."""
        calls: list[dict[str, Any]] = []
        for call in self.calls:
            verdict = policy.judge(call).verdict.kind
            decision = self.decisions.get(call.id)
            approved = decision is not None and decision.type in ("approve", "edit")
            if verdict == "allow" or approved:
                args = decision.args if decision and decision.type == "edit" else call.args
                calls.append({"id": call.id, "name": call.name, "args": args})
        return calls


def read_turns(path: Path, policy: Policy) -> list[Turn]:
    """Raises TurnError. Reads the whole file before anything starts."""
    try:
        lines = path.read_text("utf-8").split("\n")  # splitlines() would also split at U+2028
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise TurnError(f"{path} can't be read: {why}.") from error
    turns = [_parse_turn(path, n, line, policy) for n, line in enumerate(lines, 1) if line.strip()]
    if not turns:
        raise TurnError(f"{path} has no lines.")
    return turns


def _parse_turn(path: Path, number: int, line: str, policy: Policy) -> Turn:
    try:
        value = _parse_object(line)
        if unknown := set(value) - {"thread_id", "calls", "decisions"}:
            raise TurnError(f"unknown key {min(unknown)!r}")
        if not isinstance(value["thread_id"], str) or not value["thread_id"]:
            raise TurnError("thread_id must be text")
        calls = tuple(_parse_call(call) for call in _parse_list(value, "calls"))
        if not calls or len({call.id for call in calls}) < len(calls):
            raise TurnError("a turn needs at least one call, and each call its own id")
        reviewed = [call for call in calls if policy.judge(call).verdict.kind == "review"]
        for call in reviewed:
            if (quorum := policy.judge(call).route.reviewers.quorum) > 1:
                raise TurnError(
                    f"{call.name} needs {quorum} people, but here one person decides each call"
                )
        planned = [_parse_decision(d) for d in _parse_list(value, "decisions")]
        if len(planned) != len(reviewed):
            names = ", ".join(call.name for call in reviewed) or "none"
            raise TurnError(
                f"{len(planned)} decisions for the {len(reviewed)} calls that the policy reviews"
                f" ({names})"
            )
        by_id = {call.id: plan for call, plan in zip(reviewed, planned, strict=True)}
        return Turn(number, value["thread_id"], calls, by_id)
    except KeyError as error:
        raise TurnError(f"{path}:{number}: {error.args[0]!r} is missing.") from error
    except HitlError as error:
        raise TurnError(f"{path}:{number}: {error}") from error


def _parse_object(line: str) -> dict[str, Any]:
    try:
        return decode(line)
    except InvalidToolCall as error:
        message = (
            str(error)
            .replace("The arguments are", "The line is")
            .replace("The arguments", "The line")
        )
        raise TurnError(message) from error


def _parse_list(value: dict[str, Any], key: str) -> list[Any]:
    items = value[key] if key == "calls" else value.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise TurnError(f"{key} must be a list of objects")
    return cast(list[Any], items)


def _parse_call(value: dict[str, Any]) -> ToolCall:
    if not isinstance(value.get("id", ""), str):
        raise TurnError(f"the id {value['id']!r} is not text")
    call = ToolCall.from_mapping(value)
    encode(call.args)
    return call


def _parse_decision(value: dict[str, Any]) -> PlannedDecision:
    if unknown := set(value) - {"type", "args", "message"}:
        raise TurnError(f"a decision has no key {min(unknown)!r}")
    kind, args, message = value.get("type"), value.get("args"), value.get("message")
    if kind not in DECISION_TYPES:
        raise TurnError(f"{kind!r} is not a decision. Use {', '.join(DECISION_TYPES)}")
    if kind == "edit":
        if not isinstance(args, dict):
            raise TurnError("an edit needs args: all arguments after the edit")
        encode(args)
    if kind == "respond" and not message:
        raise TurnError("a respond needs a message")
    return PlannedDecision(kind, args, message)


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a JSON lines file that one of our processes writes; [] if it doesn't exist yet."""
    lines = file.read_text("utf-8").split("\n") if file.exists() else []
    return [json.loads(line) for line in lines if line]


def to_line(turn: Turn) -> str:
    """The turn as a line of the file for the agent's process."""
    calls = [{"id": call.id, "name": call.name, "args": call.args} for call in turn.calls]
    return json.dumps({"number": turn.number, "thread_id": turn.thread_id, "calls": calls})
