"""User groups: their members, and the events that the app gets."""

from __future__ import annotations

import pytest

from slack_sandbox.sandbox import Sandbox
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import Slack, refusal


async def test_the_groups_that_are_in_use(client: Slack) -> None:
    groups = (await client.usergroups_list())["usergroups"]
    assert [(one["id"], one["handle"]) for one in groups] == [
        ("S0OPS", "ops"),
        ("S0FINANCE", "finance-leads"),
    ]
    assert not {"users", "user_count"} & set(groups[0]), "only for who asks"


async def test_members_counts_and_disabled_groups_for_who_asks(client: Slack) -> None:
    answer = await client.usergroups_list(
        include_users=True, include_count=True, include_disabled=True
    )
    ops, _, old = answer["usergroups"]
    assert (ops["users"], ops["user_count"], ops["date_delete"]) == (["U0CARL", "U0DANA"], 2, 0)
    assert (old["id"], old["date_delete"] > 0) == ("S0OLD", True)


async def test_the_members_of_one_group(client: Slack) -> None:
    users = (await client.usergroups_users_list(usergroup="S0OPS"))["users"]
    assert users == ["U0CARL", "U0DANA"]
    disabled = await client.usergroups_users_list(usergroup="S0OLD", include_disabled=True)
    assert disabled["users"] == ["U0BOB"]


@pytest.mark.parametrize("group", ["S0NONE", "S0OLD"])
async def test_a_group_that_is_not_in_use(client: Slack, group: str) -> None:
    answer = await refusal(client, "usergroups.users.list", usergroup=group)
    assert answer["error"] == "no_such_subteam"


@pytest.mark.parametrize("method", ["usergroups.list", "usergroups.users.list"])
async def test_a_plan_without_groups(sandbox: Sandbox, client: Slack, method: str) -> None:
    sandbox.groups.available = False
    answer = await refusal(client, method, usergroup="S0OPS")
    assert answer["error"] == "plan_upgrade_required"


async def test_new_members_are_told_as_a_difference_and_as_a_whole(
    sandbox: Sandbox, client: Slack, plain_bot: PlainBot
) -> None:
    sandbox.groups.set_members("S0OPS", ["U0DANA", "U0MARIA"])
    await sandbox.events.wait_delivered()

    events = {body["event"]["type"]: body["event"] for body in plain_bot.events}
    change, whole = events["subteam_members_changed"], events["subteam_updated"]["subteam"]
    assert (change["subteam_id"], change["team_id"]) == ("S0OPS", "T0ACME")
    assert (change["added_users"], change["removed_users"]) == (["U0MARIA"], ["U0CARL"])
    assert (change["added_users_count"], change["removed_users_count"]) == (1, 1)
    assert change["date_previous_update"] < change["date_update"]
    assert (whole["users"], whole["user_count"]) == (["U0DANA", "U0MARIA"], 2)
    answer = await client.usergroups_users_list(usergroup="S0OPS")
    assert answer["users"] == ["U0DANA", "U0MARIA"]


async def test_a_group_is_renamed_disabled_enabled_and_made(
    sandbox: Sandbox, client: Slack, plain_bot: PlainBot
) -> None:
    sandbox.groups.rename("S0OPS", handle="on-call")
    await sandbox.events.wait_delivered()
    sandbox.groups.disable("S0OPS")
    await sandbox.events.wait_delivered()
    assert (await refusal(client, "usergroups.users.list", usergroup="S0OPS"))["error"]
    sandbox.groups.enable("S0OPS")
    await sandbox.events.wait_delivered()
    sandbox.groups.add("S0NEW", "new", "New", ["U0BOB"])

    texts = [body["event"]["subteam"] for body in plain_bot.events]
    assert [(one["handle"], one["date_delete"] > 0) for one in texts] == [
        ("on-call", False),
        ("on-call", True),
        ("on-call", False),
    ]
    assert (await client.usergroups_users_list(usergroup="S0NEW"))["users"] == ["U0BOB"]
