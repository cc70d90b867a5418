"""Microsoft's own SDK for Teams can read what the sandbox answers and sends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from teams_sandbox.login import CONNECTOR
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import TENANT, ids
from tests.teams_sandbox.bots import running_bot
from tests.teams_sandbox.cards import button, buttons, card
from tests.teams_sandbox.conftest import card_activity

# The SDK says so where it is experimental.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


@pytest.fixture
async def api(sandbox: Sandbox) -> AsyncIterator[Any]:
    """The SDK's clients of the Connector."""
    from microsoft_teams.api.clients.conversation import ConversationClient
    from microsoft_teams.api.clients.team import TeamClient
    from microsoft_teams.common import Client, ClientOptions

    token = sandbox.login.entra_token(CONNECTOR)
    http = Client(ClientOptions(timeout=10, token=token))
    conversations = ConversationClient(sandbox.service_url, http)
    yield SimpleNamespace(conversations=conversations, teams=TeamClient(sandbox.service_url, http))
    await http.http.aclose()


async def test_the_sdk_posts_updates_and_deletes(api: Any, sandbox: Sandbox):
    from microsoft_teams.api import MessageActivityInput
    from microsoft_teams.api.clients.conversation import CreateConversationParams

    activity = MessageActivityInput.model_validate(card_activity())
    params = CreateConversationParams(
        channel_data={"channel": {"id": ids.APPROVALS}}, tenant_id=TENANT, activity=activity
    )
    created = await api.conversations.create(params)
    assert created.id == f"{ids.APPROVALS};messageid={created.activity_id}"
    reply = await api.conversations.create_activity(created.id, MessageActivityInput(text="reply"))
    changed = MessageActivityInput(text="other")
    updated = await api.conversations.update_activity(created.id, reply.id, changed)
    assert updated.id == reply.id
    await api.conversations.delete_activity(created.id, reply.id)
    channel = sandbox.workspace.conversations[ids.APPROVALS]
    assert [one.deleted for one in channel.messages.values()] == [False, True]


async def test_the_sdk_reads_members_and_teams(api: Any):
    page = await api.conversations.members_client.get_paged(ids.EVERYONE_TEAM, page_size=100)
    assert (len(page.members), bool(page.continuation_token)) == (100, True)
    alice = await api.conversations.members_client.get_by_id(ids.APPROVALS, ids.ALICE)
    assert (alice.aad_object_id, alice.tenant_id, alice.user_role) == (ids.ALICE, TENANT, "user")
    team = await api.teams.get_by_id(ids.APPROVALS_TEAM)
    assert (team.aad_group_id, team.member_count) == (ids.APPROVALS_GROUP, 5)
    channels = await api.teams.get_conversations(ids.APPROVALS_TEAM)
    assert {one.id for one in channels} >= {ids.APPROVALS, ids.AUDIT}


async def test_the_sdk_reads_all_that_the_sandbox_sends(sandbox: Sandbox):
    from microsoft_teams.api.activities import ActivityTypeAdapter

    workspace, made = sandbox.workspace, sandbox.activities
    alice, bob = workspace.users[ids.ALICE], workspace.users[ids.BOB]
    action = button("Approve")
    async with running_bot() as bot:
        sandbox.bot_url = bot.url
        for place in (workspace.conversations[ids.AUDIT], workspace.open_personal_chat(alice)):
            message = workspace.add_message(place, sandbox.app.mri)
            content = card(buttons(action))
            message.attachments = [{"contentType": "adaptive", "content": content}]
            said = await sandbox.messages.say(alice, place, "approvals", mention=True)
            activities = [
                made.press(alice, place, message, action, {}),
                made.message(alice, place, said),
                made.installation(alice, place, "add"),
                made.installation(alice, place, "remove"),
                made.members_changed(alice, place, "membersAdded", [bob, None]),
                made.team_event(alice, place, "channelRenamed"),
            ]
            for activity in [*activities, *bot.activities]:
                read: Any = ActivityTypeAdapter.validate_python(json.loads(json.dumps(activity)))
                assert read.type == activity["type"]
                assert read.from_.aad_object_id == ids.ALICE
                assert read.conversation.tenant_id == read.channel_data.tenant.id == TENANT
                assert read.service_url == sandbox.service_url
