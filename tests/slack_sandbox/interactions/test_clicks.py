"""Clicks: what the bot gets, who may click, and what the person sees of a failure."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from slack_sandbox.client.actor import Actor, ScriptError
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import (
    CARD,
    HERE,
    Slack,
    actions,
    button,
    field,
    modal,
    open_modal,
    option,
    plain,
    post,
    slack,
    text_field,
)


async def test_a_click_arrives_as_slack_sends_it(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    assert await actor.click("U0ALICE", HERE, ts, "approve", block_id="b1") == {"ok": True}
    (payload,) = plain_bot.payloads
    assert payload["type"] == "block_actions"
    assert payload["user"] == {
        "id": "U0ALICE",
        "username": "alice",
        "name": "alice",
        "team_id": "T0ACME",
    }
    assert payload["team"] == {"id": "T0ACME", "domain": "acme"}
    assert payload["channel"] == {"id": HERE, "name": "agent-approvals"}
    assert payload["container"] == {
        "type": "message",
        "message_ts": ts,
        "channel_id": HERE,
        "is_ephemeral": False,
    }
    assert payload["message"]["ts"] == ts
    assert payload["message"]["blocks"][0]["block_id"] == "b1"
    assert (payload["enterprise"], payload["is_enterprise_install"]) == (None, False)
    assert payload["state"] == {"values": {}}
    (action,) = payload["actions"]
    assert action.pop("action_ts")
    assert action == {
        "type": "button",
        "action_id": "approve",
        "block_id": "b1",
        "text": {**plain("Approve"), "emoji": True},
        "value": "r1.c1.1",
        "style": "primary",
    }


async def test_a_click_on_a_menu_carries_the_option(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    for wanted in (1, "b"):
        await actor.click("U0ALICE", HERE, ts, "more", option=wanted)
        assert plain_bot.payloads[-1]["actions"][0]["selected_option"]["value"] == "b"
    beyond = await actor.click("U0ALICE", HERE, ts, "more", option=7)
    assert beyond == {"ok": False, "error": "more has no option 7"}


async def test_a_message_carries_the_state_of_its_inputs(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    note = text_field("note", initial_value="why")
    ts = await post(client, [note, actions(button(), block_id="b")])
    await actor.click("U0ALICE", HERE, ts, "approve")
    assert plain_bot.payloads[0]["state"]["values"] == {
        "note": {"v": {"type": "plain_text_input", "value": "why"}}
    }


async def test_a_button_is_named_by_its_value_where_several_have_its_action(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    with pytest.raises(ScriptError, match="2 elements are 'approve'"):
        await actor.click("U0ALICE", HERE, ts, "approve")
    await actor.click("U0ALICE", HERE, ts, "approve", value_startswith="r1.c2")
    assert plain_bot.payloads[0]["actions"][0]["block_id"] == "b2"


async def test_a_forged_value_and_a_stranger(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    asked: dict[str, Any] = {"block_id": "b1", "value": "r9", "team": "T0OTHER"}
    assert (await actor.click("U0STRANGER", HERE, ts, "approve", **asked))["ok"]
    payload = plain_bot.payloads[0]
    assert payload["user"]["team_id"] == "T0OTHER"
    assert payload["team"]["id"] == "T0ACME"
    assert payload["actions"][0]["value"] == "r9"


async def test_who_may_click(client: Slack, actor: Actor, sandbox: Sandbox) -> None:
    ts = await post(client)
    wish = {"channel": HERE, "ts": ts, "block_id": "b1", "action_id": "approve"}
    assert (await actor.post("click", {"user": "U0CARL", **wish}))["ok"], "a public channel"
    for user in ("U0GONE", "U0NOBODY", "U0GUEST"):
        assert not (await actor.post("click", {"user": user, **wish}))["ok"], user
    board = sandbox.workspace.channels["G0BOARD"]
    board.members.append("U0APPROVER")
    secret = {**wish, "channel": "G0BOARD", "ts": await post(client, channel="G0BOARD")}
    assert not (await actor.post("click", {"user": "U0ALICE", **secret}))["ok"]
    assert (await actor.post("click", {"user": "U0DANA", **secret}))["ok"]


async def test_a_button_that_is_gone(client: Slack, actor: Actor) -> None:
    ts = await post(client)
    wish = {"user": "U0BOB", "channel": HERE, "ts": ts, "block_id": "b1", "action_id": "approve"}
    await client.chat_update(channel=HERE, ts=ts, text="decided", blocks=[])
    assert (await actor.post("click", wish))["error"] == "This button is no longer there."
    await client.chat_delete(channel=HERE, ts=ts)
    assert (await actor.post("click", wish))["error"] == "This message is no longer there."


@pytest.mark.parametrize("status", [404, 500])
async def test_the_person_sees_that_the_bot_failed(
    client: Slack, actor: Actor, plain_bot: PlainBot, status: int
) -> None:
    plain_bot.answers("", status)
    answer = await actor.click("U0ALICE", HERE, await post(client), "approve", block_id="b1")
    error = f"The app responded with status code {status}. Try again?"
    assert answer == {"ok": False, "error": error}


async def test_the_person_sees_that_the_bot_is_slow_or_away(plain_bot: PlainBot) -> None:
    async with (
        running_sandbox(plain_bot.url, answer_timeout=0.05) as sandbox,
        Actor(sandbox.url) as actor,
    ):
        client = slack(sandbox)
        ts = await post(client)
        plain_bot.gate.clear()
        slow = await actor.click("U0ALICE", HERE, ts, "approve", block_id="b1")
        sandbox.bot_url = "http://127.0.0.1:1/nobody"
        away = await actor.click("U0ALICE", HERE, ts, "approve", block_id="b1")
        (_, second) = await actor.deliveries()
    assert (
        slow
        == away
        == {"ok": False, "error": "The app did not respond within 3 seconds. Try again?"}
    )
    assert second["status"] is None


async def test_a_notice_can_be_clicked_and_shows_no_message(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    sent = await client.chat_postEphemeral(channel=HERE, user="U0BOB", text="psst", blocks=CARD)
    (notice,) = await actor.ephemerals("U0BOB")
    assert notice["id"] == sent["message_ts"]
    assert await actor.ephemerals("U0ALICE") == []
    assert (await actor.click("U0BOB", HERE, notice["id"], "more", option=0))["ok"]
    payload = plain_bot.payloads[0]
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    await actor.dismiss("U0ALICE", notice["id"])
    assert len(await actor.ephemerals("U0BOB")) == 1, "it is not Alice's"
    await actor.dismiss("U0BOB", notice["id"])
    assert await actor.ephemerals("U0BOB") == []


async def test_a_click_in_a_modal(client: Slack, actor: Actor, plain_bot: PlainBot) -> None:
    kind = {"type": "static_select", "options": [option("a"), option("b")]}
    view = modal(text_field(), field("kind", kind, dispatch_action=True))
    shown = await open_modal(client, actor, plain_bot, view)
    answer = await actor.click_view(
        "U0ALICE", "v", block_id="kind", option="b", values={"name": "Jo"}
    )
    assert answer == {"ok": True}
    payload = plain_bot.payloads[-1]
    assert payload["container"] == {"type": "view", "view_id": shown["id"]}
    assert payload["view"]["hash"] == shown["hash"]
    values = payload["view"]["state"]["values"]
    assert values["name"]["v"]["value"] == "Jo"
    assert values["kind"]["v"]["selected_option"]["value"] == "b"
    assert payload["actions"][0]["selected_option"]["value"] == "b"


async def test_what_was_typed_before_a_click_stays(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    """Given words typed before a click that draws the view again, the same input still holds them."""
    await open_modal(client, actor, plain_bot, modal(text_field(), actions(button("next"))))
    await actor.click_view("U0ALICE", "next", values={"name": "Jo"})
    view = plain_bot.payloads[-1]["view"]
    await client.views_update(view_id=view["id"], view=modal(text_field(), text_field("more")))

    assert (await actor.submit("U0ALICE", {"more": "x"}))["ok"]

    values = plain_bot.payloads[-1]["view"]["state"]["values"]
    assert values["name"]["v"]["value"] == "Jo"


async def test_a_text_is_sent_where_its_block_says_so(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    asked = field("asked", {"type": "plain_text_input", "action_id": "ask"}, dispatch_action=True)
    quiet = field("quiet", {"type": "plain_text_input", "action_id": "say"})
    await open_modal(client, actor, plain_bot, modal(asked, quiet))

    assert (await actor.click_view("U0ALICE", "ask", values={"asked": "x"}))["ok"]
    payload = plain_bot.payloads[-1]
    assert payload["actions"][0]["value"] == "x"
    assert payload["view"]["state"]["values"]["asked"]["ask"]["value"] == "x"
    refused = await actor.click_view("U0ALICE", "say", values={"quiet": "x"})
    assert "no dispatch_action" in refused["error"]


SURE = {
    "title": plain("Sure?"),
    "text": plain("It runs."),
    "confirm": plain("Run it"),
    "deny": plain("Stop"),
}


async def test_a_button_that_asks_first(client: Slack, actor: Actor, plain_bot: PlainBot) -> None:
    ts = await post(client, [actions(button("run", confirm=SURE), button("plain"))])
    with pytest.raises(ScriptError, match="run asks for a confirmation"):
        await actor.click("U0ALICE", HERE, ts, "run")
    with pytest.raises(ScriptError, match="plain asks for no confirmation"):
        await actor.click("U0ALICE", HERE, ts, "plain", confirm=True)

    denied = await actor.click("U0ALICE", HERE, ts, "run", confirm=False)
    assert (denied, plain_bot.payloads) == ({"ok": True, "cancelled": True}, [])
    assert await actor.click("U0ALICE", HERE, ts, "run", confirm=True) == {"ok": True}
    (payload,) = plain_bot.payloads
    assert "confirm" not in payload["actions"][0]


async def test_nobody_gets_past_the_question(client: Slack, actor: Actor) -> None:
    ts = await post(client, [actions(button("run", confirm=SURE), block_id="b")])
    wish = {"user": "U0ALICE", "channel": HERE, "ts": ts, "block_id": "b", "action_id": "run"}
    assert (await actor.post("click", wish))["error"] == "run asks for a confirmation: Sure?"


async def test_another_site_cannot_click(sandbox: Sandbox) -> None:
    """Given a form of another site, which can only send simple content types."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{sandbox.url}/sandbox/say", data='{"user": "U0ALICE"}') as answer,
    ):
        assert answer.status == 415
