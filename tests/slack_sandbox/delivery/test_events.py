"""The Events API: which events are sent to whom, how often an event is tried again, and the challenge at the
start.
"""

from __future__ import annotations

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.bolts import install
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import Json, Slack
from tests.support.waiting import wait_until


def events_of(bot: PlainBot) -> list[Json]:
    return [body["event"] for body in bot.events]


async def test_an_event_comes_in_an_envelope_with_a_signature(
    sandbox: Sandbox, plain_bot: PlainBot, actor: Actor
) -> None:
    """The signature is checked by the plain bot."""
    sandbox.channels.join("C0OPS", "U0BOB", inviter="U0DANA")
    await sandbox.events.wait_delivered()

    [body] = plain_bot.events
    event = body["event"]
    assert (body["type"], body["team_id"], body["api_app_id"]) == (
        "event_callback",
        "T0ACME",
        "A0APPROVER",
    )
    assert body["event_id"].startswith("Ev")
    assert body["event_time"] == int(float(event["event_ts"]))
    assert body["authorizations"][0]["user_id"] == "U0APPROVER"
    del event["event_ts"]
    assert event == {
        "type": "member_joined_channel",
        "user": "U0BOB",
        "channel": "C0OPS",
        "channel_type": "C",
        "team": "T0ACME",
        "inviter": "U0DANA",
    }
    assert "X-Slack-Retry-Num" not in plain_bot.received[0]
    [delivery] = await actor.deliveries()
    assert delivery["status"] == 200


async def test_channels_tell_what_happens_to_them(sandbox: Sandbox, plain_bot: PlainBot) -> None:
    for change in (
        lambda: sandbox.channels.leave("C0SHARED", "U0SAM"),
        lambda: sandbox.channels.rename("C0OPS", "ops"),
        lambda: sandbox.channels.archive("C0EMPTY"),
        lambda: sandbox.channels.archive("G0FINANCE", by="U0BOB"),
        lambda: sandbox.channels.rename("G0FINANCE", "money"),
    ):
        change()
        await sandbox.events.wait_delivered()

    left, renamed, archived, closed, private = events_of(plain_bot)
    assert (left["type"], left["team"]) == ("member_left_channel", "T0GLOBEX")
    assert (renamed["type"], renamed["channel"]["name"]) == ("channel_rename", "ops")
    assert (archived["type"], archived["channel"]) == ("channel_archive", "C0EMPTY")
    assert (closed["type"], closed["user"]) == ("group_archive", "U0BOB")
    assert (private["type"], private["channel"]["id"]) == ("group_rename", "G0FINANCE")


async def test_what_the_app_is_not_told(sandbox: Sandbox, plain_bot: PlainBot) -> None:
    sandbox.channels.join("C0EMPTY", "U0BOB")  # the app is not in there
    sandbox.channels.archive("G0BOARD")  # nor in there, which is private
    sandbox.channels.unarchive("C0OLD")  # it did not subscribe to that
    sandbox.channels.join("C0OPS", "U0CARL")  # he is there already
    sandbox.channels.leave("C0OPS", "U0APPROVER")  # of its own leave it is told otherwise
    sandbox.app.scopes -= {"users:read"}
    sandbox.users.deactivate("U0BOB")
    await sandbox.events.wait_delivered()
    assert plain_bot.events == []


async def test_the_app_hears_of_its_own_arrival(sandbox: Sandbox, plain_bot: PlainBot) -> None:
    sandbox.channels.join("G0BOARD", "U0APPROVER")
    await sandbox.events.wait_delivered()
    [event] = events_of(plain_bot)
    assert (event["user"], event["channel_type"]) == ("U0APPROVER", "G")


async def test_an_app_that_is_removed_may_hear_of_that(
    sandbox: Sandbox, plain_bot: PlainBot
) -> None:
    sandbox.app.events |= {"channel_left", "group_left"}
    sandbox.channels.leave("C0OPS", "U0APPROVER")
    sandbox.channels.leave("G0FINANCE", "U0APPROVER")
    await sandbox.events.wait_delivered()
    assert {(one["type"], one["channel"]) for one in events_of(plain_bot)} == {
        ("channel_left", "C0OPS"),
        ("group_left", "G0FINANCE"),
    }


async def test_what_fails_is_tried_three_times_more(sandbox: Sandbox, plain_bot: PlainBot) -> None:
    plain_bot.answers("", status=500)
    sandbox.users.deactivate("U0BOB")
    await sandbox.events.wait_delivered()

    assert len({body["event_id"] for body in plain_bot.events}) == 1
    retries = [headers.get("X-Slack-Retry-Num") for headers in plain_bot.received]
    assert retries == [None, "1", "2", "3"]
    assert plain_bot.received[1]["X-Slack-Retry-Reason"] == "http_error"


