"""The people of the workspace in the Web API, and the events about them."""

from __future__ import annotations

from typing import Any

import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from slack_sandbox.workspace.objects import User
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import Json, Slack, post, refusal, slack


async def info(client: Slack, user: str) -> Json:
    return (await client.users_info(user=user))["user"]


async def test_a_member_is_shown_whole(client: Slack) -> None:
    dana = await info(client, "U0DANA")
    assert (dana["id"], dana["team_id"], dana["real_name"]) == ("U0DANA", "T0ACME", "Dana Okoye")
    assert (dana["is_admin"], dana["is_owner"], dana["deleted"]) == (True, True, False)
    assert (dana["is_restricted"], dana["is_ultra_restricted"], dana["is_bot"]) == (False,) * 3
    assert dana["profile"]["display_name"] == "dana"
    assert "is_stranger" not in dana


@pytest.mark.parametrize(
    ("user", "restricted", "ultra"), [("U0GINA", True, False), ("U0SOLO", True, True)]
)
async def test_guests_of_several_channels_and_of_one(
    client: Slack, user: str, restricted: bool, ultra: bool
) -> None:
    guest = await info(client, user)
    assert (guest["is_restricted"], guest["is_ultra_restricted"]) == (restricted, ultra)


async def test_of_somebody_deactivated_slack_tells_little(client: Slack) -> None:
    gone = await info(client, "U0GONE")
    assert gone["deleted"] is True
    assert gone["profile"]["real_name"] == "Gil Gone"
    assert not {"real_name", "tz", "is_admin", "is_restricted"} & set(gone)


async def test_a_bot_says_so(client: Slack) -> None:
    app, agent = await info(client, "U0APPROVER"), await info(client, "U0AGENT")
    assert (app["is_bot"], app["profile"]["bot_id"]) == (True, "B0APPROVER")
    assert (agent["is_bot"], agent["is_workflow_bot"]) == (True, False)


async def test_who_comes_through_slack_connect_is_a_stranger_only_where_no_channel_is_shared(
    sandbox: Sandbox, client: Slack
) -> None:
    sam = await info(client, "U0SAM")
    assert (sam["team_id"], sam["profile"]["team"]) == ("T0GLOBEX", "T0GLOBEX")
    assert "is_stranger" not in sam

    sandbox.channels.leave("C0SHARED", "U0SAM")

    assert (await info(client, "U0SAM"))["is_stranger"] is True


