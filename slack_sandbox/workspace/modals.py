"""The modals that people have open: a stack of at most three views each."""

from __future__ import annotations

import secrets

from ..errors import SlackError
from ..json_checks import Json
from ..validation import complete_blocks, fill_state, with_defaults
from .objects import App
from .workspace import Workspace

MAX_DEPTH = 3


class Modals:
    def __init__(self, workspace: Workspace, app: App) -> None:
        self._workspace, self._app = workspace, app
        self._stacks: dict[str, list[Json]] = {}
        self._tabs: dict[str, str | None] = {}

    def stack(self, user: str) -> list[Json]:
        """The views that a person has open; the visible one is last."""
        return self._stacks.setdefault(user, [])

    def tab(self, user: str) -> str | None:
        """The browser tab in which they are open. None: in all tabs."""
        return self._tabs.get(user)

    def find(self, view_id: str) -> tuple[str, Json] | None:
        """The user whose view it is, and the view."""
        for user, stack in self._stacks.items():
            for view in stack:
                if view["id"] == view_id:
                    return user, view
        return None

    def open(self, user: str, view: Json, tab: str | None = None) -> Json:
        """Opens a modal with this view; one that was open before is closed."""
        self._check_external_id(view, None)
        self._stacks[user], self._tabs[user] = [], tab
        return self._show(user, view)

    def push(self, user: str, view: Json) -> Json:
        """Shows a view on top of the one that is open."""
        stack = self.stack(user)
        if not stack:
            raise SlackError("not_found")
        if len(stack) >= MAX_DEPTH:
            raise SlackError("push_limit_reached")
        self._check_external_id(view, None)
        return self._show(user, view)

    def update(self, old: Json, view: Json) -> Json:
        """Replaces an open view: same id, new hash. Inputs with the same ids keep their values."""
        self._check_external_id(view, old["id"])
        old.update(self._build_view(view, old["state"]["values"]))
        self._workspace.notify_change()
        return old

    def get(self, view_id: str | None, external_id: str | None, hash_: str | None) -> Json:
        """The open view with this id or external id, if `hash_` (when given) is still its hash."""
        for stack in self._stacks.values():
            for view in stack:
                if view["id"] == view_id or (external_id and view["external_id"] == external_id):
                    if hash_ and hash_ != view["hash"]:
                        raise SlackError("hash_conflict")
                    return view
        raise SlackError("not_found")

    def close(self, user: str, view: Json | None = None) -> list[Json]:
        """Closes this view and those above it, or all. Returns the closed views, the top one first."""
        stack = self.stack(user)
        start = stack.index(view) if view else 0
        closed_views = stack[start:]
        del stack[start:]
        self._workspace.notify_change()
        return closed_views[::-1]

    def set_state(self, view: Json, state: Json) -> None:
        """Stores the values of a view's inputs."""
        view["state"] = {"values": state}
        self._workspace.notify_change()

    def _check_external_id(self, view: Json, own: str | None) -> None:
        wanted = view.get("external_id")
        for stack in self._stacks.values():
            if wanted and any(v["external_id"] == wanted and v["id"] != own for v in stack):
                raise SlackError("duplicate_external_id")

    def _show(self, user: str, view: Json) -> Json:
        stack = self.stack(user)
        view_id = self._workspace.new_id("V")
        new_view = {
            "id": view_id,
            "team_id": self._workspace.team_id,
            "app_id": self._app.app_id,
            "app_installed_team_id": self._workspace.team_id,
            "bot_id": self._app.bot_id,
            "root_view_id": stack[0]["id"] if stack else view_id,
            "previous_view_id": stack[-1]["id"] if stack else None,
            **self._build_view(view),
        }
        stack.append(new_view)
        self._workspace.notify_change()
        return new_view

    def _build_view(self, view: Json, before: Json | None = None) -> Json:
        blocks = complete_blocks(view["blocks"])
        return {
            "type": "modal",
            "title": with_defaults(view["title"]),
            "submit": with_defaults(view.get("submit")),
            "close": with_defaults(view.get("close")),
            "blocks": blocks,
            "private_metadata": view.get("private_metadata", ""),
            "callback_id": view.get("callback_id", ""),
            "external_id": view.get("external_id", ""),
            "clear_on_close": view.get("clear_on_close", False),
            "notify_on_close": view.get("notify_on_close", False),
            "submit_disabled": view.get("submit_disabled", False),
            "hash": f"{int(self._workspace.now())}.{secrets.token_hex(4)}",
            "state": {"values": fill_state(blocks, {}, before)},
        }
