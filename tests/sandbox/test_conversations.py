"""What the bot reads: history, threads, members, people."""

from __future__ import annotations

from typing import Any

from tests.sandbox.samples import (
    HERE,
    Slack,
)


async def test_threads(client: Slack) -> None:
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


async def test_history_between_two_times(client: Slack) -> None:
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


async def test_metadata_is_shown_to_who_asks(client: Slack) -> None:
    metadata = {"event_type": "review", "event_payload": {"id": "r1"}}
    await client.chat_postMessage(channel=HERE, text="a", metadata=metadata)
    plain_ = await client.conversations_history(channel=HERE)
    full = await client.conversations_history(channel=HERE, include_all_metadata=True)
    assert "metadata" not in plain_["messages"][0]
    assert full["messages"][0]["metadata"] == metadata


async def test_members_and_lists_come_in_pages(client: Slack) -> None:
    first = await client.conversations_members(channel=HERE, limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.conversations_members(channel=HERE, limit=3, cursor=cursor)
    assert first["members"] == ["U0ALICE", "U0BOB", "U0MARIA"]
    assert second["members"] == ["U0APPROVER"]
    assert second["response_metadata"]["next_cursor"] == ""
    channels = await client.conversations_list(
        exclude_archived=True, types="public_channel,private_channel"
    )
    assert {one["name"] for one in channels["channels"]} == {
        "ask-agent",
        "agent-approvals",
        "team-ops",
        "no-bot",
    }


async def test_people(client: Slack) -> None:
    gone = (await client.users_info(user="U0GONE"))["user"]
    guest = (await client.users_info(user="U0GUEST"))["user"]
    assert (gone["deleted"], guest["is_restricted"]) == (True, True)
    members = (await client.users_list(limit=200))["members"]
    assert {"U0ALICE", "U0APPROVER"} <= {one["id"] for one in members}
