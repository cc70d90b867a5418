"""A place in Slack: a conversation, a thread, a person's DM, a user group. Pure.

A channel name begins with `#`. Everything else is an id, and its first letter says of what kind
(docs.slack.dev/reference/objects).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hitl_core.model import DEFAULT_PLACE, Place

from ..contract import Audience

NAME = "slack"
#: The name of this channel for people.
LABEL = "Slack"
PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
GROUP_ID = re.compile(r"S[A-Z0-9]{2,30}")
CONVERSATION_ID = re.compile(r"[CGD][A-Z0-9]{2,30}")
#: Conversations that have a `#name`; direct messages have none.
CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{2,30}")


class Destination(NamedTuple):
    """`audience.id` is a `#name` or a Slack id; `thread` is the ts of the thread's first message."""

    audience: Audience
    thread: str | None = None


def parse_place(place: Place, default: str) -> Destination:
    """`default` replaces DEFAULT_PLACE. The copy for one member of a group is that person's DM."""
    target = default if place == DEFAULT_PLACE else place.member or place.target
    if PERSON_ID.fullmatch(target):
        return Destination(Audience("person", target))
    if GROUP_ID.fullmatch(target):
        return Destination(Audience("group", target))
    return Destination(Audience("conversation", target), place.thread or None)
