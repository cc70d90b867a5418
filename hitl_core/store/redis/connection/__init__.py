"""How the store reaches Redis: the URL, the clients and their connections, the check of the server, and the
translation of Redis errors into ours.
"""

from hitl_core.store.redis.connection.client import MAX_BLOCK, Client, close_clients, connect
from hitl_core.store.redis.connection.cluster import ClusterClient
from hitl_core.store.redis.connection.errors import WrongType, store_errors
from hitl_core.store.redis.connection.server import (
    check_server,
    execute_both,
    servers_for,
    servers_of,
)
from hitl_core.store.redis.connection.start_checks import StartWarning, find_warnings
from hitl_core.store.redis.connection.url import (
    REDIS_SCHEMES,
    parse_redis_url,
    read_redis_url,
)

__all__ = [
    "MAX_BLOCK",
    "REDIS_SCHEMES",
    "Client",
    "ClusterClient",
    "StartWarning",
    "WrongType",
    "check_server",
    "close_clients",
    "connect",
    "execute_both",
    "find_warnings",
    "parse_redis_url",
    "read_redis_url",
    "servers_for",
    "servers_of",
    "store_errors",
]
