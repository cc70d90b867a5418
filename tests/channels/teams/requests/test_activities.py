"""Which activities the bot accepts with a good token (threat T34): the token does not cover the body."""

from __future__ import annotations

import json
from contextlib import nullcontext
from io import BytesIO
from typing import Any

import pytest
from pydantic import ValidationError

from bot.channels.teams.transport import (
    Activity,
    Forbidden,
    Guard,
    InvalidActivity,
    is_teams_url,
)
from bot.channels.teams.transport.requests.activity import parse_activity
from tests.support.teams.endpoint import ALICE, OTHER, Bot, press, sender
from tests.support.teams.tokens import (
    CLIENT_ID,
    SERVICE_URL,
    TENANT,
)


def tenant_of(data: str | None, conversation: str | None) -> dict[str, Any]:
    return press(
        channelData={"tenant": {"id": data}} if data else {},
        conversation={"id": "a:1", **({"tenantId": conversation} if conversation else {})},
    )


def mention_of(bot: str) -> dict[str, Any]:
    return {"type": "mention", "text": "<at>x</at>", "mentioned": {"id": f"28:{bot}"}}


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
    "a message of nobody": press(
        type="message", **{"from": {"id": "29:1aA"}}, entities=[mention_of(CLIENT_ID)]
    ),
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


@pytest.mark.parametrize(
    "written",
    [
        press(type="message", text="hi"),
        press(type="message", text="hi", entities=[mention_of(OTHER)]),
        press(type="message", text="by a webhook", **{"from": {"id": "28:hook", "name": "CI"}}),
        {**tenant_of(OTHER, TENANT), "type": "message", "text": "in a shared channel"},
    ],
)
async def test_a_message_that_is_not_written_to_the_bot_is_ignored(
    bot: Bot, written: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Given an app that may read a channel, to which Teams sends all of its messages, also those of webhooks
    and of people from other tenants; then they are no error, in no log, and nothing is handled."""
    caplog.set_level("WARNING")
    assert await bot.send(activity=written) == 200
    assert bot.handled == []
    assert not caplog.records


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


def test_a_name_that_is_cut_within_a_character_can_be_stored() -> None:
    """Given a chat whose name ends with half of an emoji, which no store takes; then the rest counts."""
    chat = {"id": "19:x@thread.v2", "name": "Release \ud83d"}
    activity = parse_activity(json.dumps(press(conversation=chat)).encode())
    assert activity.conversation.name == "Release ?"


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
