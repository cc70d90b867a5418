"""The people of the workspace: their objects in the Web API, and their changes.

https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..delivery import Events
from ..json_checks import Json
from ..workspace import App, User, Workspace

UPDATED = 1_700_000_000


def user_object(user: User, workspace: Workspace, app: App) -> Json:
    """The person as the Web API shows them to the app. A deactivated person has few fields. A person of
    another workspace has `is_stranger`, unless they share a channel with the app. One of several workspaces
    of an Enterprise Grid organization has no `team_id` (https://github.com/looker/lookerbot/issues/184,
    https://github.com/abdolence/slack-morphism-rust/pull/215).
    """
    result: Json = {
        "id": user.id,
        "team_id": user.team_id or workspace.team_id,
        "name": user.name,
        "deleted": user.deleted,
        "profile": _profile(user, workspace, app),
        "is_bot": user.is_bot,
        "is_app_user": False,
        "updated": UPDATED,
    }
    if user.grid_teams:
        del result["team_id"]
        result["enterprise_user"] = {
            "id": user.id,
            "enterprise_id": "E0ACME",
            "enterprise_name": "Acme Group",
            "is_admin": False,
            "is_owner": False,
            "teams": list(user.grid_teams),
        }
    if user.deleted:
        return result
    result |= {
        "color": "9f69e7",
        "real_name": user.real_name,
        "tz": "Europe/Berlin",
        "tz_label": "Central European Time",
        "tz_offset": 3600,
        "is_admin": user.is_admin,
        "is_owner": user.is_owner,
        "is_primary_owner": False,
        "is_restricted": user.is_restricted,
        "is_ultra_restricted": user.is_ultra_restricted,
        "is_email_confirmed": not user.is_bot,
        "who_can_share_contact_card": "EVERYONE",
    }
    if user.is_bot:
        result["is_workflow_bot"] = False
    if not workspace.knows_user(app.user_id, user):
        result["is_stranger"] = True
    return result


def _profile(user: User, workspace: Workspace, app: App) -> Json:
    profile: Json = {
        "real_name": user.real_name,
        "real_name_normalized": user.real_name,
        "display_name": user.name,
        "display_name_normalized": user.name,
        "title": "",
        "phone": "",
        "skype": "",
        "status_text": "",
        "status_emoji": "",
        "avatar_hash": "g0000000000",
        "team": user.team_id or workspace.team_id,
    }
    if user.is_bot:
        profile |= {
            "bot_id": user.bot_id,
            "api_app_id": app.app_id if app.user_id == user.id else "",
        }
    elif "users:read.email" in app.scopes:
        profile["email"] = user.email
    return profile


class Users:
    """Changes of people, each with its event `user_change`. A deactivated person stays in channels and
    groups, as in Slack.
    """

    def __init__(self, workspace: Workspace, app: App, events: Events) -> None:
        self._workspace, self._app, self._events = workspace, app, events

    def add(self, user: User) -> None:
        """Adds a person. Sends no event: `team_join` is not simulated."""
        self._workspace.users[user.id] = user
        self._workspace.notify_change()

    def change(self, user_id: str, **fields: Any) -> None:
        """Sets fields of a User."""
        workspace = self._workspace
        users = workspace.users if user_id in workspace.users else workspace.crowd
        users[user_id] = replace(users[user_id], **fields)
        workspace.notify_change()
        user_data = user_object(users[user_id], workspace, self._app)
        event = {"type": "user_change", "user": user_data, "cache_ts": int(workspace.now())}
        self._events.send(event, needs="users:read")

    def deactivate(self, user_id: str) -> None:
        self.change(user_id, deleted=True)

    def reactivate(self, user_id: str) -> None:
        self.change(user_id, deleted=False)

    def rename(self, user_id: str, real_name: str) -> None:
        self.change(user_id, real_name=real_name)

    def make_guest(self, user_id: str, single_channel: bool = False) -> None:
        self.change(user_id, is_restricted=True, is_ultra_restricted=single_channel)

    def make_member(self, user_id: str) -> None:
        self.change(user_id, is_restricted=False, is_ultra_restricted=False)
