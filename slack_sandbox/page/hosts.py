"""Only pages and programs of this machine may use the sandbox.

The sandbox listens on 127.0.0.1 only. But any web site can point its own domain name to that address (DNS
rebinding). The browser then treats the site's page and the sandbox as one origin, and sends the site's name
as Host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def require_local_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """403 for a request to another name, or from a page of another site."""
    addresses = [f"//{host}" for host in request.headers.getall("Host", ())]
    addresses += request.headers.getall("Origin", ())
    if not all(_is_local(address) for address in addresses):
        raise web.HTTPForbidden(text="The local Slack is only for this machine: use 127.0.0.1.")
    return await handler(request)


def _is_local(address: str) -> bool:
    try:
        return urlsplit(address).hostname in LOCAL_HOSTS
    except ValueError:
        return False