async def test_a_stranger_sees_and_clicks_in_what_is_shared_with_them(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    seen = {one["id"] for one in (await actor.state("U0SAM"))["channels"]}
    assert seen == {"C0SHARED"}
    ts = await post(client, channel="C0SHARED")
    assert (await actor.click("U0SAM", "C0SHARED", ts, "approve", block_id="b1"))["ok"]
    payload = plain_bot.payloads[0]
    assert (payload["user"]["team_id"], payload["team"]["id"]) == ("T0GLOBEX", "T0ACME")


async def test_one_of_the_crowd_is_a_member_like_others(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    assert (await info(client, "U0CROWD0007"))["real_name"] == "Crowd Member 7"
    ts = await post(client, channel="C0ALL")
    assert (await actor.click("U0CROWD0007", "C0ALL", ts, "approve", block_id="b1"))["ok"]
    assert plain_bot.payloads[0]["user"]["username"] == "crowd7"
    shown = {one["id"] for one in (await actor.state())["users"]}
    assert "U0CROWD0007" not in shown, "a page could not list them all"


async def test_an_address_is_told_with_its_scope_alone(client: Slack) -> None:
    assert "email" not in (await info(client, "U0BOB"))["profile"]
    assert (await refusal(client, "users.lookupByEmail", email="a@b"))["needed"] == (
        "users:read.email"
    )
    async with running_sandbox(scopes=["users:read", "users:read.email"]) as sandbox:
        client = slack(sandbox)
        email = (await info(client, "U0BOB"))["profile"]["email"]
        assert (await client.users_lookupByEmail(email=email))["user"]["id"] == "U0BOB"
        for nobody in ("nobody@acme.example", "gone@acme.example"):
            answer = await refusal(client, "users.lookupByEmail", email=nobody)
            assert answer["error"] == "users_not_found"


async def test_everybody_is_listed_in_pages(client: Slack) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while cursor != "":
        page = await client.users_list(limit=500, cursor=cursor)
        seen += [one["id"] for one in page["members"]]
        cursor = page["response_metadata"]["next_cursor"]
    assert {"U0ALICE", "U0APPROVER", "U0GONE", "U0CROWD0001", "U0CROWD1200"} <= set(seen)
    assert len(seen) == len(set(seen))


async def conversations(client: Slack, **args: Any) -> set[str]:
    answer = await client.users_conversations(**args)
    return {one["id"] for one in answer["channels"]}


async def test_the_conversations_of_a_person_as_far_as_the_app_sees_them(client: Slack) -> None:
    both = "public_channel,private_channel"
    dana = await conversations(client, user="U0DANA", types=both)
    assert dana == {"C0ASK", "C0OPS", "C0ALL"}, "not G0BOARD, where the app is not"
    alice = await conversations(client, user="U0ALICE", types=both)
    assert alice >= {"C0EMPTY", "C0OLD", "G0FINANCE"}
    assert "C0OLD" not in await conversations(client, user="U0ALICE", exclude_archived=True)
    assert await conversations(client, user="U0ALICE", types="private_channel") == {"G0FINANCE"}
    assert "C0EMPTY" not in await conversations(client), "those of the app itself"


async def test_a_direct_message_is_a_conversation_of_the_two(client: Slack) -> None:
    await client.conversations_open(users="U0ALICE")
    assert await conversations(client, user="U0ALICE", types="im") == {"D0ALICE"}
    assert await conversations(client, user="U0BOB", types="im") == set()


async def test_conversations_come_in_pages_without_what_is_told_of_channels_elsewhere(
    client: Slack,
) -> None:
    first = await client.users_conversations(user="U0ALICE", limit=2)
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.users_conversations(user="U0ALICE", limit=999, cursor=cursor)
    whole = await client.users_conversations(user="U0ALICE")
    assert first["channels"] + second["channels"] == whole["channels"]
    assert not {"is_member", "num_members"} & set(whole["channels"][0])


async def test_a_change_is_told_with_the_person_as_they_are_now(
    sandbox: Sandbox, client: Slack, plain_bot: PlainBot
) -> None:
    sandbox.users.rename("U0BOB", "Robert Reyes")
    await sandbox.events.wait_delivered()
    sandbox.users.make_guest("U0BOB", single_channel=True)
    await sandbox.events.wait_delivered()
    sandbox.users.make_member("U0BOB")
    sandbox.users.deactivate("U0CARL")
    await sandbox.events.wait_delivered()
    sandbox.users.reactivate("U0CARL")
    await sandbox.events.wait_delivered()

    text = [body["event"] for body in plain_bot.events]
    assert [one["type"] for one in text] == ["user_change"] * 5
    assert text[0]["user"]["real_name"] == "Robert Reyes"
    assert text[1]["user"]["is_ultra_restricted"] is True
    assert [one["user"]["deleted"] for one in text[2:]].count(True) == 1
    assert text[4]["user"] == await info(client, "U0CARL")
    assert "U0CARL" in (await client.conversations_members(channel="C0OPS"))["members"]


async def test_who_is_new_can_be_asked_about(
    sandbox: Sandbox, client: Slack, plain_bot: PlainBot
) -> None:
    sandbox.users.add(User("U0NEW", "new", "Nell New"))
    await sandbox.events.wait_delivered()
    assert (await info(client, "U0NEW"))["real_name"] == "Nell New"
    assert plain_bot.events == [], "the app did not subscribe to team_join"
