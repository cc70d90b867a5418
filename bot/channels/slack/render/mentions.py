"""Finds which people and places Slack can mention or link to. Pure. An agent's text never becomes a
mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hitl_core.model import MessageRef, Place
from hitl_core.policy import names_person

from ....card import Group, Person, PlaceName, PlaceNames, no_url
from ..places import NAME

#: A user id in an agent's text. Nearly all of Slack's ids have a digit; a name in capital letters has none.
_CLAIMED_ID = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
#: The id of a person or a group, from Slack or from a policy. In a policy, a short one is meant as an id.
_ID = re.compile(r"[UWS][A-Z0-9]{1,30}")

#: Place → its name, for example `#team-ops`.
Names = Callable[[Place], str]
#: Message → its URL; None if it is unknown.
MessageLink = Callable[[MessageRef], str | None]


def mention_id(one: Person | Group | PlaceName) -> str | None:
    """The id by which Slack mentions them; None for a conversation, and for people who are not in Slack: a
    login name on the command line may look like an id.
    """
    if isinstance(one, PlaceName):
        return _place_id(one.place)
    if one.channel != NAME:
        return None
    is_claimed = isinstance(one, Person) and one.is_claimed
    return one.id if (_CLAIMED_ID if is_claimed else _ID).fullmatch(one.id) else None


def place_names(names: Names, link: MessageLink = no_url) -> PlaceNames:
    """What sentences must know about Slack's places. Without `link` there are no links."""
    return PlaceNames(names, _is_conversation, link, channel=NAME)


def _is_conversation(place: Place) -> bool:
    """Whether the place has members; otherwise it is one person or group."""
    if (channel := place.channel) == NAME:
        return _place_id(place) is None
    return not channel or not names_person(place)


def _place_id(place: Place) -> str | None:
    """The id of the person or group that is this place; None for a conversation."""
    return place.target if place.channel == NAME and _ID.fullmatch(place.target) else None
