"""A server with signing keys, as login.botframework.com has one, which also makes tokens."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

CLIENT_ID = "6d1a0b3e-7c55-4c1f-9a51-2f0e8c7b4a10"
TENANT = "9f7c2b64-0d1e-4a7b-8a53-5be1d0c4e7aa"
SERVICE_URL = "https://smba.trafficmanager.net/emea/"
ISSUER = "https://api.botframework.com"


def make_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def public_pem(key: RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def jwk(key: RSAPrivateKey, kid: str, **more: Any) -> dict[str, Any]:
    fields = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    fields |= {"kid": kid, "use": "sig", "endorsements": ["msteams", "webchat"]}
    return {**fields, **more}


def claims(**changed: Any) -> dict[str, Any]:
    """The claims of a valid token. `changed` replaces some of them; None removes one."""
    now = int(time.time())
    good = {
        "iss": ISSUER,
        "aud": CLIENT_ID,
        "serviceurl": SERVICE_URL,
        "nbf": now - 10,
        "exp": now + 3600,
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


def encode(*parts: Any) -> str:
    """Encodes parts of a token that no library would make."""
    texts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in parts]
    return ".".join(base64.urlsafe_b64encode(one).rstrip(b"=").decode() for one in texts)


class KeyServer:
    """`fetches` counts the answers. A test may change `status` and `keys`."""

    def __init__(self) -> None:
        self.key = make_key()
        self.keys = [jwk(self.key, "k1")]
        self.status, self.fetches, self.url = 200, 0, ""

    def token(self, key: RSAPrivateKey | None = None, *, kid: str = "k1", **changed: Any) -> str:
        return jwt.encode(
            claims(**changed), key or self.key, algorithm="RS256", headers={"kid": kid}
        )

    async def answer(self, request: web.Request) -> web.Response:
        self.fetches += 1
        return web.json_response({"keys": self.keys}, status=self.status)


@asynccontextmanager
async def running_key_server() -> AsyncIterator[KeyServer]:
    server, app = KeyServer(), web.Application()
    app.router.add_get("/v1/.well-known/keys", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        server.url = f"http://127.0.0.1:{port}/v1/.well-known/keys"
        yield server
    finally:
        await runner.cleanup()
