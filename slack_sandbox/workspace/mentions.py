"""The mentions in a message: in its blocks if it has some, else in its text.

https://docs.slack.dev/messaging/formatting-message-text#mentioning-users
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..json_checks import Json, is_list, is_object

NotificationReason = Literal["mention", "group", "channel", "dm"]

_USER = re.compile(r"<@([UW]\w+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!subteam\^(S\w+)(?:\|[^<>]*)?>")
_EVERYBODY = re.compile(r"<!(?:here|channel|everyone)(?:\|[^<>]*)?>")


@dataclass(frozen=True)
class Notification:
    """A message notified somebody: by a mention, or because it is a direct message."""

    user: str
    channel: str
    ts: str
    why: NotificationReason


@dataclass(frozen=True)
class Mentions:
    users: frozenset[str]
    groups: frozenset[str]
    everybody: bool

    def reason_for(
        self, user: str, members: Mapping[str, Sequence[str]]
    ) -> NotificationReason | None:
        """Why this user is notified. `members`: the members of each group."""
        if user in self.users:
            return "mention"
        if any(user in members.get(group, ()) for group in self.groups):
            return "group"
        return "channel" if self.everybody else None


def find_mentions(text: str, blocks: list[Json]) -> Mentions:
    """The mentions in mrkdwn and rich text. Plain text mentions nobody. In a message with blocks `text`
    mentions nobody either: it is only the fallback."""
    texts = list(_mention_texts(blocks)) if blocks else [text]
    combined = "\n".join(texts)
    return Mentions(
        frozenset(_USER.findall(combined)),
        frozenset(_GROUP.findall(combined)),
        bool(_EVERYBODY.search(combined)),
    )


def _mention_texts(value: object) -> Iterator[str]:
    """The mrkdwn in these blocks, and their rich text's mentions in mrkdwn format."""
    if is_list(value):
        for one in value:
            yield from _mention_texts(one)
    elif is_object(value):
        match value:
            case {"type": "mrkdwn", "text": str(text)}:
                yield text
            case {"type": "user", "user_id": str(user)}:
                yield f"<@{user}>"
            case {"type": "usergroup", "usergroup_id": str(group)}:
                yield f"<!subteam^{group}>"
            case {"type": "broadcast", "range": str(everybody)}:
                yield f"<!{everybody}>"
            case _:
                for one in value.values():
                    yield from _mention_texts(one)
