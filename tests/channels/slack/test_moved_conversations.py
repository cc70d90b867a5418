"""Conversations that get another id."""

from __future__ import annotations

from itertools import permutations
from typing import Any, cast

import pytest
from slack_sdk.errors import SlackApiError

from bot.channels.contract import NotFound, NotSent
from bot.channels.slack.transport.api import Api
from bot.channels.slack.transport.conversations import Conversations
from bot.channels.slack.transport.moved import MovedConversations
from bot.health import Health
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Place
from hitl_core.store import MemoryStore

A, B, C, D = "G0A", "C0B", "C0C", "C0D"


@pytest.mark.parametrize("changes", list(permutations([(A, B), (B, C), (C, D)])))
async def test_changes_of_one_conversation_can_arrive_in_any_order(changes: Any) -> None:
    """Given a conversation that got three new ids, when the events arrive in any order, some of them twice,
    then the last id is the one that Slack accepts, and each bot knows it by the first."""
    store = MemoryStore()
    bot, other = (MovedConversations(Health(quiet=True), store) for _ in range(2))
    for old, new in (*changes, changes[0]):
        await bot.record(old, new)
    await other.load()
    assert {one.current(id) for one in (bot, other) for id in (A, B, C, D)} == {D}
    assert {one.first(id) for one in (bot, other) for id in (A, D)} == {A}


async def test_a_conversation_that_has_an_earlier_id_again_is_called_by_it() -> None:
    """Given a conversation with its third id, when it gets the second and then the first one again, then
    Slack is called with that."""
    moved = MovedConversations(Health(quiet=True), MemoryStore())
    for old, new, current in ((A, B, B), (B, C, C), (C, B, B), (B, A, A)):
        await moved.record(old, new)
        assert (moved.current(A), moved.first(current)) == (current, A)


async def test_a_moved_conversation_keeps_its_name_and_gets_new_ones() -> None:
    """Given a running bot that knows a private channel's name, when the channel gets a new id, then the bot
    still calls it by its name, and by the next one when it is renamed."""
    health = Health(quiet=True)
    moved = MovedConversations(health, MemoryStore())
    conversations = Conversations(Api(cast(Any, None), health, moved), "")
    conversations.set_channel_name(A, "finance")
    await moved.record(A, B)
    assert conversations.name_of(Place(f"slack:{A}")) == "#finance"
    conversations.rename_channel(B, "money")
    assert conversations.name_of(Place(f"slack:{A}")) == "#money"
    assert conversations._ids_by_name("#finance") == []


class _Client:
    """Slack's network: it accepts the new id only."""

    def __init__(self) -> None:
        self.channels: list[str] = []

    async def api_call(self, method: str, json: dict[str, Any]) -> Any:
        self.channels.append(json["channel"])
        answer: Any = type("Answer", (), {"headers": {}, "status_code": 200})()
        answer.data = {
            "ok": json["channel"] == B,
            "channel": json["channel"],
            "error": "channel_not_found",
        }
        answer.get = answer.data.get
        if not answer.data["ok"]:
            raise SlackApiError("channel_not_found", answer)
        return answer


class _AbsentStore(MemoryStore):
    """A store that is away while `away`."""

    away = False

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        if self.away:
            raise StoreUnavailable("away")
        return await super().channel_values(channel)


async def test_a_call_uses_an_id_that_another_bot_has_recorded() -> None:
    """Given a bot that doesn't know of a change, when Slack refuses the old id, then it loads the new one,
    calls again, and gets the answer with the id that it knows."""
    store, client = _AbsentStore(), _Client()
    api = Api(cast(Any, client), Health(quiet=True), MovedConversations(Health(quiet=True), store))
    with pytest.raises(NotFound):
        await api.call("chat.postMessage", channel=A)
    await MovedConversations(Health(quiet=True), store).record(A, B)
    assert (await api.call("chat.postMessage", channel=A))["channel"] == A
    assert client.channels == [A, A, B]


async def test_a_call_is_tried_later_if_the_store_with_the_new_id_is_away() -> None:
    """Given a store that is away, when Slack refuses an id, then it isn't known whether the conversation has
    another one: the card is not given up, it was not sent."""
    store = _AbsentStore()
    api = Api(
        cast(Any, _Client()), Health(quiet=True), MovedConversations(Health(quiet=True), store)
    )
    store.away = True
    with pytest.raises(NotSent):
        await api.call("chat.postMessage", channel=A)


async def test_an_event_that_comes_again_after_the_store_was_away_is_recorded() -> None:
    """Given a store that is away when the event arrives, then it can't be recorded, and the next time it
    is."""
    store = _AbsentStore()
    moved = MovedConversations(Health(quiet=True), store)
    store.away = True
    with pytest.raises(StoreUnavailable):
        await moved.record(A, B)
    store.away = False
    await moved.record(A, B)
    assert moved.current(A) == B
