"""Response URLs: to each, an app may send five answers to a click within thirty minutes.

https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import SlackError
from ..json_checks import Json
from ..workspace import NO_TEXT, App, Ephemeral, Message, Workspace, escape_text, validate_blocks

LIFETIME = 30 * 60.0
MAX_USES = 5


@dataclass
class _ResponseUrl:
    user: str
    where: Message | Ephemeral
    issued: float
    uses: int = 0


class ResponseUrls:
    def __init__(self, workspace: Workspace, app: App, url: Callable[[], str]) -> None:
        self._workspace, self._app, self._url = workspace, app, url
        self._addresses: dict[str, _ResponseUrl] = {}

    def issue(self, user: str, where: Message | Ephemeral) -> str:
        key = secrets.token_hex(12)
        self._addresses[key] = _ResponseUrl(user, where, self._workspace.now())
        return f"{self._url()}/actions/{self._workspace.team_id}/{key}"

    def answer(self, key: str, body: Json) -> None:
        """Applies what an app sent to the address. Raises the error that Slack answers with."""
        address = self._addresses.get(key)
        if address is None or self._workspace.now() - address.issued > LIFETIME:
            raise SlackError("expired_url")
        if address.uses >= MAX_USES:
            raise SlackError("used_url")
        text, blocks = body.get("text"), body.get("blocks")
        new_blocks = None if blocks is None else validate_blocks(blocks)
        if not body.get("delete_original") and not text and not new_blocks:
            raise SlackError("no_text")
        address.uses += 1
        new_text = escape_text(text) if text else NO_TEXT
        if body.get("delete_original"):
            self._delete(address.where)
        elif body.get("replace_original"):
            self._replace(address.where, new_text, new_blocks)
        else:
            self._post(address, body, new_text, new_blocks or [])

    def _delete(self, where: Message | Ephemeral) -> None:
        if isinstance(where, Ephemeral):
            self._workspace.dismiss_ephemeral(where.ts)
        elif where.ts in self._workspace.channels[where.channel].messages:
            self._workspace.remove(where)

    def _replace(self, where: Message | Ephemeral, text: str, blocks: list[Json] | None) -> None:
        where.text, where.blocks = text, blocks or []
        if isinstance(where, Message):
            where.edited = self._workspace.next_ts()
        self._workspace.notify_change()

    def _post(self, address: _ResponseUrl, body: Json, text: str, blocks: list[Json]) -> None:
        """Posts a new message: only for this person, or for everybody if the app asks for that."""
        ts, channel = self._workspace.next_ts(), address.where.channel
        thread = body.get("thread_ts")
        if body.get("response_type") != "in_channel":
            self._workspace.add_ephemeral(
                Ephemeral(address.user, channel, ts, text, blocks, thread)
            )
            return
        app = self._app
        self._workspace.add(
            Message(channel, ts, app.user_id, text, blocks, app.bot_id, app.app_id, thread)
        )
