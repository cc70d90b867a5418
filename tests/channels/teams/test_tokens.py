"""Which requests the bot accepts as Teams' own (threat T34). Each wrong token and each wrong activity is
refused, and has no effect.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import jwt
import pytest
from pydantic import ValidationError

from bot import click_budget
from bot.channels.teams.transport import (
    Activity,
    Answer,
    BoundedClient,
    Forbidden,
    Guard,
    InvalidActivity,
    SigningKeys,
    TeamsEndpoint,
    is_teams_url,
)
from bot.channels.teams.transport.requests.activity import parse_activity
from bot.channels.teams.transport.requests.signing_keys import RETRY_INTERVAL, KeysUnavailable
from bot.health import Health
from bot.web import make_app, open_server
from tests.support.teams.tokens import (
    CLIENT_ID,
    ISSUER,
    SERVICE_URL,
    TENANT,
    KeyServer,
    claims,
    encode,
    jwk,
    make_key,
    public_pem,
    running_key_server,
)
from tests.support.waiting import wait_until

OTHER = "11111111-2222-3333-4444-555555555555"
ALICE = "0a5b7d20-93f4-4f0c-a4d7-0f5f3ff3d1f3"


def now() -> int:
    """Not a constant: the whole suite takes longer than the allowed skew."""
    return int(time.time())


@dataclass
class Bot:
    """An endpoint that notes what it handles."""

    url: str
    session: aiohttp.ClientSession
    login: KeyServer
    health: Health
    handled: list[Activity]

    async def send(
        self, token: str | None = None, activity: Any = None, headers: Any = None
    ) -> int:
        """The status. A good token and a good activity, unless given."""
        headers = headers if headers is not None else bearer(token or self.login.token())
        is_raw = isinstance(activity, bytes | BytesIO)
        body = activity if is_raw else json.dumps(activity or press()).encode()
        async with self.session.post(self.url, data=body, headers=headers) as answer:
            return answer.status


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def press(**changed: Any) -> dict[str, Any]:
    """An invoke of a button as Teams sends it; a changed field that is None is left out."""
    good = {
        "type": "invoke",
        "id": "f:8e2f",
        "name": "adaptiveCard/action",
        "channelId": "msteams",
        "serviceUrl": SERVICE_URL,
        "from": {"id": "29:1aA", "aadObjectId": ALICE, "name": "Alice"},
        "recipient": {"id": f"28:{CLIENT_ID}", "name": "approvals"},
        "conversation": {"id": "19:x@thread.tacv2;messageid=1", "tenantId": TENANT},
        "channelData": {"tenant": {"id": TENANT}},
        "value": {"action": {"type": "Action.Execute", "data": {"hitl": "press"}}},
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


@asynccontextmanager
async def running(
    login: KeyServer,
    *,
    warm: bool = True,
    on_sent: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[Bot]:
    handled: list[Activity] = []

    async def handle(activity: Activity) -> Answer:
        handled.append(activity)
        return Answer({"statusCode": 200}, on_sent=on_sent)

    async def ready() -> dict[str, object]:
        return {}

    health = Health()
    async with BoundedClient() as client, aiohttp.ClientSession() as session:
        keys = SigningKeys(client, login.url, health)
        if warm:
            await keys.find("k1")
        app = make_app(ready, asyncio.Event())
        TeamsEndpoint(Guard(CLIENT_ID, TENANT), keys, handle).add_to(app, "/api/messages")
        async with open_server(app, "127.0.0.1", 0) as url:
            yield Bot(f"{url}/api/messages", session, login, health, handled)


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    async with running_key_server() as login, running(login) as bot:
        yield bot


async def test_a_good_request_is_handled(bot: Bot) -> None:
    """Given what Teams sends; then it is handled, whatever the case of the scheme and of the GUIDs, and with
    each form of the audience that Bot Framework writes."""
    assert await bot.send() == 200
    assert await bot.send(headers={"authorization": f"bearer {bot.login.token()}"}) == 200
    assert await bot.send(bot.login.token(aud=f"api://{CLIENT_ID}")) == 200
    assert await bot.send(bot.login.token(serviceurl=SERVICE_URL.rstrip("/"))) == 200
    assert await bot.send(bot.login.token(exp=now() - 60)) == 200  # 5 minutes of skew
    upper = press(channelData={"tenant": {"id": TENANT.upper()}})
    upper["from"]["aadObjectId"] = ALICE.upper()
    assert await bot.send(activity=upper) == 200
    assert [one.sender.person for one in bot.handled] == [ALICE] * 6


async def test_what_the_sdk_can_not_read_is_handled(bot: Bot) -> None:
    """Given an automatic refresh, an action without data, one whose data is a list, and activities of unknown
    types, which make the SDK fail with 500; then they are handled."""
    values: list[Any] = [
        {"action": {"type": "Action.Execute", "data": {}}, "trigger": "automatic"},
        {"action": {"type": "Action.Execute"}},
        {"action": {"type": "Action.Execute", "data": None}},
        {"action": {"type": "Action.Execute", "data": [1]}},
        None,
    ]
    for value in values:
        assert await bot.send(activity=press(value=value)) == 200
    for activity in ({"type": "messageUpdate"}, {"type": "x-new"}, {"name": "fileConsent/invoke"}):
        assert await bot.send(activity=press(**activity)) == 200
    assert len(bot.handled) == len(values) + 3


async def test_what_follows_an_answer_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a click that took all of its time; then what follows its answer is done all the same: that
    somebody has a form open was not recorded, and the next update closed it with what was typed."""
    monkeypatch.setattr(click_budget, "ANSWER_SECONDS", 0.0)
    is_done = asyncio.Event()

    async def follow() -> None:
        await asyncio.to_thread(is_done.is_set)  # anything that takes a moment
        is_done.set()

    async with running_key_server() as login, running(login, on_sent=follow) as bot:
        assert await bot.send() == 200
        await wait_until("it is done", is_done.is_set)


