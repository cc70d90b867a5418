"""A running tenant: all of its parts, without the web server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from .calls import Calls
from .connector import ConnectorApi, RateLimits
from .faults import Faults
from .graph import GraphApi
from .login import Login
from .workspace import acme, acme_app

CLIENT_SECRET = "sandbox-client-secret"


class Sandbox:
    """A running tenant. `url` is set when it listens; it is the bot's TEAMS_CLOUD_URL: every host of
    Microsoft's is a folder under it, with the paths that it has at Microsoft. `bot_url` may be set at any
    time."""

    def __init__(
        self,
        bot_url: str | None = None,
        client_secret: str = CLIENT_SECRET,
        *,
        rate_limits: bool | float = True,
        permissions: Iterable[str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.bot_url, self.url = bot_url, ""
        self.app = acme_app(client_secret, permissions)
        self.workspace = acme(now, self.app)
        self.faults = Faults()
        self.login = Login(self.workspace, self.faults, lambda: self.url)
        self.connector = ConnectorApi(
            self.workspace,
            self.login,
            Calls(self.faults, now),
            RateLimits(now, float(rate_limits)) if rate_limits else None,
            lambda: self.service_url,
        )
        self.graph = GraphApi(
            self.workspace, self.login, Calls(self.faults, now), lambda: self.graph_url
        )

    @property
    def service_url(self) -> str:
        """The `serviceUrl` of the activities; in Teams https://smba.trafficmanager.net/emea/TENANT/."""
        return f"{self.url}/smba.trafficmanager.net/emea/{self.workspace.tenant_id}/"

    @property
    def login_url(self) -> str:
        """In place of https://login.microsoftonline.com. See the room `login` for how msal reaches it."""
        return f"{self.url}/login.microsoftonline.com"

    @property
    def openid_metadata_url(self) -> str:
        """Where the bot finds the keys of inbound tokens."""
        return f"{self.url}/login.botframework.com/v1/.well-known/openidconfiguration"

    @property
    def graph_url(self) -> str:
        """In place of https://graph.microsoft.com/v1.0."""
        return f"{self.url}/graph.microsoft.com/v1.0"

    def settings(self) -> dict[str, str]:
        """The environment variables of a bot for this tenant."""
        return {
            "TEAMS_CLIENT_ID": self.app.client_id,
            "TEAMS_CLIENT_SECRET": self.app.client_secret,
            "TEAMS_TENANT_ID": self.workspace.tenant_id,
            "TEAMS_CLOUD_URL": self.url,
        }

    async def end(self) -> None:
        """Ends what still runs."""
        self.connector.close()
        self.graph.close()
