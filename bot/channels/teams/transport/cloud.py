"""Microsoft's addresses, or those of a local Teams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

#: The scopes of the tokens for the Connector and for Graph.
CONNECTOR_SCOPE = "https://api.botframework.com/.default"
GRAPH_SCOPE = "https://graph.microsoft.com/.default"


@dataclass(frozen=True)
class Cloud:
    """`connector`: the address for a conversation whose own address is not known yet."""

    login: str
    graph: str
    connector: str
    keys: str

    @classmethod
    def of(cls, tenant_id: str, url: str = "") -> Self:
        """Microsoft's public cloud; with `url`, a local Teams with everything below this address."""
        base, region = (url.rstrip("/"), f"emea/{tenant_id}") if url else ("https:/", "teams")
        return cls(
            login=f"{base}/login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token",
            graph=f"{base}/graph.microsoft.com/v1.0",
            connector=f"{base}/smba.trafficmanager.net/{region}/",
            keys=f"{base}/login.botframework.com/v1/.well-known/keys",
        )
