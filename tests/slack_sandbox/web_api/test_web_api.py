"""The Web API refuses what Slack refuses, with Slack's error names."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox
from slack_sandbox.web_api.api import METHODS
from slack_sandbox.web_api.rate_limits import PER_MINUTE
from tests.slack_sandbox.samples import HERE, Slack, actions, button, mrkdwn, refusal, slack


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_token_is_needed_and_has_to_be_the_right_one(sandbox: Sandbox, verb: str) -> None:
    async with aiohttp.ClientSession() as session:
        for token, error in ((None, "not_authed"), ("xoxb-other", "invalid_auth")):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            url = sandbox.api_url + "auth.test"
            async with session.request(verb, url, headers=headers) as response:
                assert response.status == 200
                assert await response.json() == {"ok": False, "error": error}


async def test_auth_test_tells_who_the_bot_is(client: Slack) -> None:
    answer = await client.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == (
        "T0ACME",
        "U0APPROVER",
        "B0APPROVER",
    )
    assert "chat:write" in answer.headers["X-OAuth-Scopes"]


async def test_forms_and_json_say_the_same(sandbox: Sandbox) -> None:
    blocks = [actions(button())]
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as session:
        url = sandbox.api_url + "chat.postMessage"
        form = {"channel": HERE, "text": "x", "blocks": json.dumps(blocks)}
        async with session.post(url, data=form) as by_form:
            first = await by_form.json()
        async with session.post(url, json={**form, "blocks": blocks}) as by_json:
            second = await by_json.json()
    assert first["message"]["blocks"][0]["elements"] == second["message"]["blocks"][0]["elements"]


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[1]", "json_not_object")])
async def test_a_body_that_is_no_json_object(sandbox: Sandbox, body: str, error: str) -> None:
    headers = {"Authorization": f"Bearer {BOT_TOKEN}", "Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(sandbox.api_url + "auth.test", data=body) as response,
    ):
        assert (await response.json())["error"] == error


def test_every_method_has_its_rate_limit() -> None:
    assert set(METHODS) == set(PER_MINUTE)


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("unknown_method", "chat.shout", {}),
    ("channel_not_found", "chat.postMessage", {"text": "x"}),
    ("channel_not_found", "chat.postMessage", {"channel": "C0NOWHERE", "text": "x"}),
    ("channel_not_found", "chat.postMessage", {"channel": "G0BOARD", "text": "x"}),
    ("not_in_channel", "chat.postMessage", {"channel": "C0EMPTY", "text": "x"}),
    ("is_archived", "chat.postMessage", {"channel": "C0OLD", "text": "x"}),
    ("no_text", "chat.postMessage", {"channel": HERE}),
    ("no_text", "chat.postMessage", {"channel": HERE, "text": "", "blocks": []}),
    ("invalid_arguments", "chat.postMessage", {"channel": HERE, "text": 5}),
    ("invalid_blocks_format", "chat.postMessage", {"channel": HERE, "text": "x", "blocks": "{"}),
    (
        "invalid_blocks_format",
        "chat.postMessage",
        {"channel": HERE, "text": "x", "blocks": {"a": 1}},
    ),
    (
        "invalid_blocks",
        "chat.postMessage",
        {"channel": HERE, "text": "x", "blocks": [{"type": "x"}]},
    ),
    (
        "invalid_metadata_format",
        "chat.postMessage",
        {"channel": HERE, "text": "x", "metadata": "{"},
    ),
    (
        "invalid_metadata_schema",
        "chat.postMessage",
        {"channel": HERE, "text": "x", "metadata": {"a": 1}},
    ),
    (
        "invalid_metadata_schema",
        "chat.postMessage",
        {"channel": HERE, "text": "x", "metadata": {"event_type": "", "event_payload": {}}},
    ),
    (
        "metadata_too_large",
        "chat.postMessage",
        {
            "channel": HERE,
            "text": "x",
            "metadata": {"event_type": "e", "event_payload": {"a": "x" * 9000}},
        },
    ),
    ("message_not_found", "chat.update", {"channel": HERE, "ts": "1.000001", "text": "x"}),
    ("channel_not_found", "chat.update", {"channel": "#agent-approvals", "ts": "1.1", "text": "x"}),
    ("invalid_arguments", "chat.update", {"channel": HERE, "text": "x"}),
    ("message_not_found", "chat.delete", {"channel": HERE, "ts": "1.000001"}),
    ("user_not_in_channel", "chat.postEphemeral", {"channel": HERE, "user": "U0CARL", "text": "x"}),
    (
        "not_in_channel",
        "chat.postEphemeral",
        {"channel": "C0EMPTY", "user": "U0ALICE", "text": "x"},
    ),
    ("message_not_found", "chat.getPermalink", {"channel": HERE, "message_ts": "1.000001"}),
    ("channel_not_found", "conversations.info", {"channel": "G0BOARD"}),
    ("channel_not_found", "conversations.members", {"channel": "C0NOWHERE"}),
    ("invalid_cursor", "conversations.members", {"channel": HERE, "cursor": "zzz"}),
    ("not_in_channel", "conversations.history", {"channel": "C0EMPTY"}),
    ("invalid_ts_oldest", "conversations.history", {"channel": HERE, "oldest": "monday"}),
    ("thread_not_found", "conversations.replies", {"channel": HERE, "ts": "1.000001"}),
    ("user_not_found", "users.info", {"user": "U0NOBODY"}),
    ("user_not_found", "users.conversations", {"user": "U0NOBODY"}),
    ("invalid_types", "users.conversations", {"types": "everything"}),
    ("invalid_types", "conversations.list", {"types": "public"}),
    ("missing_scope", "conversations.list", {"types": "mpim"}),
    ("channel_not_found", "chat.postMessage", {"channel": "U0NOBODY", "text": "x"}),
    ("channel_not_found", "chat.postMessage", {"channel": "D0ALICE", "text": "x"}),
    ("channel_not_found", "chat.update", {"channel": "U0ALICE", "ts": "1.1", "text": "x"}),
    ("cannot_dm_bot", "chat.postMessage", {"channel": "U0AGENT", "text": "x"}),
    ("invalid_arguments", "views.publish", {"user_id": "U0ALICE"}),
    ("invalid_arguments", "usergroups.users.list", {}),
]


@pytest.mark.parametrize(("error", "method", "args"), REFUSED)
async def test_what_slack_refuses(
    client: Slack, error: str, method: str, args: dict[str, Any]
) -> None:
    assert (await refusal(client, method, **args))["error"] == error


async def test_invalid_blocks_say_where(client: Slack) -> None:
    blocks = [{"type": "section", "text": mrkdwn("x" * 3001)}]
    answer = await refusal(client, "chat.postMessage", channel=HERE, text="x", blocks=blocks)
    assert answer["errors"] == [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ]
    assert answer["response_metadata"]["messages"][1] == f"[ERROR] {answer['errors'][1]}"


async def test_the_blocks_of_a_message_may_not_hold_too_much_in_all(client: Slack) -> None:
    def sections(length: int) -> list[dict[str, Any]]:
        return [{"type": "section", "text": mrkdwn("&" * length)} for _ in range(4)]

    await client.chat_postMessage(channel=HERE, text="x", blocks=sections(640))
    answer = await refusal(client, "chat.postMessage", channel=HERE, text="x", blocks=sections(641))
    assert answer["error"] == "msg_blocks_too_long"


@pytest.mark.parametrize(
    ("method", "args", "needed"),
    [
        ("chat.postMessage", {"channel": HERE, "text": "x"}, "chat:write"),
        ("chat.update", {"channel": HERE, "ts": "1.1", "text": "x"}, "chat:write"),
        ("conversations.info", {"channel": HERE}, "channels:read"),
        ("conversations.list", {}, "channels:read"),
        ("conversations.list", {"types": "private_channel"}, "groups:read"),
        ("conversations.members", {"channel": HERE}, "channels:read"),
        ("conversations.history", {"channel": HERE}, "channels:history"),
        ("conversations.replies", {"channel": HERE, "ts": "1.1"}, "channels:history"),
        ("conversations.list", {"types": "im"}, "im:read"),
        ("conversations.open", {"users": "U0ALICE"}, "im:write"),
        ("users.info", {"user": "U0ALICE"}, "users:read"),
        ("users.list", {}, "users:read"),
        ("users.lookupByEmail", {"email": "a@b"}, "users:read.email"),
        ("users.conversations", {"user": "U0ALICE"}, "channels:read"),
        ("usergroups.list", {}, "usergroups:read"),
        ("usergroups.users.list", {"usergroup": "S0OPS"}, "usergroups:read"),
        ("files.getUploadURLExternal", {"filename": "a", "length": 1}, "files:write"),
    ],
)
async def test_a_scope_that_the_app_lacks(method: str, args: dict[str, Any], needed: str) -> None:
    async with running_sandbox(scopes=["reactions:write"]) as sandbox:
        client = slack(sandbox)
        answer = await refusal(client, method, **args)
    assert answer == {
        "ok": False,
        "error": "missing_scope",
        "needed": needed,
        "provided": "reactions:write",
    }


async def test_a_private_channel_needs_the_scopes_for_groups() -> None:
    async with running_sandbox(scopes=["channels:read", "channels:history"]) as sandbox:
        sandbox.workspace.channels["G0BOARD"].members.append("U0APPROVER")
        client = slack(sandbox)
        info = await refusal(client, "conversations.info", channel="G0BOARD")
        history = await refusal(client, "conversations.history", channel="G0BOARD")
    assert (info["needed"], history["needed"]) == ("groups:read", "groups:history")


async def test_a_direct_message_needs_the_scopes_for_those() -> None:
    async with running_sandbox(scopes=["chat:write", "channels:read"]) as sandbox:
        client = slack(sandbox)
        posted = await client.chat_postMessage(channel="U0ALICE", text="x")
        needed = [
            (await refusal(client, f"conversations.{name}", channel=posted["channel"]))["needed"]
            for name in ("info", "members", "history")
        ]
    assert needed == ["im:read", "im:read", "im:history"]


async def test_a_public_channel_takes_posts_of_the_uninvited_with_the_scope() -> None:
    async with running_sandbox(scopes=["chat:write", "chat:write.public"]) as sandbox:
        client = slack(sandbox)
        assert (await client.chat_postMessage(channel="C0EMPTY", text="x"))["ok"]
