"""Answers to a click at its response URL; and requests that are signed, forged or sent again."""

from __future__ import annotations

from slack_sdk.webhook.async_client import AsyncWebhookClient

from slack_sandbox.client.actor import Actor, sign
from slack_sandbox.sandbox import SIGNING_SECRET
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import HERE, Slack, post, slack
from tests.support.clock import Clock


async def test_a_response_url_replaces_says_and_deletes(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    await actor.click("U0ALICE", HERE, ts, "approve", block_id="b1")
    hook = AsyncWebhookClient(plain_bot.payloads[0]["response_url"])

    await hook.send(text="for you")
    assert [one["text"] for one in await actor.ephemerals("U0ALICE")] == ["for you"]
    await hook.send(text="for all", response_type="in_channel")
    await hook.send(text="decided", replace_original=True)
    messages = {one["text"]: one for one in await actor.messages(HERE)}
    assert set(messages) == {"for all", "decided"}
    assert messages["decided"]["ts"] == ts
    await hook.send_dict({"delete_original": True})
    assert [one["text"] for one in await actor.messages(HERE)] == ["for all"]
    calls = await actor.calls("response_url")
    assert len(calls) == 4


async def test_a_response_url_is_good_for_five_uses_and_thirty_minutes(plain_bot: PlainBot) -> None:
    clock = Clock()
    async with running_sandbox(now=clock) as sandbox:
        where = sandbox.workspace.channels[HERE]
        client = slack(sandbox)
        message = where.messages[await post(client)]
        first = AsyncWebhookClient(sandbox.response_urls.issue("U0ALICE", message))
        assert [(await first.send(text="x")).status_code for _ in range(6)] == [200] * 5 + [404]
        second = AsyncWebhookClient(sandbox.response_urls.issue("U0ALICE", message))
        bad = await second.send(text="x", blocks=[{"type": "nonsense"}])
        assert (bad.status_code, "invalid_blocks" in bad.body) == (400, True)
        clock.now += 30 * 60 + 1
        late = await second.send(text="x")
        assert (late.status_code, "expired_url" in late.body) == (404, True)


def test_the_signature_of_slacks_own_example() -> None:
    """https://docs.slack.dev/authentication/verifying-requests-from-slack"""
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&"
        "channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&"
        "command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
        "%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121"
        ".803a0bc887a14d10d2c447fce8b6703c"
    )
    assert sign("8f742231b10e8888abcd99yyyzzz85a5", 1531420618, body) == (
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )


async def test_a_delivery_can_be_sent_once_more(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await actor.click("U0ALICE", HERE, await post(client), "approve", block_id="b1")
    (delivery,) = await actor.deliveries()
    assert (delivery["status"], delivery["answer"]) == (200, "")
    assert await actor.send_raw(plain_bot.url, delivery["body"], delivery["headers"]) == (200, "")
    assert plain_bot.payloads[0] == plain_bot.payloads[1]


async def test_a_payload_of_ones_own(actor: Actor, plain_bot: PlainBot) -> None:
    assert (await actor.send_payload(plain_bot.url, {"type": "x"}, SIGNING_SECRET))[0] == 200
    assert plain_bot.payloads == [{"type": "x"}]
    forged = await actor.send_payload(
        plain_bot.url, {"type": "y"}, SIGNING_SECRET, signature="v0=00"
    )
    old = await actor.send_payload(plain_bot.url, {"type": "y"}, SIGNING_SECRET, timestamp=1)
    assert (forged[0], old[0]) == (500, 500), "this plain bot asserts that the signature is good"
    assert plain_bot.payloads == [{"type": "x"}]
