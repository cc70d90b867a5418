"""The chat systems that a run can have: their messages, presses, forms and faults."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import assert_never

from benchmarks.chaos.chats.chat import Answer, Card, Chat, Element, digest_count
from benchmarks.chaos.chats.slack import open_slack
from benchmarks.chaos.chats.teams import open_teams
from benchmarks.chaos.plan import Plan

__all__ = ["Answer", "Card", "Chat", "Element", "digest_count", "open_chat"]


def open_chat(plan: Plan) -> AbstractAsyncContextManager[Chat]:
    match plan.chat:
        case "slack":
            return open_slack(plan.scale, plan.mode)
        case "teams":
            return open_teams(plan.scale)
        case _:
            assert_never(plan.chat)
