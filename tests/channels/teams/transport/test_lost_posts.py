"""The search for a post whose answer was lost."""

from __future__ import annotations

import json

import httpx
import pytest

from bot.channels.contract import (
    LookupFailed,
    Unreachable,
)
from bot.channels.teams import TeamsChannel
from hitl_core.model import Place
from teams_sandbox.sandbox import Sandbox
from tests.channels.teams.transport.calls import (
    ALICE,
    CARD,
    ROOM,
)


@pytest.mark.parametrize("place", [ROOM, ALICE])
async def test_promise_4_without_the_permission_a_lost_post_is_unknown(
    sandbox: Sandbox, channel: TeamsChannel, place: Place
):
    """Given an administrator who did not let the app read messages; then the search for a lost post fails,
    and says which permission is missing: it does not say that there is none."""
    sandbox.app.permissions -= {"ChannelMessage.Read.Group", "ChatMessage.Read.Chat"}
    with pytest.raises(LookupFailed, match=r"must grant the app Ch\w+Message\.Read\.\w+"):
        await channel.find_messages(place, CARD.review_id, sandbox.workspace.now())


async def test_promise_4_a_lost_post_in_a_personal_chat_is_found(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given a post to a person whose answer is lost; then it is found, and can be updated."""
    await channel.conversation_id(ALICE)
    sandbox.faults.add("lost", "post", times=1)
    since = sandbox.workspace.now()
    with pytest.raises(Unreachable):
        await channel.post(ALICE, CARD)
    [ref] = await channel.find_messages(ALICE, CARD.review_id, since)
    await channel.update(ALICE, ref, CARD)
    assert await channel.find_messages(ALICE, CARD.review_id, since) == [ref]


@pytest.mark.parametrize(
    ("place", "operation"), [(ROOM, "graph_channel_messages"), (ALICE, "graph_chat_messages")]
)
async def test_promise_4_an_empty_page_does_not_end_the_search_for_a_lost_post(
    sandbox: Sandbox, channel: TeamsChannel, place: Place, operation: str
):
    """Given a first page without a message, as Graph may give it, and a link to the next page; then that is
    read too, because the card would be posted twice."""
    since = sandbox.workspace.now()
    ref = await channel.post(place, CARD)
    assert await channel.find_messages(place, CARD.review_id, since) == [ref]
    call = sandbox.graph.calls[-1]
    assert call["operation"] == operation
    link = httpx.URL(sandbox.url).copy_with(path=call["path"], params=call["query"])
    page = {"value": [], "@odata.nextLink": str(link)}
    sandbox.faults.add("answer", operation, times=1, status=200, body=json.dumps(page))
    assert await channel.find_messages(place, CARD.review_id, since) == [ref]
