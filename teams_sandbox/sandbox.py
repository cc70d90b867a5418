"""A running tenant with all its parts, except for the web server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from .activity import Installs, Teams
from .calls import Calls
from .connector import ConnectorApi, RateLimits
from .delivery import ANSWER_TIMEOUT, Activities, BotClient
from .faults import Faults
from .files import Files
from .graph import GraphApi
from .interactions import Consents, Messages, Presses
from .login import Login
from .workspace import acme, acme_app

CLIENT_SECRET = "sandbox-client-secret"


class Sandbox:
    """A running tenant. `url` is set when it listens; it is the bot's TEAMS_CLOUD_URL: every host of
    Microsoft's is a folder under it, with the paths that it has at Microsoft. `bot_url` may be set at any
    time. Changes through `installs` and `teams` send activities to the bot. A direct change of `workspace`
    sends none."""

    def __init__(
        self,
        bot_url: str | None = None,
        client_secret: str = CLIENT_SECRET,
        *,
        rate_limits: bool | float = True,
        permissions: Iterable[str] | None = None,
        now: Callable[[], float] = time.time,
        answer_timeout: float = ANSWER_TIMEOUT,
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
        )
        self.graph = GraphApi(
            self.workspace, self.login, Calls(self.faults, now), lambda: self.graph_url
        )
        self.files = Files(self.workspace, Calls(self.faults, now), lambda: self.url)
        self.activities = Activities(self.workspace, lambda: self.service_url)
        self.bot_client = BotClient(
            self.workspace,
            self.login,
            lambda: self.bot_url,
            lambda: self.service_url,
            answer_timeout,
        )
        senders = (self.workspace, self.activities, self.bot_client)
        self.presses, self.messages = Presses(*senders), Messages(*senders)
        self.consents = Consents(*senders, self.files)
        self.installs, self.teams = Installs(*senders), Teams(*senders)

    @property
    def service_url(self) -> str:
        """The `serviceUrl` of the activities; in Teams https://smba.trafficmanager.net/emea/TENANT/."""
        return f"{self.url}/smba.trafficmanager.net/emea/{self.workspace.tenant_id}/"

    @property
    def login_url(self) -> str:
        """In place of https://login.microsoftonline.com. See the package `login` for how msal reaches it."""
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
        """Ends everything that still runs."""
        self.connector.close()
        self.graph.close()
        self.files.close()
