"""Messages are posted, changed, deleted and whispered as Slack does it."""

from __future__ import annotations

import aiohttp

from bot.sandbox.server import Sandbox, running_sandbox
from tests.sandbox.samples import (
    HERE,
    Slack,
    actions,
    button,
    refusal,
    slack,
    text_field,
)


async def test_a_posted_message_is_kept_as_slack_keeps_it(client: Slack) -> None:
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


async def test_a_very_long_text_is_cut(client: Slack) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="x" * 40_001)
    assert len(answer["message"]["text"]) == 40_000


async def test_timestamps_are_unique_and_increase(client: Slack) -> None:
    sent = [(await client.chat_postMessage(channel=HERE, text="x"))["ts"] for _ in range(20)]
    assert sent == sorted(set(sent))
    assert all(len(ts.split(".")[1]) == 6 for ts in sent)


async def test_an_update_changes_what_it_names_and_keeps_the_rest(client: Slack) -> None:
    metadata = {"event_type": "review", "event_payload": {"id": "r1"}}
    blocks = [actions(button(), block_id="b")]
    ts = (await client.chat_postMessage(channel=HERE, text="a", blocks=blocks, metadata=metadata))[
        "ts"
    ]

    words = await client.chat_update(channel=HERE, ts=ts, text="b")
    assert words["message"]["blocks"][0]["block_id"] == "b"
    assert words["message"]["metadata"] == metadata
    assert words["message"]["edited"]["user"] == "U0APPROVER"
    assert words["ts"] == ts

    bare = await client.chat_update(channel=HERE, ts=ts, text="c", blocks=[], metadata={})
    assert "blocks" not in bare["message"]
    assert "metadata" not in bare["message"]


async def test_the_text_of_an_update_is_short(client: Slack) -> None:
    ts = (await client.chat_postMessage(channel=HERE, text="a"))["ts"]
    await client.chat_update(channel=HERE, ts=ts, text="x" * 4000)
    answer = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x" * 4001)
    assert answer["error"] == "msg_too_long"
    assert (await refusal(client, "chat.update", channel=HERE, ts=ts))["error"] == "no_text"
    await refusal(client, "chat.update", channel=HERE, ts=ts, text="y", blocks=[{"type": "x"}])
    history = await client.conversations_history(channel=HERE)
    assert history["messages"][0]["text"] == "x" * 4000, "what is refused changes nothing"


async def test_the_messages_of_others_are_not_the_apps_to_change(
    sandbox: Sandbox, client: Slack
) -> None:
    async with aiohttp.ClientSession() as session:
        said = {"user": "U0ALICE", "channel": HERE, "text": "mine"}
        async with session.post(f"{sandbox.url}/sandbox/say", json=said) as response:
            ts = (await response.json())["ts"]
    update = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x")
    delete = await refusal(client, "chat.delete", channel=HERE, ts=ts)
    assert (update["error"], delete["error"]) == ("cant_update_message", "cant_delete_message")


async def test_a_deleted_message_is_gone_and_one_with_replies_leaves_a_tombstone(
    client: Slack,
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


async def test_a_reply_to_a_message_that_is_gone_lands_in_the_channel(
    client: Slack,
) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="late", thread_ts="1.000001")
    assert "thread_ts" not in answer["message"]


async def test_a_notice_is_seen_by_one_person_and_found_by_no_method(
    sandbox: Sandbox, client: Slack
) -> None:
    answer = await client.chat_postEphemeral(channel=HERE, user="U0BOB", text="psst")
    ts = answer["message_ts"]
    assert sandbox.workspace.ephemerals[ts].user == "U0BOB"
    update = await refusal(client, "chat.update", channel=HERE, ts=ts, text="x")
    assert update["error"] == "message_not_found"
    assert (await client.conversations_history(channel=HERE))["messages"] == []


async def test_a_permalink_leads_to_the_message(sandbox: Sandbox, client: Slack) -> None:
    ts = (await client.chat_postMessage(channel=HERE, text="a"))["ts"]
    link = (await client.chat_getPermalink(channel=HERE, message_ts=ts))["permalink"]
    assert link == f"{sandbox.url}/archives/{HERE}/p{ts.replace('.', '')}"
    async with (
        aiohttp.ClientSession() as session,
        session.get(link, allow_redirects=False) as response,
    ):
        assert (response.status, response.headers["Location"]) == (302, f"/#{HERE}/{ts}")


async def test_files_are_uploaded_in_three_steps() -> None:
    async with running_sandbox(scopes=["files:write", "chat:write"]) as sandbox:
        client = slack(sandbox)
        await client.files_upload_v2(
            channel=HERE, filename="args.json", content="{}", initial_comment="all of it"
        )
        message = next(iter(sandbox.workspace.channels[HERE].messages.values()))
        file_id = message.files[0]["id"]
        assert (message.text, message.files[0]["name"]) == ("all of it", "args.json")
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{sandbox.url}/files/{file_id}") as response,
        ):
            assert await response.text() == "{}"
        answer = await refusal(client, "files.completeUploadExternal", files=[{"id": "F1"}])
        assert answer["error"] == "file_not_found"


async def test_an_input_may_stand_in_a_message(client: Slack) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="x", blocks=[text_field()])
    assert answer["message"]["blocks"][0]["element"]["type"] == "plain_text_input"
