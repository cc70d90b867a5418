"""The payloads that Slack sends to an app when a person does something, and their signature.

https://docs.slack.dev/reference/interaction-payloads
"""

from __future__ import annotations

import hashlib
import hmac

from ..json_checks import Json
from ..workspace import App, Ephemeral, Message, Workspace, to_slack_message


def sign(secret: str, timestamp: int | str, body: str) -> str:
    """The value of the header X-Slack-Signature for a request with this raw body.
    https://docs.slack.dev/authentication/verifying-requests-from-slack"""
    base = f"v0:{timestamp}:{body}".encode()
    return f"v0={hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()}"


class Payloads:
    def __init__(self, workspace: Workspace, app: App) -> None:
        self._workspace, self._app = workspace, app

    def _common(self, kind: str, user: str, team: str | None) -> Json:
        workspace = self._workspace
        known = workspace.person(user)
        name = known.name if known else user.lower()
        # A person of several workspaces has the same one in all payloads
        # (https://github.com/slackapi/bolt-js/issues/1875).
        home = known and (known.team_id or next(iter(known.grid_teams), ""))
        return {
            "type": kind,
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "user": {
                "id": user,
                "username": name,
                "name": name,
                "team_id": team or home or workspace.team_id,
            },
            "api_app_id": self._app.app_id,
            "token": self._app.verification_token,
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def message_click(
        self,
        user: str,
        team: str | None,
        where: Message | Ephemeral,
        action: Json,
        state: Json,
        trigger_id: str,
        response_url: str,
    ) -> Json:
        channel = self._workspace.channels[where.channel]
        container: Json = {
            "type": "message",
            "message_ts": where.ts,
            "channel_id": channel.id,
            "is_ephemeral": isinstance(where, Ephemeral),
        }
        if where.thread_ts:
            container["thread_ts"] = where.thread_ts
        payload = self._common("block_actions", user, team) | {
            "container": container,
            "channel": {"id": channel.id, "name": channel.name},
            "trigger_id": trigger_id,
            "response_url": response_url,
            "state": {"values": state},
            "actions": [action],
        }
        if not isinstance(where, Ephemeral):
            payload["message"] = to_slack_message(
                where, self._workspace.team_id, self._workspace.channels, with_metadata=False
            )
        return payload

    def view_click(
        self, user: str, team: str | None, view: Json, action: Json, state: Json, trigger_id: str
    ) -> Json:
        return self._common("block_actions", user, team) | {
            "container": {"type": "view", "view_id": view["id"]},
            "trigger_id": trigger_id,
            "view": {**view, "state": {"values": state}},
            "actions": [action],
        }

    def submission(
        self, user: str, team: str | None, view: Json, state: Json, trigger_id: str
    ) -> Json:
        return self._common("view_submission", user, team) | {
            "trigger_id": trigger_id,
            "view": {**view, "state": {"values": state}},
            "response_urls": [],
        }

    def view_closed(self, user: str, view: Json, is_cleared: bool = False) -> Json:
        return self._common("view_closed", user, None) | {"view": view, "is_cleared": is_cleared}
