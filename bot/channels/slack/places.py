"""What a place is in Slack: a conversation, a thread in one, a person's DM, a user group. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.channel import Audience
from hitl_core.model import DEFAULT_PLACE, Place

NAME = "slack"
_PERSON = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
_GROUP = re.compile(r"S(?=[A-Z]*\d)[A-Z0-9]{2,20}")


class Spot(NamedTuple):
    """`id` is `#name` or an id of Slack's; `thread` the ts of the message below which it is."""

    audience: Audience
    thread: str | None = None


def spot_of(place: Place, default: str) -> Spot:
    """`default` is where DEFAULT_PLACE is. A copy for one member of a group is that person's DM."""
    target = default if place == DEFAULT_PLACE else place.removeprefix(f"{NAME}:")
    target = target.rpartition(">")[2]
    target, _, thread = target.partition("/")
    if _PERSON.fullmatch(target):
        return Spot(Audience("person", target))
    if _GROUP.fullmatch(target):
        return Spot(Audience("group", target))
    return Spot(Audience("conversation", target), thread or None)
