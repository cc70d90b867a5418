"""A place: where a card is shown, and the message that shows it there. Only this file knows how a place is
written as text.
"""

from __future__ import annotations

import re
from typing import Any, Final, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hitl_core.model.value import Value

_PLACE = re.compile(
    r"(?:(?P<channel>[a-z][a-z0-9_-]*):(?P<target>[^/>]+)(?:/(?P<thread>[^/>]+))?|default|origin)"
    r"(?:>(?P<member>[^/>]+))?"
)
#: The channel of an id without one (`U0123ABCD`): a policy's reviewers and requesters are written so.
_CHANNEL_OF_BARE_IDS = "slack"
#: Ids of people and groups in Teams. Upper and lower case mean the same, so they are stored in lower case:
#: otherwise one person could have two votes. Case matters in all other ids, also in those of Teams' channels.
_GUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_CHANNEL_OF_GUIDS = "teams"


def normalize_id(id: str) -> str:
    """The one spelling of a `CHANNEL:ID` text, or of a bare id: the GUIDs of Teams in lower case."""
    if id.startswith(f"{_CHANNEL_OF_GUIDS}:") or is_guid(id):
        return _GUID.sub(lambda guid: guid[0].lower(), id)
    return id


def normalize_group_id(id: str) -> str:
    """Like `normalize_id`, for a group. In Teams people and groups have ids of the same form, so a group's id
    is `group:GUID`; a policy's `groups` may leave out `group:`.
    """
    channel, _, rest = id.partition(":")
    is_short = channel == _CHANNEL_OF_GUIDS and is_guid(rest)
    return normalize_id(f"{channel}:group:{rest}" if is_short else id)


def is_guid(id: str) -> bool:
    """Whether it looks like the id of a person or a group of Teams (in Microsoft Entra)."""
    return bool(_GUID.fullmatch(id))


class Place(str):
    """`CHANNEL:TARGET`, `CHANNEL:TARGET/THREAD`, `CHANNEL:TARGET>MEMBER`, or one of the two values below.

    Only the channel knows what its targets mean. In Slack `slack:#team-ops` and `slack:C0123ABCD` are a
    channel, `slack:U0123ABCD` a person, `slack:S0123ABCD` a user group, and
    `slack:C0123ABCD/1700000000.000100` a thread. With a member it is that person's own copy of the card: each
    member of a group gets one.

    It is a str, so JSON, keys in Redis and dicts have it as text. Raises ValueError for any other text.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not _PLACE.fullmatch(text):
            raise ValueError(f"{text!r:.80} is not a place: write it as channel:target.")
        return super().__new__(cls, normalize_id(text))

    @classmethod
    def of(cls, channel: str, target: str, thread: str = "", member: str = "") -> Self:
        """The place with these parts; "" leaves one out. Raises ValueError."""
        in_thread, of_member = f"/{thread}" * bool(thread), f">{member}" * bool(member)
        return cls(f"{channel}:{target}{in_thread}{of_member}")

    @property
    def channel(self) -> str:
        """The channel's name; "" for `default` and `origin`."""
        return self._part("channel")

    @property
    def target(self) -> str:
        """The channel's own name or id for the place; "" for `default` and `origin`."""
        return self._part("target")

    @property
    def thread(self) -> str:
        """The thread's id; "" if it is not a thread."""
        return self._part("thread")

    @property
    def member(self) -> str:
        """The id of the group member who has this copy of the card; "" if it is not a copy."""
        return self._part("member")

    @property
    def base(self) -> Place:
        """The place without the member."""
        return Place(self.partition(">")[0]) if ">" in self else self

    @property
    def conversation(self) -> Place:
        """The place without the thread and the member."""
        base = self.base
        return Place(base.partition("/")[0]) if "/" in base else base

    def for_member(self, id: str) -> Place:
        """The place of one group member's own copy of the card. The copy's message is recorded under it."""
        return Place(f"{self.base}>{id}")

    def _part(self, name: str) -> str:
        match = _PLACE.fullmatch(self)
        return match[name] or "" if match else ""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())


#: The place in the bot's own settings (HITL_CHANNEL). The agent's process does not know it.
DEFAULT_PLACE: Final = Place("default")
#: The chat thread in which the agent was asked. Only a policy has this value: a review has the real thread,
#: or DEFAULT_PLACE.
ORIGIN: Final = Place("origin")


def split_id(id: str) -> tuple[str, str]:
    """The channel, and the id in it, of a person or group that a policy or an agent names. `U0123ABCD` is one
    of Slack, `teams:8f3c…` says its channel.
    """
    channel, colon, rest = normalize_id(id).partition(":")
    return (channel, rest) if colon else (_CHANNEL_OF_BARE_IDS, id)


def person_key(id: str) -> str:
    """The same as one text, `CHANNEL:ID`, like `Reviewer.key`."""
    return ":".join(split_id(id))


class MessageRef(Value):
    """What a channel needs to find a posted message again.

    - `conversation` and `ts`: their ids in the channel. In Slack `ts` is the message's timestamp;
    - `service_url` and `tenant`: only Teams has them: the address that serves the conversation, and the
      organisation. The address can change.
    """

    channel: str
    conversation: str
    ts: str
    service_url: str = ""
    tenant: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the message. Compare this, because a message's address can change."""
        return self.channel, self.conversation, self.ts
