"""Slash commands: sends what a person typed after `/` to the app, and shows its answer.

https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import json
from typing import Any

from ..delivery import Answer, AppClient
from ..errors import SlackError
from ..json_checks import (
    Json,
    is_object,
)
from ..validation import UserError
from ..workspace import (
    NO_TEXT,
    App,
    Channel,
    Ephemeral,
    Message,
    User,
    Workspace,
    escape_text,
    validate_blocks,
)
from .response_urls import ResponseUrls
from .triggers import Triggers


class SlashCommands:
    def __init__(
        self,
        workspace: Workspace,
        app: App,
        triggers: Triggers,
        response_urls: ResponseUrls,
        app_client: AppClient,
    ) -> None:
        self._workspace, self._app, self._app_client = workspace, app, app_client
        self._triggers, self._response_urls = triggers, response_urls

    async def run(self, params: Json) -> Json:
        """A person sends a command: user, channel, text (the whole line with the slash), tab?.
        `notices` in the result: the app's answers that only this person sees."""
        user, channel = self._user_and_channel(params["user"], params["channel"])
        command, _, text = params["text"].strip().partition(" ")
        if command not in self._app.commands or "commands" not in self._app.scopes:
            raise UserError(f"{command} is not a valid command.")
        answer = await self._app_client.send_command(
            self._form_fields(user, channel, command, text.strip(), params.get("tab"))
        )
        match answer:
            case Answer(200, body):
                return {"notices": self._show_answer(user, channel, command, body)}
            case Answer(status):
                why = "http_client_error" if 400 <= status < 500 else "http_service_error"
            case silence:
                why = "operation_timeout" if silence == "http_timeout" else "dispatch_failed"
        raise UserError(f'{command} failed with the error "{why}"')

    def _user_and_channel(self, user_id: str, channel_id: str) -> tuple[User, Channel]:
        user, channel = self._workspace.person(user_id), self._workspace.channels.get(channel_id)
        if user is None or user.deleted:
            raise UserError("You are not a member of this workspace.")
        if channel is None or not channel.can_write(user_id, self._app):
            raise UserError("You can't write in this channel.")
        return user, channel

    def _form_fields(
        self, user: User, channel: Channel, command: str, text: str, tab: str | None
    ) -> dict[str, str]:
        private = "privategroup" if channel.is_private and not channel.is_im else None
        placeholder = Ephemeral(user.id, channel.id, self._workspace.next_ts(), "", [])
        return {
            "token": self._app.verification_token,
            "team_id": user.team_id or self._workspace.team_id,
            "team_domain": self._workspace.domain,
            "channel_id": channel.id,
            "channel_name": private or channel.name,
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": self._app.app_id,
            "is_enterprise_install": "false",
            "response_url": self._response_urls.issue(user.id, placeholder),
            "trigger_id": self._triggers.issue(user.id, tab),
        }

    def _show_answer(self, user: User, channel: Channel, command: str, body: str) -> list[Json]:
        """Shows the answer: only to this person, or to the whole channel if the app asks for that. An
        empty answer shows nothing."""
        if not body.strip() or body == "{}":
            return []
        try:
            answer = _parse_answer(body)
            text, blocks = answer.get("text"), answer.get("blocks")
            valid_blocks = validate_blocks(blocks) if blocks else []
            if not valid_blocks and not (isinstance(text, str) and text):
                raise SlackError("no_text")
        except SlackError as error:
            raise UserError(
                f'{command} failed with the error "invalid_command_response"'
            ) from error
        ts, words = self._workspace.next_ts(), escape_text(text) if text else NO_TEXT
        if answer.get("response_type") == "in_channel":
            app = self._app
            self._workspace.add(
                Message(channel.id, ts, app.user_id, words, valid_blocks, app.bot_id, app.app_id)
            )
            return []
        self._workspace.add_ephemeral(Ephemeral(user.id, channel.id, ts, words, valid_blocks))
        return [{"ts": ts, "channel": channel.id, "text": words, "blocks": valid_blocks}]


def _parse_answer(body: str) -> Json:
    """An answer is a JSON object, or else plain text."""
    try:
        answer: Any = json.loads(body)
    except ValueError:
        answer = None
    return answer if is_object(answer) else {"text": body}
