"""Reviews in the local Teams, for scenarios: submits them, finds their cards, waits for their outcome."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hitl_core import Outcome, ToolCall
from teams_sandbox.workspace import Message
from teams_sandbox.workspace.acme import APPROVALS
from tests.support.bots import Scene
from tests.support.teams.users import TeamsUsers

HERE = f"teams:{APPROVALS}"
POLICY: dict[str, Any] = {
    "default": "review",
    "notify": [HERE],
    "interrupt_on": {
        "run_sql": {"allowed_decisions": ["approve", "reject"], "reject_reason": "required"},
        "send_email": {
            "allowed_decisions": ["approve", "edit", "reject", "respond"],
            "args_schema": {
                "type": "object",
                "properties": {
                    "to": {"type": "string"},
                    "copies": {"type": "integer", "minimum": 1, "maximum": 9},
                },
                "required": ["to", "copies"],
            },
        },
    },
}


async def ask(
    scene: Scene, *calls: ToolCall, requester: str | None = None, **changed: Any
) -> asyncio.Task[Outcome]:
    gate = await scene.gate(json.dumps(POLICY | changed))
    return scene.ask(gate, *calls, requester=requester)


async def card(users: TeamsUsers, *having: str, conversation: str = APPROVALS) -> Message:
    return await users.message(*having, conversation=conversation)


async def outcome(waiting: asyncio.Task[Outcome]) -> Outcome:
    return await asyncio.wait_for(waiting, 30)
