"""The Web API refuses what Slack refuses, by Slack's names, and keeps what it takes."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.server import BOT_TOKEN, Sandbox, running_sandbox
from tests.sandbox.samples import actions, button, mrkdwn, text_field

HERE = "C0APPROVE"


async def refusal(client: AsyncWebClient, method: str, **args: Any) -> dict[str, Any]:
    """The answer of a call that must fail."""
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=args)
    answer = caught.value.response.data
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_token_is_needed_and_has_to_be_the_right_one(sandbox: Sandbox, verb: str) -> None:
    async with aiohttp.ClientSession() as session:
        for token, error in ((None, "not_authed"), ("xoxb-other", "invalid_auth")):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            url = sandbox.api_url + "auth.test"
            async with session.request(verb, url, headers=headers) as response:
                assert response.status == 200
                assert await response.json() == {"ok": False, "error": error}


async def test_auth_test_tells_who_the_bot_is(client: AsyncWebClient) -> None:
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


@pytest.mark.parametrize(
    ("body", "error"), [("{", "invalid_json"), ("[1]", "json_not_object")]
)
async def test_a_body_that_is_no_json_object(sandbox: Sandbox, body: str, error: str) -> None:
    headers = {"Authorization": f"Bearer {BOT_TOKEN}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(sandbox.api_url + "auth.test", data=body) as response:
            assert (await response.json())["error"] == error


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
    ("invalid_blocks_format", "chat.postMessage", {"channel": HERE, "text": "x", "blocks": {"a": 1}}),
    ("invalid_blocks", "chat.postMessage", {"channel": HERE, "text": "x", "blocks": [{"type": "x"}]}),
    ("invalid_metadata_format", "chat.postMessage", {"channel": HERE, "text": "x", "metadata": "{"}),
    ("invalid_metadata_schema", "chat.postMessage", {"channel": HERE, "text": "x", "metadata": {"a": 1}}),
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
    ("not_in_channel", "chat.postEphemeral", {"channel": "C0EMPTY", "user": "U0ALICE", "text": "x"}),
    ("message_not_found", "chat.getPermalink", {"channel": HERE, "message_ts": "1.000001"}),
    ("channel_not_found", "conversations.info", {"channel": "G0BOARD"}),
    ("channel_not_found", "conversations.members", {"channel": "C0NOWHERE"}),
    ("invalid_cursor", "conversations.members", {"channel": HERE, "cursor": "zzz"}),
    ("not_in_channel", "conversations.history", {"channel": "C0EMPTY"}),
    ("invalid_ts_oldest", "conversations.history", {"channel": HERE, "oldest": "monday"}),
    ("thread_not_found", "conversations.replies", {"channel": HERE, "ts": "1.000001"}),
    ("user_not_found", "users.info", {"user": "U0NOBODY"}),
    ("missing_scope", "usergroups.list", {}),
    ("missing_scope", "files.getUploadURLExternal", {"filename": "a", "length": 1}),
]


@pytest.mark.parametrize(("error", "method", "args"), REFUSED)
async def test_what_slack_refuses(
    client: AsyncWebClient, error: str, method: str, args: dict[str, Any]
) -> None:
    assert (await refusal(client, method, **args))["error"] == error


async def test_invalid_blocks_say_where(client: AsyncWebClient) -> None:
    blocks = [{"type": "section", "text": mrkdwn("x" * 3001)}]
    answer = await refusal(client, "chat.postMessage", channel=HERE, text="x", blocks=blocks)
    assert answer["errors"] == [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ]
    assert answer["response_metadata"]["messages"][1] == f"[ERROR] {answer['errors'][1]}"


async def test_the_blocks_of_a_message_may_not_hold_too_much_in_all(client: AsyncWebClient) -> None:
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
        ("users.info", {"user": "U0ALICE"}, "users:read"),
    ],
)
async def test_a_scope_that_the_app_lacks(method: str, args: dict[str, Any], needed: str) -> None:
    async with running_sandbox(scopes=["reactions:write"]) as sandbox:
        client = AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url)
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
        client = AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url)
        info = await refusal(client, "conversations.info", channel="G0BOARD")
        history = await refusal(client, "conversations.history", channel="G0BOARD")
    assert (info["needed"], history["needed"]) == ("groups:read", "groups:history")


async def test_a_public_channel_takes_posts_of_the_uninvited_with_the_scope() -> None:
    async with running_sandbox(scopes=["chat:write", "chat:write.public"]) as sandbox:
        client = AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url)
        assert (await client.chat_postMessage(channel="C0EMPTY", text="x"))["ok"]


async def test_a_posted_message_is_kept_as_slack_keeps_it(client: AsyncWebClient) -> None:
    text = "Tom & <b> &amp; <@U0ALICE> see https://x.example/a?b=1&c=2. <https://y.example|y>"
    answer = await client.chat_postMessage(channel="#agent-approvals", text=text)
    message = answer["message"]
    assert answer["channel"] == HERE
    assert message["text"] == (
        "Tom &amp; &lt;b&gt; &amp; <@U0ALICE> see <https://x.example/a?b=1&amp;c=2>. "
        "<https://y.example|y>"
    )
    assert (message["user"], message["bot_id"], message["app_id"]) == (
        "U0APPROVER",
        "B0APPROVER",
        "A0APPROVER",
    )


async def test_a_very_long_text_is_cut(client: AsyncWebClient) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="x" * 40_001)
    assert len(answer["message"]["text"]) == 40_000


async def test_timestamps_are_unique_and_increase(client: AsyncWebClient) -> None:
    sent = [(await client.chat_postMessage(channel=HERE, text="x"))["ts"] for _ in range(20)]
    assert sent == sorted(set(sent))
    assert all(len(ts.split(".")[1]) == 6 for ts in sent)


async def test_an_update_changes_what_it_names_and_keeps_the_rest(client: AsyncWebClient) -> None:
    metadata = {"event_type": "review", "event_payload": {"id": "r1"}}
    blocks = [actions(button(), block_id="b")]
    ts = (await client.chat_postMessage(channel=HERE, text="a", blocks=blocks, metadata=metadata))["ts"]

    words = await client.chat_update(channel=HERE, ts=ts, text="b")
    assert words["message"]["blocks"][0]["block_id"] == "b"
    assert words["message"]["metadata"] == metadata
    assert words["message"]["edited"]["user"] == "U0APPROVER"
    assert words["ts"] == ts

    bare = await client.chat_update(channel=HERE, ts=ts, text="c", blocks=[], metadata={})
    assert "blocks" not in bare["message"]
    assert "metadata" not in bare["message"]


async def test_the_text_of_an_update_is_short(client: AsyncWebClient) -> None:
    ts = (await client.chat_postMessage(channel=HERE, text="a"))["ts"]
    await client.chat_update(channel=HERE, ts=ts, text="x" * 4000)
    answer = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x" * 4001)
    assert answer["error"] == "msg_too_long"
    assert (await refusal(client, "chat.update", channel=HERE, ts=ts))["error"] == "no_text"
    await refusal(client, "chat.update", channel=HERE, ts=ts, text="y", blocks=[{"type": "x"}])
    history = await client.conversations_history(channel=HERE)
    assert history["messages"][0]["text"] == "x" * 4000, "what is refused changes nothing"


async def test_the_messages_of_others_are_not_the_apps_to_change(
    sandbox: Sandbox, client: AsyncWebClient
) -> None:
    async with aiohttp.ClientSession() as session:
        said = {"user": "U0ALICE", "channel": HERE, "text": "mine"}
        async with session.post(f"{sandbox.url}/sandbox/say", json=said) as response:
            ts = (await response.json())["ts"]
    update = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x")
    delete = await refusal(client, "chat.delete", channel=HERE, ts=ts)
    assert (update["error"], delete["error"]) == ("cant_update_message", "cant_delete_message")


async def test_a_deleted_message_is_gone_and_one_with_replies_leaves_a_tombstone(
    client: AsyncWebClient,
) -> None:
    lone = (await client.chat_postMessage(channel=HERE, text="lone"))["ts"]
    head = (await client.chat_postMessage(channel=HERE, text="head"))["ts"]
    await client.chat_postMessage(channel=HERE, text="reply", thread_ts=head)
    await client.chat_delete(channel=HERE, ts=lone)
    await client.chat_delete(channel=HERE, ts=head)
    messages = (await client.conversations_history(channel=HERE))["messages"]
    assert [(one["ts"], one.get("subtype")) for one in messages] == [(head, "tombstone")]
    again = await refusal(client, "chat.delete", channel=HERE, ts=head)
    assert again["error"] == "message_not_found"


async def test_a_reply_to_a_message_that_is_gone_lands_in_the_channel(client: AsyncWebClient) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="late", thread_ts="1.000001")
    assert "thread_ts" not in answer["message"]


async def test_threads(client: AsyncWebClient) -> None:
    head = (await client.chat_postMessage(channel=HERE, text="head"))["ts"]
    first = (await client.chat_postMessage(channel=HERE, text="one", thread_ts=head))["ts"]
    await client.chat_postMessage(channel=HERE, text="two", thread_ts=first)
    history = (await client.conversations_history(channel=HERE))["messages"]
    assert [(one["text"], one["reply_count"]) for one in history] == [("head", 2)]
    replies = await client.conversations_replies(channel=HERE, ts=head, limit=2)
    assert [one["text"] for one in replies["messages"]] == ["head", "one"]
    cursor = replies["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel=HERE, ts=head, limit=2, cursor=cursor)
    assert [(one["text"], one["thread_ts"]) for one in rest["messages"]] == [("two", head)]


async def test_history_between_two_times(client: AsyncWebClient) -> None:
    a, b, c = [(await client.chat_postMessage(channel=HERE, text=t))["ts"] for t in "abc"]

    async def texts(**args: Any) -> str:
        found = await client.conversations_history(channel=HERE, **args)
        return "".join(one["text"] for one in found["messages"])

    assert await texts() == "cba"
    assert await texts(oldest=a) == "cb"
    assert await texts(oldest=a, latest=c) == "b"
    assert await texts(oldest=a, latest=c, inclusive=True) == "cba"
    assert await texts(latest=b, inclusive=True, limit=1) == "b"
    page = await client.conversations_history(channel=HERE, limit=2)
    assert page["has_more"] is True
    assert await texts(limit=2, cursor=page["response_metadata"]["next_cursor"]) == "a"


async def test_metadata_is_shown_to_who_asks(client: AsyncWebClient) -> None:
    metadata = {"event_type": "review", "event_payload": {"id": "r1"}}
    await client.chat_postMessage(channel=HERE, text="a", metadata=metadata)
    plain_ = await client.conversations_history(channel=HERE)
    full = await client.conversations_history(channel=HERE, include_all_metadata=True)
    assert "metadata" not in plain_["messages"][0]
    assert full["messages"][0]["metadata"] == metadata


async def test_members_and_lists_come_in_pages(client: AsyncWebClient) -> None:
    first = await client.conversations_members(channel=HERE, limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.conversations_members(channel=HERE, limit=3, cursor=cursor)
    assert first["members"] == ["U0ALICE", "U0BOB", "U0MARIA"]
    assert second["members"] == ["U0APPROVER"]
    assert second["response_metadata"]["next_cursor"] == ""
    channels = await client.conversations_list(exclude_archived=True, types="public_channel,private_channel")
    assert {one["name"] for one in channels["channels"]} == {
        "ask-agent",
        "agent-approvals",
        "team-ops",
        "no-bot",
    }


async def test_people(client: AsyncWebClient) -> None:
    gone = (await client.users_info(user="U0GONE"))["user"]
    guest = (await client.users_info(user="U0GUEST"))["user"]
    assert (gone["deleted"], guest["is_restricted"]) == (True, True)
    members = (await client.users_list(limit=200))["members"]
    assert {"U0ALICE", "U0APPROVER"} <= {one["id"] for one in members}


async def test_a_notice_is_seen_by_one_person_and_found_by_no_method(
    sandbox: Sandbox, client: AsyncWebClient
) -> None:
    answer = await client.chat_postEphemeral(channel=HERE, user="U0BOB", text="psst")
    ts = answer["message_ts"]
    assert sandbox.workspace.ephemerals[ts].user == "U0BOB"
    update = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x")
    assert update["error"] == "message_not_found"
    assert (await client.conversations_history(channel=HERE))["messages"] == []


async def test_a_permalink_leads_to_the_message(sandbox: Sandbox, client: AsyncWebClient) -> None:
    ts = (await client.chat_postMessage(channel=HERE, text="a"))["ts"]
    link = (await client.chat_getPermalink(channel=HERE, message_ts=ts))["permalink"]
    assert link == f"{sandbox.url}/archives/{HERE}/p{ts.replace('.', '')}"
    async with aiohttp.ClientSession() as session:
        async with session.get(link, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (302, f"/#{HERE}/{ts}")


async def test_files_are_uploaded_in_three_steps() -> None:
    async with running_sandbox(scopes=["files:write", "chat:write"]) as sandbox:
        client = AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url)
        await client.files_upload_v2(
            channel=HERE, filename="args.json", content="{}", initial_comment="all of it"
        )
        message = next(iter(sandbox.workspace.channels[HERE].messages.values()))
        file_id = message.files[0]["id"]
        assert (message.text, message.files[0]["name"]) == ("all of it", "args.json")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{sandbox.url}/files/{file_id}") as response:
                assert await response.text() == "{}"
        answer = await refusal(client, "files.completeUploadExternal", files=[{"id": "F1"}])
        assert answer["error"] == "file_not_found"


async def test_an_input_may_stand_in_a_message(client: AsyncWebClient) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="x", blocks=[text_field()])
    assert answer["message"]["blocks"][0]["element"]["type"] == "plain_text_input"
