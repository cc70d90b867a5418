"""Slash commands: what the app gets, and how its answer is shown."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.bolts import install
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import HERE, Json, Slack, actions, button, modal, mrkdwn, refusal

COMMAND = "/approvals"


async def test_the_app_gets_a_form(actor: Actor, plain_bot: PlainBot, sandbox: Sandbox) -> None:
    assert await actor.run_command("U0ALICE", HERE, f"{COMMAND}   show <@U1> & 7 ") == {
        "ok": True,
        "notices": [],
    }
    [sent] = plain_bot.commands
    assert sent.pop("trigger_id")
    assert sent.pop("response_url").startswith(sandbox.url)
    assert sent == {
        "token": "sandbox-verification-token",
        "team_id": "T0ACME",
        "team_domain": "acme",
        "channel_id": HERE,
        "channel_name": "agent-approvals",
        "user_id": "U0ALICE",
        "user_name": "alice",
        "command": COMMAND,
        "text": "show <@U1> & 7",
        "api_app_id": "A0APPROVER",
        "is_enterprise_install": "false",
    }
    assert await actor.messages(HERE) == [], "nobody sees that it was sent"


@pytest.mark.parametrize(
    ("channel", "name"), [("G0FINANCE", "privategroup"), ("D0PAIR", "directmessage")]
)
async def test_the_names_of_private_places_are_not_told(
    actor: Actor, plain_bot: PlainBot, channel: str, name: str
) -> None:
    await actor.run_command("U0ALICE", channel, COMMAND)
    assert (plain_bot.commands[0]["channel_name"], plain_bot.commands[0]["text"]) == (name, "")


async def test_where_the_app_is_not_its_answer_is_shown_and_its_calls_are_refused(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    plain_bot.answers("Nothing waits for you.")
    answer = await actor.run_command("U0ALICE", "D0PAIR", COMMAND)
    assert len(answer["notices"]) == 1
    notice = {"channel": "D0PAIR", "user": "U0ALICE", "text": "x"}
    assert (await refusal(client, "chat.postEphemeral", **notice))["error"] == "channel_not_found"


async def test_words_are_a_notice_for_who_asked(actor: Actor, plain_bot: PlainBot) -> None:
    plain_bot.answers("Nothing waits for you.")
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    assert [one["text"] for one in answer["notices"]] == ["Nothing waits for you."]
    assert [one["text"] for one in await actor.ephemerals("U0ALICE")] == ["Nothing waits for you."]
    assert await actor.ephemerals("U0BOB") == []


async def test_blocks_are_a_notice_that_can_be_clicked(actor: Actor, plain_bot: PlainBot) -> None:
    plain_bot.answers({"blocks": [actions(button())], "text": "1 waits"})
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    plain_bot.answers("")
    [notice] = answer["notices"]
    assert (await actor.click("U0ALICE", HERE, notice["ts"], "approve"))["ok"]
    assert plain_bot.payloads[0]["container"]["is_ephemeral"] is True


async def test_an_answer_may_be_for_the_whole_channel(actor: Actor, plain_bot: PlainBot) -> None:
    plain_bot.answers({"text": "Look", "response_type": "in_channel"})
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    assert answer["notices"] == []
    assert [one["text"] for one in await actor.messages(HERE)] == ["Look"]


@pytest.mark.parametrize("body", [{"text": ""}, {"blocks": [{"type": "x"}]}])
async def test_an_unsound_answer_is_said_to_be_one(
    actor: Actor, plain_bot: PlainBot, body: Json
) -> None:
    plain_bot.answers(body)
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    assert answer["error"] == '/approvals failed with the error "invalid_command_response"'
    assert await actor.ephemerals("U0ALICE") == []


@pytest.mark.parametrize(
    ("status", "why"), [(404, "http_client_error"), (500, "http_service_error")]
)
async def test_a_failure_is_said(actor: Actor, plain_bot: PlainBot, status: int, why: str) -> None:
    plain_bot.answers("", status)
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    assert answer == {"ok": False, "error": f'/approvals failed with the error "{why}"'}


async def test_silence_is_said_too(plain_bot: PlainBot) -> None:
    plain_bot.gate.clear()
    async with (
        running_sandbox(plain_bot.url, answer_timeout=0.05) as sandbox,
        Actor(sandbox.url) as actor,
    ):
        assert "operation_timeout" in (await actor.run_command("U0ALICE", HERE, COMMAND))["error"]
        sandbox.bot_url = None
        assert "dispatch_failed" in (await actor.run_command("U0ALICE", HERE, COMMAND))["error"]


async def test_what_is_no_command_for_the_app(
    sandbox: Sandbox, client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await client.conversations_open(users="U0ALICE")
    sandbox.users.deactivate("U0BOB")
    await sandbox.events.wait_delivered()
    for user, channel, command in (
        ("U0ALICE", HERE, "/other"),
        ("U0CARL", HERE, COMMAND),  # no member
        ("U0ALICE", "C0OLD", COMMAND),  # archived
        ("U0BOB", HERE, COMMAND),  # deactivated, and still a member
        ("U0ALICE", "D0ALICE", COMMAND),  # the app's Messages tab is read-only
    ):
        assert (await actor.run_command(user, channel, command))["ok"] is False
    sandbox.app.scopes -= {"commands"}
    answer = await actor.run_command("U0ALICE", HERE, COMMAND)
    assert answer["error"] == "/approvals is not a valid command."
    assert plain_bot.commands == []


async def test_the_app_may_answer_later_and_open_a_modal(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await actor.run_command("U0ALICE", HERE, COMMAND)
    [sent] = plain_bot.commands
    async with aiohttp.ClientSession() as session:
        later = {"text": "2 wait for you"}
        async with session.post(sent["response_url"], json=later) as response:
            assert response.status == 200
    assert [one["text"] for one in await actor.ephemerals("U0ALICE")] == ["2 wait for you"]
    await client.views_open(trigger_id=sent["trigger_id"], view=modal())
    assert await actor.view("U0ALICE")


@pytest.mark.parametrize("sockets", [False, True])
async def test_bolt_answers_a_command(
    sandbox: Sandbox, client: Slack, actor: Actor, sockets: bool
) -> None:
    bolt = AsyncApp(client=client, signing_secret=sandbox.app.signing_secret)

    async def approvals(ack: Any, command: Json, respond: Any) -> None:
        await ack(text="x", blocks=[{"type": "section", "text": mrkdwn(command["text"])}])
        await respond(text="and one more thing")

    bolt.command(COMMAND)(approvals)
    async with install(bolt, sandbox, sockets):
        answer = await actor.run_command("U0ALICE", HERE, f"{COMMAND} show 7")
        assert answer["notices"][0]["blocks"][0]["text"]["text"] == "show 7"
        await actor.wait_for(lambda state: len(state["ephemerals"]) == 2)
