"""Anybody can send requests to the bot's address: only what Slack signed counts, and only once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from itertools import product
from urllib.parse import quote, urljoin

import aiohttp
import pytest

from hitl_core.store.redis.packing import unpack
from slack_sandbox.client.actor import sign
from slack_sandbox.sandbox import SIGNING_SECRET
from tests.support.bots import CANARY, Scene, email
from tests.support.slack import review_of

FORM = "application/x-www-form-urlencoded"


@asynccontextmanager
async def a_bot(scene: Scene) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    bot = await scene.bot()
    async with aiohttp.ClientSession() as session:
        yield bot.endpoints["slack"], session


def sign_headers(body: str, at: int | None = None) -> dict[str, str]:
    when = str(int(time.time()) if at is None else at)
    return {
        "Content-Type": FORM,
        "X-Slack-Request-Timestamp": when,
        "X-Slack-Signature": sign(SIGNING_SECRET, when, body),
    }


async def test_a_wrong_signing_secret_is_told_once(
    scene: Scene, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given requests signed with another secret; then one line of the log says what to check, and nothing
    of what they held; a minute later it says so again. What isn't signed at all is a stranger's: no line."""

    def lines() -> list[str]:
        return [
            r.getMessage() for r in caplog.records if r.name == "bot.channels.slack.transport.http"
        ]

    wrong = {**sign_headers(CANARY), "X-Slack-Signature": "v0=" + "0" * 64}
    async with a_bot(scene) as (url, session):
        await session.post(url, data=CANARY, headers={"Content-Type": FORM})
        assert lines() == []
        for _ in range(3):
            assert (await session.post(url, data=CANARY, headers=wrong)).status == 401
        [line] = lines()
        assert "SLACK_SIGNING_SECRET" in line
        assert CANARY not in line
        assert "v0=" not in line
        monkeypatch.setattr("bot.logs.INTERVAL", 0.0)
        await session.post(url, data=CANARY, headers=wrong)
        assert len(lines()) == 2


async def test_what_is_not_signed_is_401(scene: Scene) -> None:
    """T21: given requests with a wrong or malformed timestamp or signature; then each is 401, never 500."""
    signatures = ["", "v0=", "v0=é", "v1=00", "v0=" + "0" * 64, "x" * 5000]
    timestamps = ["", str(int(time.time())), "soon", "-1", "1e9", "٣", "9" * 15, "9" * 400]
    async with a_bot(scene) as (url, session):
        for when, signature in product(timestamps, signatures):
            headers = {"X-Slack-Request-Timestamp": when, "X-Slack-Signature": signature}
            async with session.post(url, data=b"payload=%7B%7D", headers=headers) as answer:
                assert answer.status == 401, headers


