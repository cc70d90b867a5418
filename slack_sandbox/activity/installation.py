"""Whether the app is installed. https://docs.slack.dev/reference/events/app_uninstalled"""

from __future__ import annotations

from ..delivery import Events
from ..workspace import App


class Installation:
    def __init__(self, app: App, events: Events) -> None:
        self._app, self._events = app, events

    def uninstall(self) -> None:
        """As in Slack, the token is revoked at once, and the events may arrive in any order."""
        self._app.is_installed = False
        bot = [self._app.user_id]
        self._events.send({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": bot}})
        self._events.send({"type": "app_uninstalled"})

    def install_again(self) -> None:
        """With the same bot and the same token."""
        self._app.is_installed = True
