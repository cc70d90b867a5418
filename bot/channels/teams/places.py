"""A place in Teams: a channel or chat, a thread of a channel, a person, an Entra group. Pure.

- `teams:19:…@thread.tacv2` is a channel, `teams:19:…@thread.v2` a group chat, each by its id;
- `teams:NAME` is a team (its channel General) or a channel by its name;
- `teams:GUID` is a person by their object id in Entra, `teams:group:GUID` an Entra group.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from hitl_core.model import DEFAULT_PLACE, MessageRef, Place, is_guid

from ..contract import Audience
from .ids import NAME

#: The name of this channel for people.
LABEL = "Teams"
#: The prefix of a group's GUID, because people and groups have ids of the same form.
GROUP = "group:"
#: The ids of channels and group chats, and of personal chats. No name has this form.
CONVERSATION_ID = re.compile(r"(?:19:[^\s;]{1,300}@[a-z0-9.]+|a:[\w-]{1,300})")
#: How much of the id of a conversation without a name is shown: enough for an operator to find it.
MAX_START = 12
_CHAT_CONTEXT = quote('{"contextType":"chat"}')


class Destination(NamedTuple):
    """`audience.id` is an id, or the name of a conversation. `thread` is the id of a thread's first message;
    "" without a thread.
    """

    audience: Audience
    thread: str = ""


class Address(NamedTuple):
    """By what the service URL of a conversation is found: what is known of it, or `otherwise`, or the URL of
    its `team`.
    """

    conversation: str
    otherwise: str = ""
    team: str = ""


def parse_place(place: Place, default: str) -> Destination:
    """`default` replaces DEFAULT_PLACE: it is a target, as in a place. The copy for one member of a group is
    that person's chat.
    """
    target = default if place == DEFAULT_PLACE else place.member or place.target
    if is_guid(target):
        return Destination(Audience("person", target))
    if is_group(target):
        return Destination(Audience("group", target))
    return Destination(Audience("conversation", target), place.thread)


def is_group(target: str) -> bool:
    return target.startswith(GROUP) and is_guid(target.removeprefix(GROUP))


def group_guid(id: str) -> str | None:
    """The GUID of a group's id, with or without `group:`; None if it is not a GUID."""
    guid = id.removeprefix(GROUP)
    return guid if is_guid(guid) else None


def place_of(target: str) -> str:
    """The text of a place, as in the audiences of reviews."""
    return f"{NAME}:{target}"


def is_channel(conversation: str) -> bool:
    """Whether it is a channel of a team, which has threads; otherwise it is a chat."""
    return conversation.endswith(("@thread.tacv2", "@thread.skype"))


def placeholder_name(target: str) -> str:
    """What people read in place of a conversation's name that is not known: what it is, and the beginning of
    its id, because the rest tells nobody anything. A name stays as it is.
    """
    if not CONVERSATION_ID.fullmatch(target):
        return target
    kind = "channel" if is_channel(target) else "group chat" if target.startswith("19:") else "chat"
    start = target.partition(":")[2].partition("@")[0]
    return f"a {kind} ({start[:MAX_START]}{'…' * (len(start) > MAX_START)})"


def message_link(ref: MessageRef, tenant: str, group: str) -> str | None:
    """The URL of a message in a channel, if its team's `group` is known, or in a group chat; None for others
    (learn.microsoft.com/microsoftteams/platform/concepts/build-and-test/deep-link-teams).
    """
    base = f"https://teams.microsoft.com/l/message/{quote(ref.conversation, safe=':@')}/{ref.ts}"
    if group:
        return f"{base}?tenantId={tenant}&groupId={group}&parentMessageId={ref.ts}"
    is_chat = ref.conversation.startswith("19:") and not is_channel(ref.conversation)
    return f"{base}?context={_CHAT_CONTEXT}" if is_chat else None
