"""TLS to Redis: files that are replaced while a process runs, and the reason why a connection is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from hitl_core.errors import StoreUnavailable
from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.ports import find_free_port
from slack_sandbox.demo.redis_binary import EmbeddedRedisError
from tests.support.processes.certificates import Certificates
from tests.support.redis_servers.sentinels import RedisSentinels
from tests.support.redis_servers.server import executable_under_test
from tests.support.waiting import wait_until

pytestmark = pytest.mark.servers


@pytest.fixture
def tls(tmp_path: Path) -> Certificates:
    return Certificates.mint(tmp_path / "tls")


@pytest.fixture
def server(tmp_path: Path, tls: Certificates) -> Iterator[EmbeddedRedis]:
    settings = {"save": "", **tls.settings(find_free_port())}
    made = EmbeddedRedis(tmp_path / "redis", executable=executable_under_test(), settings=settings)
    try:
        made.start()
    except EmbeddedRedisError:
        pytest.skip("this redis-server was built without TLS")
    yield made
    made.stop()


async def test_certificates_that_are_replaced_are_read_again(
    server: EmbeddedRedis, tls: Certificates, tmp_path: Path
) -> None:
    """Given new files in the place of the old ones, and a Redis that was restarted with them; then a process
    that runs connects again: it had read its files once, and was cut off until its restart."""
    with redis.Redis.from_url(server.url) as client:
        port = client.config_get("tls-port")["tls-port"]
    store = await RedisStore.open(f"rediss://127.0.0.1:{port}/0?{tls.query}")
    for new in Certificates.mint(tmp_path / "new").folder.iterdir():
        (tls.folder / new.name).write_bytes(new.read_bytes())
    server.kill()
    server.start()

    async def is_back() -> bool:
        try:
            return await store.now() > 0
        except StoreUnavailable:
            return False

    await wait_until("it is connected again", is_back, 10)
    await store.close()


async def test_sentinels_that_can_not_be_asked_say_why(tmp_path: Path, tls: Certificates) -> None:
    """Given Sentinels with a certificate of an unknown authority: the reason was that none names a master."""
    other = Certificates.mint(tmp_path / "other")
    sentinels = RedisSentinels(tmp_path / "redis", executable=executable_under_test(), tls=tls)
    try:
        sentinels.start()
    except EmbeddedRedisError:
        pytest.skip("this redis-server was built without TLS")
    try:
        with pytest.raises(StoreUnavailable, match="can't be reached: its certificate is refused"):
            await RedisStore.open(sentinels.url.replace(tls.query, other.query))
    finally:
        sentinels.stop()
