"""Which requests are authenticated, and which agents' requests may continue: marks on their connection."""

from __future__ import annotations

from aiohttp import web

from .connections import Connection


def connection_of(request: web.BaseRequest) -> Connection | None:
    """None if the client has disconnected, or on another server than ours."""
    protocol = request.transport.get_protocol() if request.transport else None
    return protocol if isinstance(protocol, Connection) else None


def mark_authenticated(request: web.BaseRequest) -> None:
    """This request is authenticated."""
    if (visit := connection_of(request)) is not None:
        visit.mark_authenticated()


def admit(request: web.BaseRequest, token: str, *, waits: bool = False) -> bool:
    """Marks an agent's request as authenticated. Returns False if too many requests of this token or of all
    agents are in progress: then it must be refused. `waits`: it is about to wait for people.
    """
    mark_authenticated(request)
    visit = connection_of(request)
    return visit is None or visit.admit(token, waits=waits)


def is_authenticated(request: web.BaseRequest) -> bool:
    visit = connection_of(request)
    return visit is not None and visit.is_authenticated
