"""Clicks, submissions and closes: what the bot gets, and what becomes of its answer."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.sandbox.hands import Hands, HandsError, sign
from bot.sandbox.interactions import MODAL_TROUBLE
from bot.sandbox.server import SIGNING_SECRET, Sandbox, running_sandbox
from tests.sandbox.conftest import Clock, PlainBot
from tests.sandbox.samples import actions, button, error_of, field, modal, option, plain, text_field

HERE = "C0APPROVE"
CARD = [
    actions(
        button("approve", value="r1.c1.1", style="primary"),
        {"type": "overflow", "action_id": "more", "options": [option("a"), option("b")]},
        block_id="b1",
    ),
    actions(button("approve", value="r1.c2.1"), block_id="b2"),
]


async def post(client: AsyncWebClient, blocks: list[Any] | None = None, **more: Any) -> str:
    answer = await client.chat_postMessage(
        **{"channel": HERE, "text": "a card", "blocks": blocks or CARD, **more}
    )
    return answer["ts"]


async def open_modal(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot, view: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Alice clicks, and the bot opens a modal for her."""
    ts = await post(client)
    await hands.click("U0ALICE", HERE, ts, "approve", block_id="b1")
    trigger_id = plain_bot.payloads[-1]["trigger_id"]
    return (await client.views_open(trigger_id=trigger_id, view=view or modal()))["view"]


