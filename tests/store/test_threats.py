"""Attacks and faults between the store and Redis: a reply that reaches another caller (T44), somebody on the
network (T51).
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hitl_core.errors import StoreUnavailable
from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis, EmbeddedRedisError
from tests.store.steps import created
from tests.support.redis_servers.proxy import proxy_to
from tests.support.redis_servers.server import executable_under_test

SEED = 44


async def test_a_cancelled_call_leaves_its_answer_to_nobody(redis_url: str) -> None:
    """T44: given 400 reads of forty reviews over few connections and a slow network, of which every third is
    cancelled on its way; then each of the others gets the review that it asked for."""
    seeded = random.Random(SEED)
    async with proxy_to(redis_url) as proxy:
        proxy.delay = lambda: seeded.uniform(0, 0.004)
        store = await RedisStore.open(proxy.url)
        try:
            ids = [(await created(store)).id for _ in range(40)]
            asked: list[tuple[str, asyncio.Task[object]]] = []
            for number in range(400):
                review_id = seeded.choice(ids)
                task = asyncio.create_task(_id_of(store, review_id))
                asked.append((review_id, task))
                if number % 3 == 0:
                    asyncio.get_running_loop().call_later(seeded.uniform(0, 0.01), task.cancel)
                if number % 20 == 0:
                    await asyncio.sleep(seeded.uniform(0, 0.004))
            got = await asyncio.gather(*(task for _, task in asked), return_exceptions=True)
        finally:
            await store.close()
    answered = [
        (want, have) for (want, _), have in zip(asked, got, strict=True) if have is not None
    ]
    wrong = [
        pair
        for pair in answered
        if pair[0] != pair[1] and not isinstance(pair[1], asyncio.CancelledError)
    ]
    assert wrong == []
    assert sum(isinstance(have, asyncio.CancelledError) for _, have in answered) > 20


async def _id_of(store: RedisStore, review_id: str) -> object:
    snapshot = await store.load(review_id)
    return snapshot.review.id if snapshot else None


class Certificates:
    """An authority, and a server's certificate by it: the files that Redis and a client need."""

    def __init__(self, folder: Path, host: str) -> None:
        folder.mkdir()
        self.authority, self.certificate, self.key = (
            folder / name for name in ("ca.pem", "server.pem", "server.key")
        )
        ca_key, key = (
            ec.generate_private_key(ec.SECP256R1()),
            ec.generate_private_key(ec.SECP256R1()),
        )
        issuer = _name("Test authority")
        ca = _builder(issuer, issuer, ca_key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        server = _builder(_name(host), issuer, key.public_key()).add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False
        )
        pem = serialization.Encoding.PEM
        self.authority.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(pem))
        self.certificate.write_bytes(server.sign(ca_key, hashes.SHA256()).public_bytes(pem))
        self.key.write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


TlsRedis = Callable[[str], tuple[str, Certificates]]


@pytest.fixture
def tls_redis(tmp_path: Path) -> Iterator[TlsRedis]:
    """Starts a Redis with TLS: its address without options, and its certificates, made out to this host."""
    servers: list[EmbeddedRedis] = []

    def start(host: str) -> tuple[str, Certificates]:
        files = Certificates(tmp_path / f"tls-{len(servers)}", host)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {
            "save": "",
            "tls-port": str(port),
            "tls-cert-file": str(files.certificate),
            "tls-key-file": str(files.key),
            "tls-ca-cert-file": str(files.authority),
            "tls-auth-clients": "no",
        }
        folder = tmp_path / f"redis-tls-{len(servers)}"
        server = EmbeddedRedis(folder, executable=executable_under_test(), settings=settings)
        try:
            server.start()
        except EmbeddedRedisError:
            pytest.skip("this redis-server was built without TLS")
        servers.append(server)
        return f"rediss://localhost:{port}/0", files

    yield start
    for server in servers:
        server.stop()


async def test_tls_with_the_right_authority_works(tls_redis: TlsRedis) -> None:
    """T51."""
    url, files = tls_redis("localhost")
    store = await RedisStore.open(f"{url}?ssl_ca_certs={files.authority}")
    assert await store.now() > 0
    await store.close()


@pytest.mark.parametrize("host", ["localhost", "redis.example.com"])
async def test_another_server_in_between_is_refused(
    tls_redis: TlsRedis, tmp_path: Path, host: str
) -> None:
    """T51: given a server whose certificate is by an unknown authority, or made out to another host; then
    nothing is sent to it, and the error names the setting's address without its options."""
    url, files = tls_redis(host)
    trusted = files if host != "localhost" else Certificates(tmp_path / "other", "localhost")
    reason = "is refused" if host == "localhost" else "is made out to another host"
    with pytest.raises(StoreUnavailable, match=f"can't be reached: its certificate {reason}"):
        await RedisStore.open(f"{url}?ssl_ca_certs={trusted.authority}")
