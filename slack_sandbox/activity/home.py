"""The app's Home tab: one view for each person. The app can publish it at any time.

https://docs.slack.dev/surfaces/app-home
"""

from __future__ import annotations

import secrets

from ..delivery import Events
from ..errors import SlackError
from ..json_checks import Json
from ..validation import complete_blocks, initial_state
from ..workspace import App, Workspace


class HomeTabs:
    def __init__(self, workspace: Workspace, app: App, events: Events) -> None:
        self._workspace, self._app, self._events = workspace, app, events
        self._views: dict[str, Json] = {}

    def view(self, user: str) -> Json | None:
        """The view that was published for this person, or None."""
        return self._views.get(user)

    def find(self, view_id: str) -> tuple[str, Json] | None:
        """The user whose view it is, and the view."""
        return next((own for own in self._views.items() if own[1]["id"] == view_id), None)

    def enter(self, user: str) -> None:
        """This person opens the Home tab; the app gets `app_home_opened`."""
        channel = self._workspace.open_direct_channel(user, self._app.user_id)
        event: Json = {
            "type": "app_home_opened",
            "user": user,
            "channel": channel.id,
            "tab": "home",
        }
        if view := self.view(user):
            event["view"] = view
        self._events.send(event)

    def publish(self, user: str, view: Json, hash_: str | None) -> Json:
        """Replaces this person's view: same id, new hash. `hash_`: if given, the view must still have
        this hash."""
        if not self._app.home_tab:
            raise SlackError("not_enabled")
        old = self._views.get(user)
        if hash_ and (old is None or old["hash"] != hash_):
            raise SlackError("hash_conflict")
        name = view.get("external_id")
        if name and any(v["external_id"] == name for u, v in self._views.items() if u != user):
            raise SlackError("duplicate_external_id")
        view_id = old["id"] if old else self._workspace.new_id("V")
        self._views[user] = self._build_view(view_id, view)
        self._workspace.notify_change()
        return self._views[user]

    def _build_view(self, view_id: str, view: Json) -> Json:
        team, blocks = self._workspace.team_id, complete_blocks(view["blocks"])
        return {
            "id": view_id,
            "team_id": team,
            "type": "home",
            "title": {"type": "plain_text", "text": "View Title", "emoji": True},
            "submit": None,
            "close": None,
            "blocks": blocks,
            "private_metadata": view.get("private_metadata", ""),
            "callback_id": view.get("callback_id", ""),
            "external_id": view.get("external_id", ""),
            "state": {"values": initial_state(blocks)},
            "hash": f"{int(self._workspace.now())}.{secrets.token_hex(4)}",
            "clear_on_close": False,
            "notify_on_close": False,
            "root_view_id": view_id,
            "previous_view_id": None,
            "app_id": self._app.app_id,
            "app_installed_team_id": team,
            "bot_id": self._app.bot_id,
        }