async def test_that_the_keys_can_not_be_fetched_is_told_after_any_error() -> None:
    """Given an error of the HTTP library that it doesn't document; then it is told, and what fetches the keys
    goes on."""

    class Failing(BoundedClient):
        async def send(self, *args: Any, **options: Any) -> httpx.Response:
            raise RuntimeError("canary")

    health = Health()
    async with Failing() as client:
        keys = SigningKeys(client, "http://127.0.0.1:1/keys", health)
        with pytest.raises(KeysUnavailable):
            await keys.find("k1")
    [problem] = health.current_problems()
    assert "can't be fetched: RuntimeError" in problem.text


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


def tenant_of(data: str | None, conversation: str | None) -> dict[str, Any]:
    return press(
        channelData={"tenant": {"id": data}} if data else {},
        conversation={"id": "a:1", **({"tenantId": conversation} if conversation else {})},
    )


def sender(**changed: Any) -> dict[str, Any]:
    account = {"id": "29:1aA", "aadObjectId": ALICE, "name": "Alice"} | changed
    return press(**{"from": {name: one for name, one in account.items() if one is not None}})


FORBIDDEN: dict[str, Any] = {
    "another serviceUrl than the token's": press(
        serviceUrl="https://smba.trafficmanager.net/amer/"
    ),
    "another channel": press(channelId="webchat"),
    "the emulator": press(channelId="emulator"),
    "another recipient": press(recipient={"id": f"28:{OTHER}"}),
    "a person as recipient": press(recipient={"id": CLIENT_ID}),
    "another tenant in channelData": tenant_of(OTHER, TENANT),
    "another tenant in conversation": tenant_of(TENANT, OTHER),
    "another tenant": tenant_of(OTHER, OTHER),
    "no tenant in channelData": tenant_of(None, TENANT),
    "no tenant in conversation": tenant_of(TENANT, None),
    "no tenant": tenant_of(None, None),
    "no aadObjectId": sender(aadObjectId=None),
    "aadObjectId is no GUID": sender(aadObjectId="alice@example.com"),
    "aadObjectId is nearly a GUID": sender(aadObjectId=ALICE + "0"),
    "a message of nobody": press(type="message", **{"from": {"id": "29:1aA"}}),
    "an install of another tenant": press(
        type="installationUpdate", channelData={"tenant": {"id": OTHER}}
    ),
    "an install without a tenant": press(
        type="installationUpdate", channelData={}, conversation={"id": "a:1"}
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
async def test_a_wrong_activity_is_refused(bot: Bot, name: str) -> None:
    """T34: given a good token, which does not cover the body; then this body is 403, and nothing is
    handled."""
    assert await bot.send(activity=FORBIDDEN[name]) == 403
    assert bot.handled == []


UNREADABLE: dict[str, bytes] = {
    "no JSON": b"type=invoke",
    "nothing": b"",
    "a list": b"[]",
    "deep": b'{"value":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "many values": b'{"value":[' + b"1," * 100_000 + b"1]}",
    "a huge number": b'{"value":' + b"9" * 100_000 + b"}",
    "not UTF-8": b'{"type":"\xff"}',
    **{
        f"without {name}": json.dumps(press(**{name: None})).encode()
        for name in ("type", "channelId", "serviceUrl", "from", "recipient", "conversation")
    },
    "from is a text": json.dumps(press(**{"from": "29:1aA"})).encode(),
    "from has no id": json.dumps(press(**{"from": {"aadObjectId": ALICE}})).encode(),
    "aadObjectId is a list": json.dumps(sender(aadObjectId=[ALICE])).encode(),
    "tenantId is a number": json.dumps(press(conversation={"id": "a:1", "tenantId": 1})).encode(),
}


def test_of_many_wrong_members_one_is_looked_at() -> None:
    """Else thousands of errors would hold the event loop for 100 ms."""
    with pytest.raises(InvalidActivity, match="membersRemoved") as refused:
        parse_activity(json.dumps(press(membersRemoved=[{"id": 1}] * 9_000)).encode())
    why = refused.value.__context__
    assert isinstance(why, ValidationError)
    assert len(str(why)) < 5_000


@pytest.mark.parametrize("name", UNREADABLE)
async def test_a_body_that_can_not_be_read_is_refused(bot: Bot, name: str) -> None:
    """T34: given a good token; then this body is 400, never 500, and nothing is handled."""
    assert await bot.send(activity=UNREADABLE[name]) == 400
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


async def test_a_body_is_bounded(bot: Bot) -> None:
    """Given a good token and more than 1 MiB; then it is 413."""
    assert await bot.send(activity=BytesIO(b" " * (1024 * 1024 + 1))) == 413


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        (SERVICE_URL, True),
        ("https://smba.trafficmanager.net:443/teams", True),
        ("https://smba.infra.gcc.teams.microsoft.com/teams", True),
        ("https://europe.botframework.com", True),
        ("http://smba.trafficmanager.net/emea/", False),
        ("https://smba.trafficmanager.net.evil.example/", False),
        ("https://evil.example/smba.trafficmanager.net/", False),
        ("https://smba.trafficmanager.net@evil.example/", False),
        ("https://evil.example#.botframework.com", False),
        ("https://evil.example?.botframework.com", False),
        ("https://evil.example\\.botframework.com", False),
        ("https://evilbotframework.com/", False),
        ("https://botframework.com.evil.example/", False),
        ("https://smba.trafficmanager.net:8443/", False),
        ("https://other.trafficmanager.net/", False),
        ("https://smba.trafficmanager.n\u0435t/", False),  # a Cyrillic letter
        ("https://smba.trafficmanager.net/\n", False),
        ("https://[::1].botframework.com/", False),
        ("//smba.trafficmanager.net/", False),
        ("smba.trafficmanager.net", False),
        ("file://smba.trafficmanager.net/", False),
        ("", False),
    ],
)
async def test_answers_go_only_to_teams(bot: Bot, url: str, verdict: bool) -> None:
    """T34: given a token and an activity with this service URL, to which our own token would go; then only
    Teams' addresses pass."""
    assert is_teams_url(url) is verdict
    status = await bot.send(bot.login.token(serviceurl=url), press(serviceUrl=url))
    assert (status == 200) is verdict
    assert len(bot.handled) == verdict


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://127.0.0.1:9000/_connector/", True),
        ("http://127.0.0.1:9000", True),
        ("http://127.0.0.1:90001/", False),
        ("http://127.0.0.1:9000@evil.example/", False),
        (SERVICE_URL, False),
    ],
)
def test_a_sandbox_is_trusted_only_if_it_is_set(url: str, verdict: bool) -> None:
    """Given the URL of a sandbox in the settings; then only its addresses are service URLs."""
    guard = Guard(CLIENT_ID, TENANT, "http://127.0.0.1:9000")
    activity = Activity.model_validate(press(serviceUrl=url))
    with nullcontext() if verdict else pytest.raises(Forbidden, match="service URL"):
        guard.check_activity(activity, {"serviceurl": url})


