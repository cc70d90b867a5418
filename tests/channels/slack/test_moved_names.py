"""The names of conversations that got another id."""

from __future__ import annotations

from typing import Any, cast

from bot.channels.slack.transport.api import Api
from bot.channels.slack.transport.conversations import Conversations
from bot.channels.slack.transport.moved import MovedConversations
from bot.health import Health
from hitl_core.model import Place
from hitl_core.store import MemoryStore

OLD, NEW = "G0FINANCE", "C0FINANCE"


async def test_a_moved_conversation_keeps_its_name_and_gets_new_ones() -> None:
    """Given a running bot that knows a private channel's name, when the channel gets a new id, then the bot
    still calls it by its name, and by the next one when it is renamed."""
    health = Health(quiet=True)
    moved = MovedConversations(health, MemoryStore())
    conversations = Conversations(Api(cast(Any, None), health, moved), "")
    conversations.set_channel_name(OLD, "finance")
    await moved.record(OLD, NEW)
    assert conversations.name_of(Place(f"slack:{OLD}")) == "#finance"
    conversations.rename_channel(NEW, "money")
    assert conversations.name_of(Place(f"slack:{OLD}")) == "#money"
    assert conversations._ids_by_name("#finance") == []
