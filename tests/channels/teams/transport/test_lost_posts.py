"""The search for a post whose answer was lost."""

from __future__ import annotations

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