async def test_an_app_may_ask_for_no_retry(sandbox: Sandbox, plain_bot: PlainBot) -> None:
    plain_bot.answers("", status=404)
    plain_bot.answer_headers["X-Slack-No-Retry"] = "1"
    sandbox.users.deactivate("U0BOB")
    await sandbox.events.wait_delivered()
    assert len(plain_bot.events) == 1


async def test_what_takes_too_long_is_tried_again(plain_bot: PlainBot) -> None:
    plain_bot.gate.clear()
    async with running_sandbox(plain_bot.url, answer_timeout=0.05) as sandbox:
        sandbox.events.retry_delays = (0.0,)
        sandbox.users.deactivate("U0BOB")
        await sandbox.events.wait_delivered()
    assert plain_bot.received[1]["X-Slack-Retry-Reason"] == "http_timeout"


async def test_a_bot_that_was_down_gets_the_event_when_it_is_back(plain_bot: PlainBot) -> None:
    async with running_sandbox("http://127.0.0.1:9/slack/events") as sandbox:
        sandbox.events.retry_delays = (0.0, 0.3)
        sandbox.users.deactivate("U0BOB")
        await wait_until("two attempts failed", lambda: len(sandbox.app_client.deliveries) == 2)
        sandbox.bot_url = plain_bot.url
        await sandbox.events.wait_delivered()
    assert plain_bot.received[0]["X-Slack-Retry-Num"] == "2"
    assert plain_bot.received[0]["X-Slack-Retry-Reason"] == "connection_failed"


async def test_an_address_is_verified_by_a_challenge(
    sandbox: Sandbox, client: Slack, plain_bot: PlainBot
) -> None:
    assert not await sandbox.events.verify_url(), "the plain bot repeats nothing"
    assert plain_bot.events[0]["type"] == "url_verification"

    bolt = AsyncApp(client=client, signing_secret=sandbox.app.signing_secret)
    async with install(bolt, sandbox, sockets=False):
        assert await sandbox.events.verify_url()


@pytest.mark.parametrize("sockets", [False, True])
async def test_bolt_takes_events(sandbox: Sandbox, client: Slack, sockets: bool) -> None:
    heard: list[Json] = []
    bolt = AsyncApp(client=client, signing_secret=sandbox.app.signing_secret)

    async def on_change(event: Json) -> None:
        heard.append(event)

    bolt.event("user_change")(on_change)
    async with install(bolt, sandbox, sockets):
        sandbox.users.deactivate("U0BOB")
        await sandbox.events.wait_delivered()

    assert [event["user"]["deleted"] for event in heard] == [True]
    [delivery] = sandbox.app_client.deliveries
    assert delivery["status"] == 200


async def test_bolt_leaves_an_event_without_a_listener_and_slack_tries_again(
    sandbox: Sandbox, client: Slack
) -> None:
    bolt = AsyncApp(client=client, signing_secret=sandbox.app.signing_secret)
    async with install(bolt, sandbox, sockets=False):
        sandbox.users.deactivate("U0BOB")
        await sandbox.events.wait_delivered()
    assert [one["status"] for one in sandbox.app_client.deliveries] == [404] * 4


async def test_over_a_socket_an_envelope_says_which_attempt_it_is(sandbox: Sandbox) -> None:
    """Given an app that loses the first envelope and receipts the second."""
    sandbox.socket_mode.enabled, sandbox.app_client.answer_timeout = True, 0.2
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(sandbox.socket_mode.open()["url"]) as socket,
    ):
        await socket.receive_json()  # hello
        sandbox.users.deactivate("U0BOB")
        lost, again = await socket.receive_json(), await socket.receive_json()
        await socket.send_json({"envelope_id": again["envelope_id"]})
        await sandbox.events.wait_delivered()

    assert (lost["type"], lost["retry_attempt"], lost["retry_reason"]) == ("events_api", 0, "")
    assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
    assert lost["accepts_response_payload"] is False
    assert lost["payload"] == again["payload"]
    assert lost["payload"]["event"]["type"] == "user_change"
    assert len(sandbox.app_client.deliveries) == 2


async def test_with_no_socket_an_event_is_lost(sandbox: Sandbox) -> None:
    sandbox.socket_mode.enabled = True
    sandbox.users.deactivate("U0BOB")
    await sandbox.events.wait_delivered()
    assert [one["socket"] for one in sandbox.app_client.deliveries] == [None] * 4
