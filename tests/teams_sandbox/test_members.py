"""Who is in a conversation, by the Connector."""

from __future__ import annotations

import pytest

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import GLOBEX_TENANT, TENANT, ids
from tests.teams_sandbox.conftest import Rest, code_of


@pytest.mark.parametrize("name", ["id", "mri", "upn"])
async def test_a_member_is_found_by_each_name(rest: Rest, sandbox: Sandbox, name: str):
    alice = sandbox.workspace.users[ids.ALICE]
    path = f"conversations/{ids.APPROVALS}/members/{getattr(alice, name)}"
    account = (await rest.get(path)).json()
    assert (account["objectId"], account["id"]) == (ids.ALICE, alice.mri)
    assert (account["tenantId"], account["userPrincipalName"]) == (TENANT, "alice@acme.example")


async def test_who_is_no_member_is_not_found(rest: Rest):
    found = await rest.get(f"conversations/{ids.APPROVALS}/members/{ids.CARL}")
    assert code_of(found) == (404, "MemberNotFoundInConversation")


async def test_somebody_of_another_tenant_is_told_by_the_tenant(rest: Rest):
    account = (await rest.get(f"conversations/{ids.EXTERNAL_CHAT}/members/{ids.SAM}")).json()
    assert account["tenantId"] == GLOBEX_TENANT
    assert "email" not in account


async def test_all_members_come_in_pages(rest: Rest):
    names: list[str] = []
    token, pages = "", 0
    while token is not None:
        more = f"&continuationToken={token}" if token else ""
        path = f"conversations/{ids.EVERYONE_TEAM}/pagedMembers?pageSize=500{more}"
        page = (await rest.get(path)).json()
        names += [one["objectId"] for one in page["members"]]
        token, pages = page.get("continuationToken"), pages + 1
    assert (pages, len(set(names))) == (3, ids.CROWD_SIZE + 6)


async def test_a_page_has_fifty_at_least(rest: Rest):
    path = f"conversations/{ids.EVERYONE_TEAM}/pagedmembers?pageSize=2"
    assert len((await rest.get(path)).json()["members"]) == 50


async def test_a_team_tells_its_group_and_its_channels(rest: Rest):
    team = (await rest.get(f"teams/{ids.APPROVALS_TEAM}")).json()
    assert (team["aadGroupId"], team["name"]) == (ids.APPROVALS_GROUP, "Agent approvals")
    listed = (await rest.get(f"teams/{ids.APPROVALS_TEAM}/conversations")).json()["conversations"]
    names = {one["id"]: one["name"] for one in listed}
    assert names[ids.APPROVALS] is None, "General has no name"
    assert ids.PRIVATE not in names


async def test_members_are_refused_where_the_bot_is_not(rest: Rest):
    for path in (f"conversations/{ids.NO_BOT}/members", f"teams/{ids.NO_BOT_TEAM}"):
        assert code_of(await rest.get(path)) == (403, "BotNotInConversationRoster")
