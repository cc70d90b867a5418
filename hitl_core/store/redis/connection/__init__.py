"""How the store reaches Redis: the URL, the clients and their connections, the check of the server, and the
translation of Redis errors into ours.
"""

from hitl_core.store.redis.connection.client import MAX_BLOCK, Client, close_clients, connect
from hitl_core.store.redis.connection.errors import store_errors
from hitl_core.store.redis.connection.server import check_server

__all__ = [
    "MAX_BLOCK",
    "Client",
    "check_server",
    "close_clients",
    "connect",
    "store_errors",
]
