"""Which tokens the bot accepts as Teams' own (threat T34). With a wrong one nothing has an effect."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from typing import Any

import jwt
import pytest

from tests.support.teams.endpoint import OTHER, Bot, running
from tests.support.teams.tokens import (
    CLIENT_ID,
    SERVICE_URL,
    TENANT,
    KeyServer,
    claims,
    encode,
    jwk,
    make_key,
    public_pem,
)


def now() -> int:
    """Not a constant: the whole suite takes longer than the allowed skew."""
    return int(time.time())


def hs256(login: KeyServer) -> str:
    """Signed with the public key as if it were a secret: the classic confusion. No library writes it."""
    head = encode({"alg": "HS256", "typ": "JWT", "kid": "k1"}, claims())
    mac = hmac.new(public_pem(login.key), head.encode(), hashlib.sha256).digest()
    return f"{head}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def tampered(login: KeyServer) -> str:
    head, _, signature = login.token().split(".")
    return f"{head}.{encode(claims(aud=CLIENT_ID, serviceurl=SERVICE_URL, x=1))}.{signature}"


ENTRA_V2 = f"https://login.microsoftonline.com/{TENANT}/v2.0"


AGENT_365 = "5a807f24-c9de-44ee-a3a7-329e88a00ffc"


WRONG_TOKENS: dict[str, Callable[[KeyServer], str]] = {
    "garbage": lambda login: "garbage",
    "three dots of nothing": lambda login: "a.b.c",
    "no signature": lambda login: login.token().rpartition(".")[0] + ".",
    "HS256": lambda login: jwt.encode(claims(), "s" * 32, algorithm="HS256", headers={"kid": "k1"}),
    "HS256 with the public key": hs256,
    "alg none": lambda login: encode({"alg": "none", "kid": "k1"}, claims(), b""),
    "alg none with a signature": lambda login: encode({"alg": "none", "kid": "k1"}, claims(), b"x"),
    "alg RS384": lambda login: jwt.encode(
        claims(), login.key, algorithm="RS384", headers={"kid": "k1"}
    ),
    "alg is a list": lambda login: encode({"alg": ["RS256"], "kid": "k1"}, claims(), b"x"),
    "another key": lambda login: login.token(make_key()),
    "changed after it was signed": tampered,
    "unknown kid": lambda login: login.token(kid="k9"),
    "no kid": lambda login: jwt.encode(claims(), login.key, algorithm="RS256"),
    "kid is an object": lambda login: encode({"alg": "RS256", "kid": {}}, claims(), b"x"),
    "a key in the header": lambda login: jwt.encode(
        claims(),
        (key := make_key()),
        algorithm="RS256",
        headers={"kid": "k9", "jwk": jwk(key, "k9"), "jku": login.url},
    ),
    "wrong aud": lambda login: login.token(aud=OTHER),
    "no aud": lambda login: login.token(aud=None),
    "aud of our tenant": lambda login: login.token(aud=TENANT),
    "wrong iss": lambda login: login.token(iss="https://api.botframework.com.evil.example"),
    "no iss": lambda login: login.token(iss=None),
    "Entra v2": lambda login: login.token(iss=ENTRA_V2, tid=TENANT, azp=OTHER),
    "Entra v1": lambda login: login.token(iss=f"https://sts.windows.net/{TENANT}/", tid=TENANT),
    "Agent 365": lambda login: login.token(iss=ENTRA_V2, tid=TENANT, azp=AGENT_365),
    "expired": lambda login: login.token(exp=now() - 600),
    "not yet valid": lambda login: login.token(nbf=now() + 600),
    "issued in the future": lambda login: login.token(iat=now() + 600),
    "no exp": lambda login: login.token(exp=None),
    "exp is text": lambda login: encode({"alg": "RS256", "kid": "k1"}, claims(exp="soon"), b"x"),
    "no serviceurl": lambda login: login.token(serviceurl=None),
    "serviceurl is a list": lambda login: login.token(serviceurl=[SERVICE_URL]),
    "very long": lambda login: login.token(more="x" * 4500),
    "a deep header": lambda login: encode(b"[" * 3000, claims(), b"x"),
    "a deep payload": lambda login: encode({"alg": "RS256", "kid": "k1"}, b"[" * 3000, b"x"),
    "claims are a list": lambda login: encode({"alg": "RS256", "kid": "k1"}, [], b"x"),
}


@pytest.mark.parametrize("name", WRONG_TOKENS)
async def test_a_wrong_token_is_refused(bot: Bot, name: str) -> None:
    """T34: given a good activity with this token; then it is 401, and nothing is handled."""
    assert await bot.send(WRONG_TOKENS[name](bot.login)) == 401
    assert bot.handled == []


async def test_a_key_of_another_channel_is_refused(bot: Bot) -> None:
    """T34: given a token that is signed with a key that Bot Framework has for another channel; then it is
    401."""
    key = make_key()
    bot.login.keys = [*bot.login.keys, jwk(key, "k2", endorsements=["directline"])]
    async with running(bot.login) as fresh:
        assert await fresh.send(bot.login.token(key, kid="k2")) == 401
        assert await fresh.send() == 200


async def test_headers_that_say_two_things_are_refused(bot: Bot) -> None:
    """T34: given no token, two of them, or another scheme; then it is 401."""
    good = f"Bearer {bot.login.token()}"
    wrong: list[Any] = [
        {},
        [("Authorization", good), ("Authorization", good)],
        {"Authorization": f"Basic {bot.login.token()}"},
        {"Authorization": bot.login.token()},
        {"Authorization": f"{good} {good}"},
        {"Authorization": f"{good},"},
        {"Authorization": "Bearer "},
        {"X-Authorization": good},
    ]
    for headers in wrong:
        assert await bot.send(headers=headers) == 401, headers
    assert bot.handled == []


async def test_a_body_without_a_token_is_not_read(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    """T34: given a stranger's body; then it is refused before it arrives, and the log has one line with a
    number, which quotes nothing."""
    caplog.set_level(logging.DEBUG)

    async def endless() -> AsyncIterator[bytes]:
        yield b'{"type": "canary'
        await asyncio.Event().wait()

    for _ in range(3):
        async with bot.session.post(bot.url, data=endless()) as answer:
            assert answer.status == 401
    await bot.send("canary.canary.canary")
    lines = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(lines) == 1
    assert "TEAMS_CLIENT_ID" in lines[0]
    assert "canary" not in caplog.text
