"""What a place is in Slack: a conversation, a thread in one, a person's DM, a user group. Pure.

A name begins with `#`; everything else is an id, and its first letter says of what
(docs.slack.dev/reference/objects). An id of letters alone is an id as well.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hitl_core.model import DEFAULT_PLACE, Place

from ..contract import Audience

NAME = "slack"
PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
GROUP_ID = re.compile(r"S[A-Z0-9]{2,30}")
CONVERSATION_ID = re.compile(r"[CGD][A-Z0-9]{2,30}")
#: What a `#name` can be of: a direct message has none.
CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{2,30}")


class Destination(NamedTuple):
    """`id` is `#name` or an id of Slack's; `thread` the ts of the message below which it is."""

    audience: Audience
    thread: str | None = None


def parse_place(place: Place, default: str) -> Destination:
    """`default` is where DEFAULT_PLACE is. A copy for one member of a group is that person's DM."""
    target = default if place == DEFAULT_PLACE else place.removeprefix(f"{NAME}:")
    target = target.rpartition(">")[2]
    target, _, thread = target.partition("/")
    if PERSON_ID.fullmatch(target):
        return Destination(Audience("person", target))
    if GROUP_ID.fullmatch(target):
        return Destination(Audience("group", target))
    return Destination(Audience("conversation", target), thread or None)