async def test_a_click_arrives_as_slack_sends_it(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    assert await hands.click("U0ALICE", HERE, ts, "approve", block_id="b1") == {"ok": True}
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
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    for wanted in (1, "b"):
        await hands.click("U0ALICE", HERE, ts, "more", option=wanted)
        assert plain_bot.payloads[-1]["actions"][0]["selected_option"]["value"] == "b"
    beyond = await hands.click("U0ALICE", HERE, ts, "more", option=7)
    assert beyond == {"ok": False, "error": "more has no option 7"}


async def test_a_message_carries_the_state_of_its_inputs(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    note = text_field("note", initial_value="why")
    ts = await post(client, [note, actions(button(), block_id="b")])
    await hands.click("U0ALICE", HERE, ts, "approve")
    assert plain_bot.payloads[0]["state"]["values"] == {
        "note": {"v": {"type": "plain_text_input", "value": "why"}}
    }


async def test_a_button_is_named_by_its_value_where_several_have_its_action(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    with pytest.raises(HandsError, match="2 elements are 'approve'"):
        await hands.click("U0ALICE", HERE, ts, "approve")
    await hands.click("U0ALICE", HERE, ts, "approve", value_startswith="r1.c2")
    assert plain_bot.payloads[0]["actions"][0]["block_id"] == "b2"


async def test_a_forged_value_and_a_stranger(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    asked = {"block_id": "b1", "value": "r9", "team": "T0OTHER"}
    assert (await hands.click("U0STRANGER", HERE, ts, "approve", **asked))["ok"]
    payload = plain_bot.payloads[0]
    assert payload["user"]["team_id"] == "T0OTHER"
    assert payload["team"]["id"] == "T0ACME"
    assert payload["actions"][0]["value"] == "r9"


async def test_who_may_click(client: AsyncWebClient, hands: Hands, sandbox: Sandbox) -> None:
    ts = await post(client)
    wish = {"channel": HERE, "ts": ts, "block_id": "b1", "action_id": "approve"}
    assert (await hands.post("click", {"user": "U0CARL", **wish}))["ok"], "a public channel"
    for user in ("U0GONE", "U0NOBODY", "U0GUEST"):
        assert not (await hands.post("click", {"user": user, **wish}))["ok"], user
    board = sandbox.workspace.channels["G0BOARD"]
    board.members.append("U0APPROVER")
    secret = {**wish, "channel": "G0BOARD", "ts": await post(client, channel="G0BOARD")}
    assert not (await hands.post("click", {"user": "U0ALICE", **secret}))["ok"]
    assert (await hands.post("click", {"user": "U0DANA", **secret}))["ok"]


async def test_a_button_that_is_gone(client: AsyncWebClient, hands: Hands) -> None:
    ts = await post(client)
    wish = {"user": "U0BOB", "channel": HERE, "ts": ts, "block_id": "b1", "action_id": "approve"}
    await client.chat_update(channel=HERE, ts=ts, text="decided", blocks=[])
    assert (await hands.post("click", wish))["error"] == "This button is no longer there."
    await client.chat_delete(channel=HERE, ts=ts)
    assert (await hands.post("click", wish))["error"] == "This message is no longer there."


@pytest.mark.parametrize("status", [404, 500])
async def test_the_person_sees_that_the_bot_failed(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot, status: int
) -> None:
    plain_bot.answers("", status)
    answer = await hands.click("U0ALICE", HERE, await post(client), "approve", block_id="b1")
    error = f"The app responded with status code {status}. Try again?"
    assert answer == {"ok": False, "error": error}


async def test_the_person_sees_that_the_bot_is_slow_or_away(plain_bot: PlainBot) -> None:
    async with running_sandbox(plain_bot.url, patience=0.05) as sandbox, Hands(sandbox.url) as hands:
        client = AsyncWebClient(sandbox.app.token, base_url=sandbox.api_url)
        ts = await post(client)
        plain_bot.gate.clear()
        slow = await hands.click("U0ALICE", HERE, ts, "approve", block_id="b1")
        sandbox.bot_url = "http://127.0.0.1:1/nobody"
        away = await hands.click("U0ALICE", HERE, ts, "approve", block_id="b1")
        (_, second) = await hands.deliveries()
    assert slow == away == {"ok": False, "error": "The app did not respond within 3 seconds. Try again?"}
    assert second["status"] is None


async def test_a_notice_can_be_clicked_and_shows_no_message(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    sent = await client.chat_postEphemeral(channel=HERE, user="U0BOB", text="psst", blocks=CARD)
    (notice,) = await hands.ephemerals("U0BOB")
    assert notice["id"] == sent["message_ts"]
    assert await hands.ephemerals("U0ALICE") == []
    assert (await hands.click("U0BOB", HERE, notice["id"], "more", option=0))["ok"]
    payload = plain_bot.payloads[0]
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    await hands.dismiss("U0ALICE", notice["id"])
    assert len(await hands.ephemerals("U0BOB")) == 1, "it is not Alice's"
    await hands.dismiss("U0BOB", notice["id"])
    assert await hands.ephemerals("U0BOB") == []


async def test_untouched_fields_are_submitted_with_their_initial_values(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    blocks = [
        text_field("name", initial_value="Jo"),
        field("note", {"type": "plain_text_input"}, optional=True),
        field("tags", {"type": "checkboxes", "options": [option("a")]}, optional=True),
        field("level", {"type": "static_select", "options": [option("a"), option("b")]}),
    ]
    view = modal(*blocks, private_metadata="r1", callback_id="edit", external_id="e1")
    shown = await open_modal(client, hands, plain_bot, view)
    assert await hands.submit("U0ALICE", {"level": 1}) == {"ok": True, "closed": True}
    payload = plain_bot.payloads[-1]
    assert payload["type"] == "view_submission"
    assert payload["response_urls"] == []
    assert payload["trigger_id"]
    sent = payload["view"]
    assert sent["state"]["values"] == {
        "name": {"v": {"type": "plain_text_input", "value": "Jo"}},
        "note": {"v": {"type": "plain_text_input", "value": None}},
        "tags": {"v": {"type": "checkboxes", "selected_options": []}},
        "level": {
            "v": {
                "type": "static_select",
                "selected_option": {"text": {**plain("b"), "emoji": True}, "value": "b"},
            }
        },
    }
    assert (sent["id"], sent["hash"]) == (shown["id"], shown["hash"])
    assert (sent["private_metadata"], sent["callback_id"], sent["external_id"]) == (
        "r1",
        "edit",
        "e1",
    )
    assert await hands.view("U0ALICE") is None


async def test_slacks_client_refuses_before_the_bot_hears_of_it(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    await open_modal(client, hands, plain_bot)
    heard = len(plain_bot.payloads)
    answer = await hands.submit("U0ALICE")
    assert answer == {"ok": False, "errors": {"name": "Please complete this required field."}}
    assert len(plain_bot.payloads) == heard


async def test_errors_stand_beside_the_fields_and_the_view_stays(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    await open_modal(client, hands, plain_bot)
    plain_bot.answers({"response_action": "errors", "errors": {"name": "not a name"}})
    answer = await hands.submit("U0ALICE", {"name": "?"})
    assert answer == {"ok": False, "errors": {"name": "not a name"}}
    assert await hands.view("U0ALICE")
    plain_bot.answers("")
    assert await hands.submit("U0ALICE", {"name": "Jo"}) == {"ok": True, "closed": True}


UNSOUND = {
    "an unknown block": {"response_action": "errors", "errors": {"nowhere": "x"}},
    "a block that is no input": {"response_action": "errors", "errors": {"words": "x"}},
    "no errors": {"response_action": "errors", "errors": {}},
    "an empty error": {"response_action": "errors", "errors": {"name": ""}},
    "an error that is no text": {"response_action": "errors", "errors": {"name": 1}},
    "an unknown action": {"response_action": "dance"},
    "an update without a view": {"response_action": "update"},
    "an update with a bad view": {
        "response_action": "update",
        "view": modal(title=plain("x" * 25)),
    },
    "a push with a bad view": {"response_action": "push", "view": {"type": "modal"}},
    "words": "OK",
    "a list": "[]",
}


@pytest.mark.parametrize("name", UNSOUND)
async def test_an_unsound_answer_is_a_failure_to_the_person(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot, name: str
) -> None:
    words = {"type": "section", "block_id": "words", "text": plain("x")}
    shown = await open_modal(client, hands, plain_bot, modal(text_field(), words))
    plain_bot.answers(UNSOUND[name])
    answer = await hands.submit("U0ALICE", {"name": "x"})
    assert answer == {"ok": False, "error": MODAL_TROUBLE}
    assert await hands.view("U0ALICE") == shown


@pytest.mark.parametrize("status", [201, 404, 500])
async def test_anything_but_200_is_a_failure_too(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot, status: int
) -> None:
    await open_modal(client, hands, plain_bot)
    plain_bot.answers("", status)
    answer = await hands.submit("U0ALICE", {"name": "x"})
    assert answer == {"ok": False, "error": MODAL_TROUBLE}
    assert await hands.view("U0ALICE")


async def test_an_answer_may_update_push_and_clear(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    shown = await open_modal(client, hands, plain_bot)
    plain_bot.answers({"response_action": "update", "view": modal(title=plain("Two"))})
    assert await hands.submit("U0ALICE", {"name": "x"}) == {"ok": True, "closed": False}
    updated = await hands.view("U0ALICE")
    assert updated
    assert (updated["id"], updated["title"]["text"]) == (shown["id"], "Two")
    assert updated["hash"] != shown["hash"]

    plain_bot.answers({"response_action": "push", "view": modal(title=plain("Three"))})
    await hands.submit("U0ALICE", {"name": "x"})
    assert len((await hands.state("U0ALICE"))["views"]) == 2

    plain_bot.answers("")
    await hands.submit("U0ALICE", {"name": "x"})
    assert (await hands.view("U0ALICE")) == updated, "the view below is there again"

    plain_bot.answers({"response_action": "clear"})
    assert await hands.submit("U0ALICE", {"name": "x"}) == {"ok": True, "closed": True}
    assert await hands.view("U0ALICE") is None


async def test_a_view_belongs_to_the_person_who_opened_it(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    shown = await open_modal(client, hands, plain_bot)
    assert await hands.view("U0BOB") is None
    wish = {"user": "U0BOB", "view_id": shown["id"], "values": {}}
    assert (await hands.post("submit", wish))["error"] == "This view is no longer open."


async def test_closing_is_told_to_a_bot_that_asked(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    await open_modal(client, hands, plain_bot)
    heard = len(plain_bot.payloads)
    await hands.close("U0ALICE")
    assert len(plain_bot.payloads) == heard
    shown = await open_modal(client, hands, plain_bot, modal(notify_on_close=True))
    await hands.close("U0ALICE")
    closed = plain_bot.payloads[-1]
    assert (closed["type"], closed["view"]["id"], closed["is_cleared"]) == (
        "view_closed",
        shown["id"],
        False,
    )
    assert await hands.view("U0ALICE") is None


async def test_a_click_in_a_modal(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    kind = {"type": "static_select", "options": [option("a"), option("b")]}
    view = modal(text_field(), field("kind", kind, dispatch_action=True))
    shown = await open_modal(client, hands, plain_bot, view)
    answer = await hands.click_view("U0ALICE", "v", block_id="kind", option="b", values={"name": "Jo"})
    assert answer == {"ok": True}
    payload = plain_bot.payloads[-1]
    assert payload["container"] == {"type": "view", "view_id": shown["id"]}
    assert payload["view"]["hash"] == shown["hash"]
    values = payload["view"]["state"]["values"]
    assert values["name"]["v"]["value"] == "Jo"
    assert values["kind"]["v"]["selected_option"]["value"] == "b"
    assert payload["actions"][0]["selected_option"]["value"] == "b"


async def test_a_response_url_replaces_says_and_deletes(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    ts = await post(client)
    await hands.click("U0ALICE", HERE, ts, "approve", block_id="b1")
    hook = AsyncWebhookClient(plain_bot.payloads[0]["response_url"])

    await hook.send(text="for you")
    assert [one["text"] for one in await hands.ephemerals("U0ALICE")] == ["for you"]
    await hook.send(text="for all", response_type="in_channel")
    await hook.send(text="decided", replace_original=True)
    messages = {one["text"]: one for one in await hands.messages(HERE)}
    assert set(messages) == {"for all", "decided"}
    assert messages["decided"]["ts"] == ts
    await hook.send_dict({"delete_original": True})
    assert [one["text"] for one in await hands.messages(HERE)] == ["for all"]
    calls = await hands.calls("response_url")
    assert len(calls) == 4


async def test_a_response_url_is_good_for_five_uses_and_thirty_minutes(plain_bot: PlainBot) -> None:
    clock = Clock()
    async with running_sandbox(now=clock) as sandbox:
        where = sandbox.workspace.channels[HERE]
        client = AsyncWebClient(sandbox.app.token, base_url=sandbox.api_url)
        message = where.messages[await post(client)]
        first = AsyncWebhookClient(sandbox.response_urls.issue("U0ALICE", message))
        assert [(await first.send(text="x")).status_code for _ in range(6)] == [200] * 5 + [404]
        second = AsyncWebhookClient(sandbox.response_urls.issue("U0ALICE", message))
        bad = await second.send(text="x", blocks=[{"type": "nonsense"}])
        assert (bad.status_code, "invalid_blocks" in bad.body) == (400, True)
        clock.time += 30 * 60 + 1
        late = await second.send(text="x")
        assert (late.status_code, "expired_url" in late.body) == (404, True)


async def test_the_trigger_of_a_click_is_used_once(
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    await open_modal(client, hands, plain_bot)
    with pytest.raises(SlackApiError) as caught:
        await client.views_open(trigger_id=plain_bot.payloads[0]["trigger_id"], view=modal())
    assert error_of(caught) == "exchanged_trigger_id"


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
    client: AsyncWebClient, hands: Hands, plain_bot: PlainBot
) -> None:
    await hands.click("U0ALICE", HERE, await post(client), "approve", block_id="b1")
    (delivery,) = await hands.deliveries()
    assert (delivery["status"], delivery["answer"]) == (200, "")
    assert await hands.raw(plain_bot.url, delivery["body"], delivery["headers"]) == (200, "")
    assert plain_bot.payloads[0] == plain_bot.payloads[1]


async def test_a_payload_of_ones_own(hands: Hands, plain_bot: PlainBot) -> None:
    assert (await hands.send(plain_bot.url, {"type": "x"}, SIGNING_SECRET))[0] == 200
    assert plain_bot.payloads == [{"type": "x"}]
    forged = await hands.send(plain_bot.url, {"type": "y"}, SIGNING_SECRET, signature="v0=00")
    old = await hands.send(plain_bot.url, {"type": "y"}, SIGNING_SECRET, timestamp=1)
    assert (forged[0], old[0]) == (500, 500), "this plain bot asserts that the signature is good"
    assert plain_bot.payloads == [{"type": "x"}]


async def test_another_site_cannot_click(sandbox: Sandbox) -> None:
    """Given a form of another site, which can only send simple content types."""
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{sandbox.url}/sandbox/say", data='{"user": "U0ALICE"}') as answer:
            assert answer.status == 415
