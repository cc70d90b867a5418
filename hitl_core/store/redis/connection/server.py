"""What a server must be before anything is stored in it."""

from __future__ import annotations

from typing import Any

from hitl_core.errors import SettingsError, StoreError, StoreUnavailable
from hitl_core.store.redis.connection.client import Client
from hitl_core.store.redis.connection.errors import store_errors
from hitl_core.store.redis.connection.url import hide_password


async def check_server(redis: Client, url: str) -> None:
    """Raises SettingsError for a server that is too old, or that could drop pending reviews; StoreUnavailable
    when it doesn't answer.
    """
    try:
        async with store_errors():
            info: dict[str, Any] = await redis.info()
    except (StoreUnavailable, StoreError) as error:
        # The causes only add a hundred lines of traceback.
        message = str(error).replace("Redis", f"Redis at {hide_password(url)}", 1)
        raise StoreUnavailable(message) from None
    version = str(info.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise SettingsError(f"Redis at {hide_password(url)} is {version}; 6.2 or later is needed.")
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        raise SettingsError(
            f"Redis at {hide_password(url)} has maxmemory-policy {policy}, which can drop pending reviews."
            " Set it to noeviction."
        )
