"""What differs between a click in Slack and a click in Teams. `SLACK` and `TEAMS` are the two chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Click(NamedTuple):
    """A press of Approve on one review's card. `request` is the complete HTTP request, signed."""

    review_id: str
    request: bytes


@dataclass(frozen=True)
class Chat:
    """`label` begins the names of its figures. `program` replaces the chat system, and `empty_app` the bot:
    the floor. `settings` are a bot's, for the program's URL. `make_clicks`: one click per posted message.
    """

    label: str
    program: str
    empty_app: str
    settings: Callable[[str], Mapping[str, str]]
    make_clicks: Callable[[Iterable[dict[str, Any]]], list[Click]]
