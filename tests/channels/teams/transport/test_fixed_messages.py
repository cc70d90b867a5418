"""A message that Teams refuses to change: of another bot, deleted, or there and ours."""

from __future__ import annotations

import pytest

from bot.channels.contract import MessageFixed, MessageGone, Undeliverable
from bot.channels.teams import TeamsChannel
from hitl_core.model import MessageRef, Place
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import CLIENT_ID, Message
from tests.channels.teams.transport.calls import ALICE, CARD, CHAT, ROOM, channel_of, error

OTHER_BOT = "28:00000000-0000-4000-8000-00000000000b"


def message_of(sandbox: Sandbox, ref: MessageRef) -> Message:
    return channel_of(sandbox, ref.conversation).messages[ref.ts]


@pytest.mark.parametrize("place", [ROOM, CHAT])
async def test_a_message_of_a_former_registration_is_fixed(
    sandbox: Sandbox, channel: TeamsChannel, place: Place
):
    """Given a card that another registration of the bot posted; then it can't be changed any more, and to
    delete it is no error: the card can be posted again."""
    ref = await channel.post(place, CARD)
    message_of(sandbox, ref).sender = OTHER_BOT
    with pytest.raises(MessageFixed):
        await channel.update(place, ref, CARD)
    await channel.delete(place, ref)
    assert not message_of(sandbox, ref).deleted


async def test_a_reply_of_a_former_registration_is_fixed(sandbox: Sandbox, channel: TeamsChannel):
    root = await channel.post(ROOM, CARD)
    thread = Place.of("teams", root.conversation, root.ts)
    ref = await channel.post(thread, CARD)
    message_of(sandbox, ref).sender = OTHER_BOT
    with pytest.raises(MessageFixed):
        await channel.update(thread, ref, CARD)
    await channel.delete(thread, ref)
    assert not message_of(sandbox, ref).deleted


@pytest.mark.parametrize("place", [ROOM, CHAT, ALICE])
async def test_a_deleted_message_is_gone_whatever_teams_answers(
    sandbox: Sandbox, channel: TeamsChannel, place: Place
):
    """Given a deleted message, for which Teams answers with an error that does not say so."""
    ref = await channel.post(place, CARD)
    message_of(sandbox, ref).deleted = True
    for operation in ("update", "delete"):
        sandbox.faults.add("answer", operation, status=403, body=error("ServiceError"))
    with pytest.raises(MessageGone) as gone:
        await channel.update(place, ref, CARD)
    assert not isinstance(gone.value, MessageFixed)
    await channel.delete(place, ref)


@pytest.mark.parametrize("hidden", [False, True])
async def test_a_refusal_stays_one_while_the_message_is_there_or_nobody_knows(
    sandbox: Sandbox, channel: TeamsChannel, hidden: bool
):
    """Given a refused change of a message that is ours, or of one that the app may not read."""
    ref = await channel.post(ROOM, CARD)
    assert message_of(sandbox, ref).sender == f"28:{CLIENT_ID}"
    if hidden:
        message_of(sandbox, ref).sender = OTHER_BOT
        sandbox.app.permissions -= {"ChannelMessage.Read.Group"}
    for operation in ("update", "delete"):
        sandbox.faults.add("answer", operation, status=403, body=error("NotEnoughPermissions"))
    for change in (channel.update(ROOM, ref, CARD), channel.delete(ROOM, ref)):
        with pytest.raises(Undeliverable, match="NotEnoughPermissions") as refused:
            await change
        assert not isinstance(refused.value, MessageGone)
