"""The URL of a Redis: a single server, a Redis Cluster, or servers that Sentinels watch.

`redis://[user:password@]host[:port][/db]`, `redis+cluster://[user:password@]host[:port],host[:port]`,
`redis+sentinel://[user:password@]host[:port],host[:port]/name[/db]`; `rediss` in place of `redis` is TLS.
Options follow a `?`, as in redis-py: `ssl_ca_certs=/path`; for Sentinels also `sentinel_username` and
`sentinel_password`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from redis.asyncio.connection import Connection, parse_url
from redis.exceptions import RedisError

from hitl_core.defaults import DEFAULT_REDIS_URL
from hitl_core.errors import SettingsError

Kind = Literal["single", "cluster", "sentinel"]
#: The schemes that `parse_redis_url` takes.
REDIS_SCHEMES = (
    "redis",
    "rediss",
    "unix",
    "redis+cluster",
    "rediss+cluster",
    "redis+sentinel",
    "rediss+sentinel",
)
_DATABASE = re.compile(r"/?|/[0-9]{1,9}", re.ASCII)
_PORTS: Mapping[Kind, int] = {"single": 6379, "cluster": 6379, "sentinel": 26379}
_SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password")
#: Options that a connection does not get: they are those of its pool, and of the Sentinels.
_NOT_OF_CONNECTION = frozenset(
    {"connection_class", "max_connections", "timeout", *_SENTINEL_OPTIONS}
)
_SHAPES: Mapping[Kind, str] = {
    "single": "redis://host:port",
    "cluster": "redis+cluster://host:port,host:port",
    "sentinel": "redis+sentinel://host:port,host:port/name",
}


@dataclass(frozen=True)
class RedisUrl:
    """`hosts`: the nodes to ask first, of the cluster, or the Sentinels. `options`: redis-py's options for
    the connections to Redis, without host and port.
    """

    kind: Kind
    text: str = field(repr=False)
    hosts: tuple[tuple[str, int], ...] = ()
    name: str = ""  # of the master, as the Sentinels know it
    has_tls: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    sentinel_options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __str__(self) -> str:
        return hide_password(self.text)

    def like(self, kind: Kind, name: str = "NAME") -> str:
        """A URL of another kind with the host of this one, for an error text. It has no user and password."""
        host = urlsplit(self.text).netloc.rpartition("@")[2].split(",")[0]
        scheme = "rediss" if self.has_tls else "redis"
        if kind == "single":
            return f"{scheme}://{host}"
        return f"{scheme}+{kind}://{host}{f'/{name}' if kind == 'sentinel' else ''}"


def read_redis_url(environment: Mapping[str, str]) -> RedisUrl:
    """The URL in HITL_REDIS_URL, or the default one. Raises SettingsError."""
    text = environment.get("HITL_REDIS_URL", "").strip()
    try:
        return parse_redis_url(text or DEFAULT_REDIS_URL)
    except SettingsError as error:
        raise SettingsError(f"{error} It is from HITL_REDIS_URL.") from None


def parse_redis_url(url: str) -> RedisUrl:
    """Raises SettingsError, without the password."""
    try:
        scheme, _, rest = url.partition("://")
        base, _, kind = scheme.lower().partition("+")
        if kind in ("cluster", "sentinel") and base in ("redis", "rediss"):
            return _parse_many(url, base, kind, rest)
        if base != "unix":
            _check_database(urlsplit(url))
        return RedisUrl("single", url, has_tls=base == "rediss", options=_read_options(url, url))
    except ValueError:
        # The cause may contain a part of the password, so it is dropped.
        raise SettingsError(
            f"The Redis address {hide_password(url)!r} is not a redis:// URL. It is like redis://host:6379/0;"
            " in a password # is written as %23, and / as %2F."
        ) from None


def _check_database(parts: SplitResult) -> None:
    """redis-py takes any other path for database 0, `/1/2` for 12, and `#` for the end of a password: a
    person would look at another database, and see that nothing waits. Raises ValueError.
    """
    if parts.fragment or not _DATABASE.fullmatch(parts.path):
        raise ValueError("no database")


def _read_options(url: str, shown: str) -> dict[str, Any]:
    """redis-py's options in a URL. Raises ValueError; SettingsError with the URL `shown` for those that it
    doesn't know.
    """
    options = cast(dict[str, Any], cast(Any, parse_url)(url))
    taken = {key: options[key] for key in options if key not in _NOT_OF_CONNECTION}
    try:
        options.get("connection_class", Connection)(**taken)  # it connects later
    except (TypeError, RedisError):
        given = ", ".join(name for name, _ in parse_qsl(urlsplit(url).query))
        raise SettingsError(
            f"The Redis address {hide_password(shown)!r} has an option that redis-py does not take there:"
            f" {given}."
        ) from None
    return options


def _parse_many(url: str, base: str, kind: Kind, rest: str) -> RedisUrl:
    server, _, query = rest.partition("?")
    netloc, _, path = server.partition("/")
    user, at, hosts = netloc.rpartition("@")
    addresses = tuple(_parse_address(each, _PORTS[kind]) for each in hosts.split(","))
    name, db = "", path
    if kind == "sentinel":
        name, _, db = path.partition("/")
        name = unquote(name)
    if (kind == "cluster" and db not in ("", "0")) or (kind == "sentinel" and not name):
        why = (
            "a cluster has only database 0"
            if kind == "cluster"
            else "it lacks the name under which the Sentinels know the master"
        )
        raise SettingsError(
            f"The Redis address {hide_password(url)!r} can't be used: {why}. It is like {_SHAPES[kind]}."
        )
    # redis-py reads the query, as in any other URL.
    single = f"{base}://{user}{at}host/{db}{'?' if query else ''}{query}"
    _check_database(urlsplit(single))
    options = _read_options(single, url)
    for key in ("host", "port"):
        options.pop(key, None)
    sentinel = {key: options.pop(key) for key in _SENTINEL_OPTIONS if key in options}
    return RedisUrl(
        kind,
        url,
        hosts=addresses,
        name=name,
        has_tls=base == "rediss",
        options=options,
        sentinel_options={key.removeprefix("sentinel_"): each for key, each in sentinel.items()},
    )


def _parse_address(text: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.path:
        raise ValueError("no host")
    return parts.hostname, parts.port or port


def hide_password(url: str) -> str:
    """The URL without user and password."""
    without = re.sub(r"(?i)(?<=password=)[^&]*", "…", url)
    return re.sub(r"^([\w+]+://)?.*@", r"\1…@", without)
