"""Graph: people, groups and messages, each with its permission."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import CLIENT_ID, TENANT, ids
from tests.teams_sandbox.conftest import Rest, card_activity, code_of

SELECT = "$select=id,displayName,userType,accountEnabled"
ADVANCED = {"ConsistencyLevel": "eventual"}


async def all_pages(rest: Rest, path: str, **headers: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    next_path: str | None = path
    while next_path:
        answer = await rest.graph(next_path, **headers)
        assert answer.status_code == 200, answer.text
        items += answer.json()["value"]
        next_path = answer.json().get("@odata.nextLink")
    return items


@pytest.mark.parametrize(
    ("user", "kind", "enabled"),
    [(ids.ALICE, "Member", True), (ids.GUEST, "Guest", True), (ids.GONE, "Member", False)],
)
async def test_a_person_has_a_type_and_an_account(rest: Rest, user: str, kind: str, enabled: bool):
    person = (await rest.graph(f"users/{user}?{SELECT}")).json()
    assert (person["id"], person["userType"], person["accountEnabled"]) == (user, kind, enabled)


async def test_type_and_account_come_only_if_they_are_selected(rest: Rest):
    person = (await rest.graph(f"users/{ids.ALICE}")).json()
    assert person["displayName"] == "Alice Ng"
    assert not {"userType", "accountEnabled"} & set(person)
    wrong = await rest.graph(f"users/{ids.ALICE}?$select=colour")
    assert code_of(wrong) == (400, "Request_BadRequest")


@pytest.mark.parametrize("user", [ids.SAM, "00000000-0000-4000-8000-000000000000"])
async def test_somebody_of_another_tenant_or_deleted_is_not_found(rest: Rest, user: str):
    assert code_of(await rest.graph(f"users/{user}")) == (404, "Request_ResourceNotFound")


async def test_members_of_groups_in_a_group_are_members(rest: Rest):
    path = f"groups/{ids.ALL_LEADS_GROUP}/transitiveMembers"
    cast = f"{path}/microsoft.graph.user?$select=id&$count=true&$top=2"
    users = await all_pages(rest, cast, **ADVANCED)
    assert {one["id"] for one in users} == {
        *(ids.ALICE, ids.BOB, ids.CARL, ids.DANA, ids.MARIA, ids.NOAPP)
    }
    kinds = {one["@odata.type"] for one in await all_pages(rest, path)}
    assert kinds == {"#microsoft.graph.user", "#microsoft.graph.group"}


async def test_a_cast_needs_an_advanced_query(rest: Rest):
    path = f"groups/{ids.OPS_GROUP}/transitiveMembers/microsoft.graph.user"
    for query, headers in (("?$count=true", {}), ("", ADVANCED)):
        answer = await rest.graph(path + query, **headers)
        assert code_of(answer) == (400, "Request_UnsupportedQuery")


async def test_a_large_group_comes_in_pages(rest: Rest):
    path = f"groups/{ids.EVERYONE_GROUP}/transitiveMembers?$select=id&$top=999"
    assert len(await all_pages(rest, path)) == ids.CROWD_SIZE + 6
    too_many = await rest.graph(path.replace("999", "1000"))
    assert code_of(too_many) == (400, "Request_BadRequest")


async def test_a_person_knows_their_groups_and_teams(rest: Rest):
    path = f"users/{ids.CARL}/transitiveMemberOf/microsoft.graph.group?$select=id&$count=true"
    groups = {one["id"] for one in await all_pages(rest, path, **ADVANCED)}
    assert groups == {*(ids.OPS_GROUP, ids.ALL_LEADS_GROUP), ids.OPS_TEAM_GROUP, ids.EVERYONE_GROUP}


@pytest.mark.parametrize(
    ("permission", "path"),
    [
        ("User.Read.All", f"users/{ids.ALICE}"),
        ("GroupMember.Read.All", f"groups/{ids.OPS_GROUP}/transitiveMembers"),
        ("GroupMember.Read.All", f"users/{ids.ALICE}/transitiveMemberOf"),
    ],
)
async def test_a_permission_can_be_taken_away(
    rest: Rest, sandbox: Sandbox, permission: str, path: str
):
    assert (await rest.graph(path)).status_code == 200
    sandbox.app.permissions.remove(permission)
    assert code_of(await rest.graph(path)) == (403, "Authorization_RequestDenied")


def channel_path(team: str = ids.APPROVALS_GROUP, channel: str = ids.APPROVALS) -> str:
    return f"teams/{team}/channels/{channel}/messages"


async def test_a_posted_card_is_read_back_with_the_app_that_sent_it(rest: Rest):
    sent = (await rest.post(ids.APPROVALS, card_activity("find me"))).json()["id"]
    await rest.post(f"{ids.APPROVALS};messageid={sent}", card_activity("a reply"))
    [message] = (await rest.graph(channel_path())).json()["value"]
    assert (message["id"], message["from"]["application"]["id"]) == (sent, CLIENT_ID)
    content = json.loads(message["attachments"][0]["content"])
    assert content == card_activity("find me")["attachments"][0]["content"]
    [reply] = (await rest.graph(f"{channel_path()}/{sent}/replies")).json()["value"]
    assert (await rest.graph(f"{channel_path()}/{sent}")).json() == message
    assert (await rest.graph(f"{channel_path()}/{sent}/replies/{reply['id']}")).json() == reply
    for path in (reply["id"], f"{sent}/replies/{sent}"):
        assert code_of(await rest.graph(f"{channel_path()}/{path}")) == (404, "NotFound")
    assert "a reply" in reply["attachments"][0]["content"]
    expanded = (await rest.graph(f"{channel_path()}?$expand=replies")).json()["value"]
    assert [one["id"] for one in expanded[0]["replies"]] == [reply["id"]]


async def test_a_message_of_another_app_has_the_other_apps_id(rest: Rest, sandbox: Sandbox):
    channel = sandbox.workspace.conversations[ids.APPROVALS]
    sandbox.workspace.add_message(channel, f"28:{ids.NOAPP}", "I am not the bot")
    [message] = (await rest.graph(channel_path())).json()["value"]
    assert message["from"]["application"]["id"] == ids.NOAPP


async def test_messages_come_newest_first_in_pages_of_at_most_fifty(rest: Rest):
    sent = [(await rest.post(ids.OPS)).json()["id"] for _ in range(23)]
    found = await all_pages(rest, channel_path(ids.OPS_TEAM_GROUP, ids.OPS))
    assert [one["id"] for one in found] == sent[::-1]
    for wrong in ("$top=51", "$filter=x", "$orderby=createdDateTime desc"):
        assert (await rest.graph(f"{channel_path()}?{wrong}")).status_code == 400


async def test_a_deleted_message_is_empty(rest: Rest):
    sent = (await rest.post(ids.OPS)).json()["id"]
    await rest.delete(ids.OPS, sent)
    [message] = (await rest.graph(channel_path(ids.OPS_TEAM_GROUP, ids.OPS))).json()["value"]
    assert message["deletedDateTime"]
    assert not message["attachments"]


async def test_a_personal_chat_has_another_id_in_graph(rest: Rest):
    """But its messages have the same."""
    body = {"members": [{"id": ids.ALICE}], "tenantId": TENANT}
    chat = (await rest.call("POST", "conversations", body)).json()["id"]
    sent = (await rest.post(chat)).json()["id"]
    path = f"chats/19:{ids.ALICE}_{CLIENT_ID}@unq.gbl.spaces/messages"
    [message] = (await rest.graph(path)).json()["value"]
    assert sent == message["id"]
    assert code_of(await rest.graph(f"chats/{chat}/messages")) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("permission", "path"),
    [
        ("ChannelMessage.Read.Group", channel_path()),
        ("ChatMessage.Read.Chat", f"chats/{ids.GROUP_CHAT}/messages"),
    ],
)
async def test_messages_need_a_permission_of_their_own(
    rest: Rest, sandbox: Sandbox, permission: str, path: str
):
    assert (await rest.graph(path)).status_code == 200
    sandbox.app.permissions.remove(permission)
    assert code_of(await rest.graph(path)) == (403, "Forbidden")


async def test_a_permission_for_a_resource_counts_where_the_app_is(rest: Rest, sandbox: Sandbox):
    path = channel_path(ids.NO_BOT_GROUP, ids.NO_BOT)
    assert code_of(await rest.graph(path)) == (403, "Forbidden")
    sandbox.app.permissions.add("ChannelMessage.Read.All")
    assert (await rest.graph(path)).status_code == 200


async def test_a_fault_of_graph_has_its_operation(rest: Rest, sandbox: Sandbox):
    sandbox.faults.add("limited", "graph_user", retry_after=7, times=1)
    answer: httpx.Response = await rest.graph(f"users/{ids.ALICE}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    assert [(one["operation"], one["error"]) for one in sandbox.graph.calls] == [
        ("graph_user", "limited")
    ]
