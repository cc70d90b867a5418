"""One interrupt of each foreign system. In each, the agent calls `ask` and allows every decision that the
system knows.
"""

from __future__ import annotations

from typing import Any

from bot.api.policies import Policies
from hitl_core.model import encode
from hitl_core.review import Proposal
from tests.api.client import Client, Reply
from tests.support.builders import policy

Json = dict[str, Any]

ARGS = {"n": 1}
ALL = ["approve", "edit", "reject"]
#: By the name of the dialect.
INTERRUPTS: dict[str, Any] = {
    "langchain": {
        "action_requests": [{"name": "ask", "args": ARGS, "description": "Why"}],
        "review_configs": [
            {"action_name": "ask", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
        ],
    },
    "langchain_per_call": [
        {
            "id": "i1",
            "value": {"type": "tool_approval", "tool_call_id": "c1", "name": "ask", "args": ARGS},
        }
    ],
    "langchain_js": {
        "actionRequests": [{"name": "ask", "args": ARGS, "description": "Why"}],
        "reviewConfigs": [{"actionName": "ask", "allowedDecisions": ["approve", "edit", "reject"]}],
    },
    "sagents": {
        "action_requests": [{"tool_call_id": "c1", "tool_name": "ask", "arguments": ARGS}],
        "review_configs": {"ask": {"allowed_decisions": ["approve", "edit", "reject"]}},
        "hitl_tool_call_ids": ["c1"],
    },
    "agent_inbox": [
        {
            "action_request": {"action": "ask", "args": ARGS},
            "config": {
                "allow_accept": True,
                "allow_edit": True,
                "allow_respond": True,
                "allow_ignore": True,
            },
        }
    ],
    "arcgis": {
        "id": "i1",
        "agentId": "map",
        "kind": "booleanChoice",
        "message": "Really?",
        "metadata": {"toolName": "ask", "args": ARGS},
    },
}
INTERRUPTS["xpertai"] = INTERRUPTS["langchain_js"]

_EDITED = {"name": "ask", "args": {"n": 2}}
#: What each system is resumed with, by what was decided: the edit makes `n` 2, the message is "no".
RESUMES: dict[str, dict[str, Any]] = {
    "langchain": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "edited_action": _EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
        "respond": {"decisions": [{"type": "respond", "message": "no"}]},
    },
    "langchain_per_call": {
        "approve": {"i1": {"type": "approve"}},
        "edit": {"i1": {"type": "edit", "edited_action": _EDITED}},
        "reject": {"i1": {"type": "reject", "message": "no"}},
        "respond": {"i1": {"type": "respond", "message": "no"}},
    },
    "langchain_js": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "editedAction": _EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
    },
    "sagents": {
        "approve": [{"type": "approve"}],
        "edit": [{"type": "edit", "arguments": {"n": 2}}],
        "reject": [{"type": "reject"}],
    },
    "agent_inbox": {
        "approve": [{"type": "accept", "args": {"action": "ask", "args": ARGS}}],
        "edit": [{"type": "edit", "args": {"action": "ask", "args": {"n": 2}}}],
        "respond": [{"type": "response", "args": "no"}],
        "ignore": [{"type": "ignore", "args": None}],
    },
    "arcgis": {
        "approve": {"id": "i1", "agentId": "map", "payload": True},
        "reject": {"id": "i1", "agentId": "map", "payload": False},
    },
}
RESUMES["xpertai"] = RESUMES["langchain_js"]


def batch(*asked: tuple[str, Json | None, list[str]]) -> Json:
    """An interrupt of LangChain for JavaScript: (name, args, allowed decisions) each."""
    return {
        "actionRequests": [{"name": name, "args": args} for name, args, _ in asked],
        "reviewConfigs": [
            {"actionName": name, "allowedDecisions": allowed} for name, _, allowed in asked
        ],
    }


OK = INTERRUPTS["langchain_js"]
POLICY = Policies(
    policy(
        only_yes={"allowed_decisions": ["approve", "reject"]},
        only_answers={"allowed_decisions": ["respond"]},
        told={"description": "Costs money"},
    )
)


async def post_interrupt(client: Client, interrupt: Any, turn: str = "m1", **more: Any) -> Reply:
    return await client.post(
        "/v1/reviews", {"thread_id": "t-1", "turn": turn, "interrupt": interrupt, **more}
    )


def edit(**args: Any) -> Proposal:
    return Proposal("edit", 1, None, encode(args))


async def asks(client: Client, name: str, *allowed: str, args: Any = None, **more: Any) -> Reply:
    interrupt = batch((name, args or {"n": 1}, list(allowed or ALL)))
    return await post_interrupt(client, interrupt, **more)