async def test_nothing_is_parsed_before_the_signature(scene: Scene) -> None:
    """T21: given bodies that no parser takes, of any type and charset, unsigned; then each is 401,
    never 500."""
    bodies = [b"", b"{", b"payload={", b"payload=[]", b"\xff\xfe", b"payload=" + b"%5B" * 100_000,
              b'{"type":"url_verification","challenge":"x"}', b"\x00" * 1000]  # fmt: skip
    kinds = [FORM, "application/json", f"{FORM}; charset=klingon"]
    forged = {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=00"}
    async with a_bot(scene) as (url, session):
        for body, kind in product(bodies, kinds):
            headers = {**forged, "Content-Type": kind}
            async with session.post(url, data=body, headers=headers) as answer:
                assert answer.status == 401, (body[:20], kind)
            async with session.post(url, data=body) as answer:
                assert answer.status == 401, body[:20]


async def test_a_missing_or_doubled_header_is_401(scene: Scene) -> None:
    """T21: given a right signature beside a second one, or without its timestamp; then it is 401."""
    right = sign_headers("payload=%7B%7D")
    wrong = ("X-Slack-Signature", "v0=é")
    async with a_bot(scene) as (url, session):
        for headers in (
            [*right.items(), wrong],
            [wrong, *right.items()],
            [*right.items(), ("X-Slack-Request-Timestamp", "1")],
            [(name, value) for name, value in right.items() if "Timestamp" not in name],
        ):
            async with session.post(url, data=b"payload=%7B%7D", headers=headers) as answer:
                assert answer.status == 401, headers


async def test_signed_nonsense_is_no_500(scene: Scene) -> None:
    """Given signed requests that are not what Slack sends; then they are refused or ignored, never 500."""
    payloads = ["", "null", "[]", "{", quote('{"type":"x"}'), quote("[" * 100_000)]
    async with a_bot(scene) as (url, session):
        for body in ["", *(f"payload={payload}" for payload in payloads)]:
            async with session.post(url, data=body.encode(), headers=sign_headers(body)) as answer:
                assert answer.status < 500, body[:40]


async def test_a_large_body_is_413(scene: Scene) -> None:
    """Given a body of more than 1 MiB, announced or in chunks; then it is 413, and the bot answers others."""
    large = b"x" * (1024 * 1024 + 1)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 65536

    forged = {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=00"}
    async with a_bot(scene) as (url, session):
        for body in (BytesIO(large), chunks()):
            async with session.post(url, data=body, headers=forged) as answer:
                assert answer.status == 413
        async with session.get(urljoin(url, "/healthz")) as answer:
            assert answer.status == 200


async def test_an_old_or_a_future_request_is_401(scene: Scene) -> None:
    """T23: given a click signed 301 s ago, or ahead; then it is 401 and nothing changes; 290 s ago is
    good."""
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    scene.sandbox.bot_url = None
    await scene.alice.press(card, "approve")
    [click] = scene.sandbox.interactions.deliveries
    now = int(time.time())

    for at in (now - 301, now + 302):
        status, _ = await scene.actor.send_raw(
            bot.endpoints["slack"], click["body"], sign_headers(click["body"], at)
        )
        assert status == 401
    assert not waiting.done()
    status, _ = await scene.actor.send_raw(
        bot.endpoints["slack"], click["body"], sign_headers(click["body"], now - 290)
    )
    assert status == 200
    assert len((await waiting).execute) == 1


async def test_a_click_sent_100_times_counts_once(scene: Scene) -> None:
    """T22: given one signed click; when it is sent 100 times more to two bots, then there is one decision,
    each answer is the same, and nobody is told anything."""
    bots = [await scene.bot(), await scene.bot()]
    gate = await scene.gate()
    waiting = scene.ask(gate, email("c1"), email("c2"))
    await scene.alice.press(await scene.card("send_email"), "approve", 1)
    [click] = scene.sandbox.interactions.deliveries

    answers = await asyncio.gather(
        *(
            scene.actor.send_raw(bots[n % 2].endpoints["slack"], click["body"], click["headers"])
            for n in range(100)
        )
    )

    assert set(answers) == {(200, "")}
    assert await scene.alice.notices() == []
    audit = await (await scene.redis()).xrange("hitl:{0}:audit")
    assert sum(b'"decided"' in unpack(fields[b"event"]) for _, fields in audit) == 1
    assert not waiting.done()


async def test_an_unknown_review_looks_like_a_forbidden_one(scene: Scene) -> None:
    """T37: given somebody of another workspace; when they guess ids, then a review that exists and one that
    doesn't can't be told apart."""
    await scene.bot()
    gate = await scene.gate()
    scene.ask(gate, email())
    card = await scene.card("send_email")
    here = review_of(card)
    text: list[str] = []
    for review in (here, f"0-{'a' * 32}"):
        await scene.actor.click(
            scene.stranger.id, card["channel"], card["ts"], "approve",
            value=f"approve.{review}.1.1", team="T0OTHER",
        )  # fmt: skip
        text.append(await scene.stranger.last_notice())
    assert text[0] == text[1]
