"""Checks that a place for people, not for a conversation, can get a card."""

from __future__ import annotations

from .contract import Audience, Channel, NotFound


async def check_people(channel: Channel, audience: Audience) -> None:
    """Raises NotFound with the reason if nobody of this group, or not this person, can get a card."""
    if audience.kind == "group":
        if not await channel.group_members(audience.id):
            raise NotFound("nobody is in this group, or there is no such group")
        return
    person = await channel.person(audience.id)
    if person is None:
        raise NotFound("there is no such person")
    if not person.active:
        raise NotFound("this person has left")
    if person.kind == "bot":
        raise NotFound("this is a bot")
