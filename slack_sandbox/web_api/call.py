"""One call of a Web API method: its arguments, and which part of the workspace the app may see."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import SlackError, error_with_problems
from ..interactions import Triggers
from ..json_checks import Json, problem
from ..workspace import App, Channel, Modals, User, Workspace

if TYPE_CHECKING:
    from ..activity import HomeTabs, UserGroups

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    args: Json
    workspace: Workspace
    app: App
    modals: Modals
    homes: HomeTabs
    groups: UserGroups
    triggers: Triggers
    url: str

    def get_string(self, name: str) -> str | None:
        """A string argument, or None if it is missing or empty."""
        value = self.args.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise error_with_problems(
                "invalid_arguments", [problem("must be a string", f"/{name}")]
            )
        return value

    def require_string(self, name: str) -> str:
        value = self.get_string(name)
        if value is None:
            raise error_with_problems(
                "invalid_arguments", [problem(f"missing required field: {name}", "")]
            )
        return value

    def get_flag(self, name: str) -> bool:
        return str(self.args.get(name)).lower() in ("true", "1")

    def get_count(self, name: str, most: int, default: int = 0) -> int:
        """A number of at least 1, and of at most `most`: a larger one counts as `most`."""
        try:
            value = int(self.args.get(name) or default)
        except (TypeError, ValueError):
            value = 0
        if value < 1:
            raise error_with_problems(
                "invalid_arguments", [problem("must be greater than 0", f"/{name}")]
            )
        return min(value, most)

    def get_json(self, name: str, error: str) -> Any:
        """A JSON argument: the value, or its text if it was sent in a form."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(error) from None

    def require_scope(self, needed: str) -> None:
        """Raises SlackError unless the app has this scope."""
        if needed not in self.app.scopes:
            provided = ",".join(sorted(self.app.scopes))
            raise SlackError("missing_scope", needed=needed, provided=provided)

    def get_channel(self, kind: str | None = None, by_name: bool = False) -> Channel:
        """The channel argument, if the app may know the channel. `kind` (`read`, `history`): the call
        also needs this scope for this type of channel."""
        name = self.args.get("channel")
        channels = self.workspace.channels
        channel = channels.get(name) if isinstance(name, str) else None
        if channel is None and by_name and isinstance(name, str):
            matches = (c for c in channels.values() if c.name == name.lstrip("#") and not c.is_im)
            channel = next(matches, None)
        if channel is None or (channel.is_private and not self.is_in(channel)):
            raise SlackError("channel_not_found")
        if kind:
            self.require_scope(f"{scope_family(channel)}:{kind}")
        return channel

    def is_in(self, channel: Channel) -> bool:
        return self.app.user_id in channel.members

    def get_user(self) -> User:
        user = self.workspace.person(self.require_string("user"))
        if user is None:
            raise SlackError("user_not_found")
        return user

    def paginate(self, items: list[T], default: int, most: int) -> tuple[list[T], str]:
        """One page of a list and the cursor of the next, which is empty at the end."""
        cursor = str(self.args.get("cursor") or "")
        if cursor and not (cursor.startswith("page:") and cursor[5:].isdigit()):
            raise SlackError("invalid_cursor")
        start = int(cursor[5:]) if cursor else 0
        end = start + self.get_count("limit", most, default)
        return items[start:end], f"page:{end}" if end < len(items) else ""


def scope_family(channel: Channel) -> str:
    """The prefix of the scopes for this kind of channel: `channels`, `groups` or `im`."""
    return "im" if channel.is_im else "groups" if channel.is_private else "channels"


def next_cursor(cursor: str) -> Json:
    return {"response_metadata": {"next_cursor": cursor}}
