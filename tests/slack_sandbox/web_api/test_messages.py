"""Messages are posted, changed, deleted, or shown to one person only, as in Slack."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import (
    CARD,
    HERE,
    Slack,
    actions,
    button,
    mrkdwn,
    plain,
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
        text = {"user": "U0ALICE", "channel": HERE, "text": "mine"}
        async with session.post(f"{sandbox.url}/sandbox/say", json=text) as response:
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
            session.get(f"{sandbox.url}/files/{file_id}?user=U0ALICE") as response,
        ):
            assert await response.text() == "{}"
        answer = await refusal(client, "files.completeUploadExternal", files=[{"id": "F1"}])
        assert answer["error"] == "file_not_found"


async def test_an_input_may_stand_in_a_message(client: Slack) -> None:
    answer = await client.chat_postMessage(channel=HERE, text="x", blocks=[text_field()])
    assert answer["message"]["blocks"][0]["element"]["type"] == "plain_text_input"


async def test_a_message_to_a_person_goes_to_their_direct_message(
    client: Slack, actor: Actor
) -> None:
    answer = await client.chat_postMessage(channel="U0ALICE", text="for you", blocks=CARD)
    assert answer["channel"] == "D0ALICE"
    [card] = await actor.messages("D0ALICE", "U0ALICE")
    assert card["ts"] == answer["ts"]
    assert await actor.messages("D0ALICE", "U0BOB") == []

    await client.chat_update(channel="D0ALICE", ts=answer["ts"], text="decided", blocks=[])
    other = await refusal(client, "chat.update", channel="U0ALICE", ts=answer["ts"], text="x")
    assert other["error"] == "channel_not_found"
    again = await client.chat_postMessage(channel="D0ALICE", text="more")
    await client.chat_postEphemeral(channel="D0ALICE", user="U0ALICE", text="psst")
    assert again["channel"] == "D0ALICE"
    calls = await actor.calls("chat.postMessage")
    assert [one["args"]["channel"] for one in calls] == ["U0ALICE", "D0ALICE"]


async def test_a_click_in_a_direct_message_names_it(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    ts = (await client.chat_postMessage(channel="U0ALICE", text="for you", blocks=CARD))["ts"]
    await actor.click("U0ALICE", "D0ALICE", ts, "approve", block_id="b1")
    assert plain_bot.payloads[0]["channel"] == {"id": "D0ALICE", "name": "directmessage"}
    assert plain_bot.payloads[0]["container"]["channel_id"] == "D0ALICE"


async def test_slack_takes_what_nobody_will_read(sandbox: Sandbox, client: Slack) -> None:
    """A message to somebody deactivated is accepted, and so is one in a direct message that was there."""
    assert (await client.chat_postMessage(channel="U0GONE", text="x"))["ok"]
    await client.conversations_open(users="U0BOB")
    sandbox.users.deactivate("U0BOB")
    assert (await client.chat_postMessage(channel="D0BOB", text="x"))["ok"]


async def test_nobody_writes_to_an_app_that_only_wants_to_be_read(
    sandbox: Sandbox, client: Slack, actor: Actor
) -> None:
    await client.conversations_open(users="U0ALICE")
    assert (await actor.say("U0ALICE", "D0ALICE", "hello"))["ok"] is False
    can = {one["id"]: one["can_write"] for one in (await actor.state("U0ALICE"))["channels"]}
    assert (can["D0ALICE"], can["D0PAIR"], can["C0OLD"], can["C0OPS"]) == (
        False,
        True,
        False,
        False,
    )
    sandbox.app.messages_tab_read_only = False
    assert (await actor.say("U0ALICE", "D0ALICE", "hello"))["ok"]


async def test_an_app_without_a_messages_tab_has_no_direct_messages(
    sandbox: Sandbox, client: Slack
) -> None:
    sandbox.app.messages_tab = False
    answer = await refusal(client, "chat.postMessage", channel="U0ALICE", text="x")
    assert answer["error"] == "messages_tab_disabled"


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    section = {"type": "rich_text_section", "elements": list(elements)}
    return {"type": "rich_text", "elements": [section]}


NOTIFYING: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("a person", {"text": "<@U0BOB> look"}, {("U0BOB", "mention")}),
    ("with a label", {"text": "<@U0BOB|bob>"}, {("U0BOB", "mention")}),
    ("not a member", {"text": "<@U0CARL>"}, set()),
    (
        "a group, of which some are here",
        {"text": "<!subteam^S0FINANCE> <!subteam^S0OPS|@ops> <@U0BOB>"},
        {("U0ALICE", "group"), ("U0MARIA", "group"), ("U0BOB", "mention")},
    ),
    (
        "everybody",
        {"text": "<!here>"},
        {("U0ALICE", "channel"), ("U0BOB", "channel"), ("U0MARIA", "channel")},
    ),
    (
        "blocks, and not the text beside them",
        {"text": "<@U0MARIA>", "blocks": [{"type": "section", "text": mrkdwn("<@U0BOB>")}]},
        {("U0BOB", "mention")},
    ),
    ("plain text", {"text": "x", "blocks": [{"type": "header", "text": plain("<@U0BOB>")}]}, set()),
    (
        "rich text",
        {
            "text": "x",
            "blocks": [
                rich(
                    {"type": "text", "text": "<@U0MARIA>"},
                    {"type": "user", "user_id": "U0BOB"},
                    {"type": "usergroup", "usergroup_id": "S0OPS"},
                )
            ],
        },
        {("U0BOB", "mention")},
    ),
    ("nobody", {"text": "hello"}, set()),
]


@pytest.mark.parametrize(
    ("message", "rung"), [row[1:] for row in NOTIFYING], ids=[row[0] for row in NOTIFYING]
)
async def test_whose_bell_rings(
    sandbox: Sandbox, client: Slack, message: dict[str, Any], rung: set[tuple[str, str]]
) -> None:
    await client.chat_postMessage(channel=HERE, **message)
    assert {(one.user, one.why) for one in sandbox.workspace.notifications} == rung


async def test_a_direct_message_rings_and_an_edit_does_not(client: Slack, actor: Actor) -> None:
    posted = await client.chat_postMessage(channel="U0BOB", text="for you")
    await client.chat_update(channel="D0BOB", ts=posted["ts"], text="<@U0BOB>")
    assert await actor.notifications("U0BOB") == [
        {"user": "U0BOB", "channel": "D0BOB", "ts": posted["ts"], "why": "dm"}
    ]
    assert await actor.notifications("U0ALICE") == []
