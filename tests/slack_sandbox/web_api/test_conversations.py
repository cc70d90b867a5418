"""What the bot reads of channels and direct messages: history, threads, members."""

from __future__ import annotations

from typing import Any

import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from tests.slack_sandbox.samples import HERE, Json, Slack, refusal


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


async def test_a_list_holds_what_the_app_may_know_of(client: Slack) -> None:
    await client.conversations_open(users="U0BOB")
    both = "public_channel,private_channel"
    found = (await client.conversations_list(exclude_archived=True, types=both))["channels"]
    ids = {one["id"] for one in found}
    assert ids >= {"C0APPROVE", "C0EMPTY", "C0SHARED", "G0FINANCE"}
    assert not ids & {"C0OLD", "G0BOARD", "D0BOB"}
    assert {one["id"]: one["num_members"] for one in found}["C0OPS"] == 3
    private = await client.conversations_list(types="private_channel")
    assert [one["id"] for one in private["channels"]] == ["G0FINANCE"]
    direct = (await client.conversations_list(types="im"))["channels"]
    assert [(one["id"], one["user"], one["is_im"]) for one in direct] == [("D0BOB", "U0BOB", True)]
    assert (await client.conversations_list())["channels"][-1]["is_archived"] is True


async def info(client: Slack, channel: str, **args: Any) -> Json:
    return (await client.conversations_info(channel=channel, **args))["channel"]


async def test_how_many_are_in_a_channel_is_told_to_who_asks(client: Slack) -> None:
    assert "num_members" not in await info(client, "C0ALL")
    everyone = await info(client, "C0ALL", include_num_members=True)
    assert everyone["num_members"] == 1206
    members: list[str] = []
    cursor: str | None = None
    while cursor != "":
        page = await client.conversations_members(channel="C0ALL", limit=1000, cursor=cursor)
        members += page["members"]
        cursor = page["response_metadata"]["next_cursor"]
    assert len(set(members)) == 1206


async def test_what_kind_of_channel_it_is(client: Slack) -> None:
    shared, private = await info(client, "C0SHARED"), await info(client, "G0FINANCE")
    assert (shared["is_ext_shared"], shared["is_private"]) == (True, False)
    assert (private["is_ext_shared"], private["is_private"]) == (False, True)
    assert (await info(client, "C0OLD"))["is_archived"] is True


async def test_a_direct_message_is_opened_once(client: Slack, actor: Actor) -> None:
    unknown = await refusal(client, "conversations.open", users="U0ALICE", prevent_creation=True)
    assert unknown["error"] == "channel_not_found"

    first = await client.conversations_open(users="U0ALICE")
    assert first["channel"] == {"id": "D0ALICE"}
    assert "already_open" not in first.data
    again = await client.conversations_open(users=["U0ALICE"], return_im=True)
    assert (again["no_op"], again["already_open"]) == (True, True)
    assert (again["channel"]["user"], again["channel"]["is_im"]) == ("U0ALICE", True)
    resumed = await client.conversations_open(channel="D0ALICE")
    assert resumed["channel"] == {"id": "D0ALICE"}

    assert (await client.conversations_members(channel="D0ALICE"))["members"] == [
        "U0ALICE",
        "U0APPROVER",
    ]
    seen = {one["id"] for one in (await actor.state("U0BOB"))["channels"]}
    assert "D0ALICE" not in seen, "it is between the two"
    mine = {one["id"]: one for one in (await actor.state("U0ALICE"))["channels"]}["D0ALICE"]
    assert (mine["is_im"], mine["im_user"]) == (True, "U0APPROVER")


async def test_a_direct_message_is_read_like_a_channel(sandbox: Sandbox, client: Slack) -> None:
    del sandbox.workspace.channels["D0PAIR"]
    await client.chat_postMessage(channel="U0ALICE", text="psst")
    history = (await client.conversations_history(channel="D0ALICE"))["messages"]
    assert [one["text"] for one in history] == ["psst"]
    named = await refusal(client, "chat.postMessage", channel="#directmessage", text="x")
    assert named["error"] == "channel_not_found", "it has no name"
    direct = await info(client, "D0ALICE", include_num_members=True)
    assert (direct["user"], direct["is_user_deleted"]) == ("U0ALICE", False)
    assert not {"name", "num_members"} & set(direct)


@pytest.mark.parametrize(
    ("error", "args"),
    [
        ("users_list_not_supplied", {}),
        ("user_not_found", {"users": "U0NOBODY"}),
        ("user_disabled", {"users": "U0GONE"}),
        ("cannot_dm_bot", {"users": "U0AGENT"}),
        ("missing_scope", {"users": "U0ALICE,U0BOB"}),
        ("method_not_supported_for_channel_type", {"channel": "C0OPS"}),
        ("channel_not_found", {"channel": "D0ALICE"}),
    ],
)
async def test_whom_no_direct_message_opens_to(client: Slack, error: str, args: Json) -> None:
    assert (await refusal(client, "conversations.open", **args))["error"] == error


async def test_a_stranger_is_met_in_a_shared_channel_or_not_at_all(
    sandbox: Sandbox, client: Slack
) -> None:
    own = await client.conversations_open(users="U0GUEST")
    assert own["ok"], "who is in no channel, but of the workspace"
    assert (await client.conversations_open(users="U0SAM"))["channel"]["id"] == "D0SAM"
    del sandbox.workspace.channels["D0SAM"]
    sandbox.channels.leave("C0SHARED", "U0SAM")
    answer = await refusal(client, "conversations.open", users="U0SAM")
    assert answer["error"] == "invalid_user_combination"
    answer = await refusal(client, "chat.postMessage", channel="U0SAM", text="x")
    assert answer["error"] == "channel_not_found"
