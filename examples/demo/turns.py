"""The lines of a CALLS file: one model turn each, with what people decide on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hitl_core import HitlError, Policy, ToolCall
from hitl_core.model import DECISION_TYPES, decode, encode


class TurnError(HitlError):
    """A line that can't be played; the text names the file, the line and what is wrong."""


@dataclass(frozen=True)
class PlannedDecision:
    """`args` are the whole arguments after an edit."""

    type: str
    args: dict[str, Any] | None = None
    message: str | None = None


@dataclass(frozen=True)
class Turn:
    """`number` is the line's, from 1. `decisions` are by tool call id: one for each reviewed call."""

    number: int
    thread_id: str
    calls: tuple[ToolCall, ...]
    decisions: Mapping[str, PlannedDecision]

    def expected(self, policy: Policy) -> list[dict[str, Any]]:
        """What must run, in order, with exactly these arguments."""
        found: list[dict[str, Any]] = []
        for call in self.calls:
            verdict = policy.judge(call).verdict.kind
            decision = self.decisions.get(call.id)
            approved = decision is not None and decision.type in ("approve", "edit")
            if verdict == "allow" or approved:
                args = decision.args if decision and decision.type == "edit" else call.args
                found.append({"id": call.id, "name": call.name, "args": args})
        return found


def read(path: Path, policy: Policy) -> list[Turn]:
    """Raises TurnError, for the whole file before anything is started."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TurnError(f"{path} can't be read: {error}.") from error
    turns = [_turn(path, n, line, policy) for n, line in enumerate(lines, 1) if line.strip()]
    if not turns:
        raise TurnError(f"{path} has no lines.")
    return turns


def _turn(path: Path, number: int, line: str, policy: Policy) -> Turn:
    try:
        value = decode(line)
        if unknown := set(value) - {"thread_id", "calls", "decisions"}:
            raise TurnError(f"unknown key {sorted(unknown)[0]!r}")
        calls = tuple(ToolCall.from_mapping(call) for call in cast(list[Any], value["calls"]))
        for call in calls:
            encode(call.args)
        if not calls or len({call.id for call in calls}) < len(calls):
            raise TurnError("a turn needs at least one call, and ids of their own")
        reviewed = [call for call in calls if policy.judge(call).verdict.kind == "review"]
        planned = [_decision(d) for d in cast(list[Any], value.get("decisions", []))]
        if len(planned) != len(reviewed):
            names = ", ".join(call.name for call in reviewed) or "none"
            raise TurnError(
                f"{len(planned)} decisions for the {len(reviewed)} calls that the policy reviews"
                f" ({names})"
            )
        by_id = {call.id: plan for call, plan in zip(reviewed, planned, strict=True)}
        return Turn(number, str(value["thread_id"]), calls, by_id)
    except KeyError as error:
        raise TurnError(f"{path}:{number}: {error.args[0]!r} is missing.") from error
    except (HitlError, TypeError, AttributeError) as error:
        raise TurnError(f"{path}:{number}: {error}") from error


def _decision(value: Any) -> PlannedDecision:
    planned = PlannedDecision(**value)
    if planned.type not in DECISION_TYPES:
        raise TurnError(f"no decision is called {planned.type!r}: {', '.join(DECISION_TYPES)}")
    if planned.type == "edit":
        encode(planned.args)
    return planned


def as_line(turn: Turn) -> str:
    """What the agent's process is given."""
    calls = [{"id": call.id, "name": call.name, "args": call.args} for call in turn.calls]
    return json.dumps({"number": turn.number, "thread_id": turn.thread_id, "calls": calls})