async def test_without_keys_nobody_is_let_in(bot: Bot) -> None:
    """Given a key server that is down from the start; then requests are 503 and the problem is told, until it
    works again."""
    bot.login.status = 503
    async with running(bot.login, warm=False) as late:
        assert await late.send() == 503
        [problem] = late.health.current_problems()
        assert "503" in problem.text
        assert late.handled == []


async def test_keys_outlive_their_server_and_a_new_key_is_fetched(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a key server that goes down; then its keys still hold, and whether there is a new one is not
    known. Given a new key; then it is fetched once, and strangers with made-up ids cause no further fetches.
    """
    path = "bot.channels.teams.transport.requests.signing_keys.RETRY_INTERVAL"
    monkeypatch.setattr(path, 0.0)
    new = make_key()
    bot.login.status = 500
    assert await bot.send(bot.login.token(new, kid="k2")) == 503
    assert await bot.send() == 200
    assert len(bot.health.current_problems()) == 1
    bot.login.status, bot.login.keys = 200, [*bot.login.keys, jwk(new, "k2")]
    assert await bot.send(bot.login.token(new, kid="k2")) == 200
    assert bot.health.current_problems() == ()
    monkeypatch.setattr(path, RETRY_INTERVAL)
    before = bot.login.fetches
    for number in range(20):
        assert await bot.send(bot.login.token(new, kid=f"guess{number}")) == 401
    assert bot.login.fetches == before


@pytest.mark.parametrize(
    "keys", [[], [{"kid": "k1"}], ["k1"], [{"kid": "k1", "kty": "oct", "k": "c2VjcmV0"}], None]
)
async def test_keys_that_can_not_be_read_are_none(bot: Bot, keys: Any) -> None:
    """Given a key server that answers with something else; then requests are 503, and the problem is told."""
    bot.login.keys = keys
    async with running(bot.login, warm=False) as late:
        assert await late.send() == 503
        assert len(late.health.current_problems()) == 1


async def test_a_fetch_does_not_block_the_others(bot: Bot) -> None:
    """Given a key server that does not answer; then the bot answers other requests meanwhile."""
    release, asked = asyncio.Event(), asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await release.wait()
        writer.close()

    server = await asyncio.start_server(stall, "127.0.0.1", 0)
    bot.login.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    async with server, running(bot.login, warm=False) as late:
        waiting = asyncio.create_task(late.send())
        await asked.wait()
        async with late.session.get(late.url.replace("api/messages", "healthz")) as answer:
            assert answer.status == 200
        assert not waiting.done()
        release.set()
        assert await waiting == 503


def test_the_import_of_the_sdk_changes_nothing(tmp_path: Any, monkeypatch: Any) -> None:
    """Given a file `.env` in the working directory; then the import of the SDK, in a new process, leaves our
    environment as it is."""
    (tmp_path / ".env").write_text("CLIENT_SECRET=planted\nHITL_POLICY=planted\n")
    code = (
        "import os; before = dict(os.environ)\n"
        "from bot.channels.teams.transport import sdk\n"
        f"sdk.token_validator({CLIENT_ID!r})\n"
        "assert dict(os.environ) == before, set(os.environ) - set(before)\n"
    )
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path, env={"PYTHONPATH": root, "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_issuer_is_the_sdks() -> None:
    """Given the SDK's public cloud; then the guard compares with its issuer."""
    from bot.channels.teams.transport import sdk
    from bot.channels.teams.transport.requests import guard

    validator = sdk.token_validator(CLIENT_ID)(None)
    assert validator.options.valid_issuers == [guard.ISSUER] == [ISSUER]
