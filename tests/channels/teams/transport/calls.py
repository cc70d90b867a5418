"""What the tests of the transport share: a card, places, and what the local Teams was asked."""

from __future__ import annotations

import json

from bot.card import build_card
from hitl_core.model import Place
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Conversation, ids
from tests.channels.scenes import DEFAULT, THREE, review_of

REVIEW = review_of(*THREE)


CARD = build_card(REVIEW, DEFAULT)


ROOM, CHAT = Place(f"teams:{ids.APPROVALS}"), Place(f"teams:{ids.GROUP_CHAT}")


ALICE = Place(f"teams:{ids.ALICE}")


def count(sandbox: Sandbox, operation: str) -> int:
    return len([one for one in sandbox.connector.calls if one["operation"] == operation])


def error(code: str) -> str:
    return json.dumps({"error": {"code": code, "message": "?"}})


def channel_of(sandbox: Sandbox, id: str) -> Conversation:
    return sandbox.workspace.conversations[id]
