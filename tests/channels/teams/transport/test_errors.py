"""What the bot makes of Teams' answers: an error proves no more than Teams documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.contract import (
    LookupFailed,
    MessageGone,
    NotFound,
    NotSent,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from bot.channels.teams import TeamsChannel
from bot.health import Health
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.channels.teams.transport.calls import (
    ALICE,
    CARD,
    ROOM,
    error,
)
from tests.support.teams.local import credentials, install_everywhere


def activities(sandbox: Sandbox) -> list[Any]:
    """The bodies of all messages that were sent."""
    calls = sandbox.connector.calls
    return [one["body"] for one in calls if one["operation"] in ("post", "update")]


async def test_text_and_a_card_are_never_in_one_activity(sandbox: Sandbox, channel: TeamsChannel):
    """Teams would split it into two messages, and would not say their ids."""
    ref = await channel.post(ROOM, CARD)
    await channel.post_plain(ROOM, CARD)
    await channel.update(ROOM, ref, CARD)
    for one in activities(sandbox):
        assert "text" not in one
        assert len(one["attachments"]) == 1
        assert one["summary"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "Bad Argument", Undeliverable),
        (401, "Unauthorized", NotSent),
        (401, "BotNotRegistered", NotSent),
        (403, "BotDisabledByAdmin", NotSent),
        (403, "BotNotInConversationRoster", NotFound),
        (403, "ConversationBlockedByUser", NotFound),
        (403, "ForbiddenOperationException", NotFound),
        (403, "InvalidBotApiHost", NotSent),
        (403, "NotEnoughPermissions", Undeliverable),
        (404, "ConversationNotFound", NotFound),
        (404, "ActivityNotFoundInConversation", MessageGone),
        (302, "", Unreachable),
        (403, "", Unreachable),
        (404, "", Unreachable),
        (407, "", Unreachable),
        (409, "Conflict", Unreachable),
        (400, "", Undeliverable),
        (413, "", Undeliverable),
        (400, "BadSyntax", Undeliverable),
        (400, "ConversationNotFound", Undeliverable),
        (408, "", Unreachable),
        (412, "PreconditionFailed", NotSent),
        (413, "MessageSizeTooBig", Undeliverable),
        (400, "ConversationBlockedByUser", Undeliverable),
        (500, "ServiceError", Unreachable),
        (502, "ServiceError", Unreachable),
        (503, "", Unreachable),
        (504, "", Unreachable),
    ],
)
async def test_an_error_proves_no_more_than_teams_documents(
    sandbox: Sandbox, channel: TeamsChannel, status: int, code: str, kind: type[Exception]
):
    """Given an answer to a post; then only documented codes with their status say that nothing can be posted
    there, or that a message is gone. An answer without a code is a gateway's, and refuses no card."""
    sandbox.faults.add("answer", "post", status=status, body=error(code) if code else "")
    with pytest.raises(kind) as raised:
        await channel.post(ROOM, CARD)
    assert type(raised.value) is kind
    assert ids.APPROVALS not in str(raised.value)


async def test_a_person_who_blocked_the_app_is_not_found(sandbox: Sandbox, channel: TeamsChannel):
    sandbox.workspace.users[ids.ALICE].has_blocked = True
    with pytest.raises(NotFound, match="blocked"):
        await channel.post(ALICE, CARD)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ConversationBlockedByUser", NotFound),
        ("ForbiddenOperationException", NotFound),
        ("NotEnoughPermissions", LookupFailed),
        ("BotDisabledByAdmin", NotSent),
    ],
)
async def test_a_chat_that_can_not_be_opened_is_not_found_only_if_teams_says_so(
    sandbox: Sandbox, channel: TeamsChannel, code: str, kind: type[Exception]
):
    sandbox.faults.add("answer", "create", status=403, body=error(code))
    with pytest.raises(kind):
        await channel.conversation_id(ALICE)


async def test_an_archived_channel_is_not_found(sandbox: Sandbox, channel: TeamsChannel):
    """No look-up says it, only a post."""
    archived = Place(f"teams:{ids.ARCHIVED}")
    await channel.check_place(archived)
    with pytest.raises(NotFound, match="archived"):
        await channel.post(archived, CARD)


@pytest.mark.parametrize(
    ("given", "least", "most"),
    [(5, 5, 6), (100_000, 90, 120), (0, 1, 1.2)],
)
async def test_retry_after_is_kept_with_some_jitter(
    sandbox: Sandbox, channel: TeamsChannel, given: Any, least: float, most: float
):
    sandbox.faults.add("limited", "post", retry_after=given)
    with pytest.raises(RateLimited) as limited:
        await channel.post(ROOM, CARD)
    assert least <= limited.value.pause() <= most


@pytest.mark.parametrize("given", [None, "soon", "nan"])
async def test_a_limit_without_a_time_says_so(sandbox: Sandbox, channel: TeamsChannel, given: Any):
    """The Connector answers 429 without Retry-After."""
    sandbox.faults.add("limited", "post", retry_after=given)
    with pytest.raises(RateLimited) as limited:
        await channel.post(ROOM, CARD)
    assert limited.value.seconds is None


@pytest.mark.parametrize("mode", ["no_id", "conflict", "late", "hang"])
async def test_a_post_without_an_id_may_have_succeeded(
    sandbox: Sandbox, store: MemoryStore, mode: Any
):
    """Given an answer without an id, or none in time; then it is not known whether it was posted."""
    channel = TeamsChannel(
        credentials(sandbox), store, Health(), cloud_url=sandbox.url, timeout=2.0
    )
    await channel.start()
    sandbox.faults.add(mode, "post")
    with pytest.raises(Unreachable):
        await channel.post(ROOM, CARD)
    await channel.close()


@pytest.mark.parametrize("id", ["", " "])
async def test_an_empty_id_is_no_id(sandbox: Sandbox, channel: TeamsChannel, id: str):
    """Given an answer to a post, and to a new chat, with an empty id; then it is not recorded: nobody would
    find the message or the chat again."""
    body = json.dumps({"id": id})
    sandbox.faults.add("answer", "post", times=1, status=201, body=body)
    with pytest.raises(Unreachable):
        await channel.post(ROOM, CARD)
    sandbox.faults.add("answer", "create", times=1, status=201, body=body)
    with pytest.raises(LookupFailed):
        await channel.conversation_id(ALICE)
    assert channel.references.personal_chat(ids.ALICE) is None


async def test_an_empty_list_of_members_is_not_nobody(sandbox: Sandbox, channel: TeamsChannel):
    """Given a conversation of which Teams lists no member; then it is not known who is in it, how many they
    are, and whether it can be used: otherwise its cards would be passed on to other people."""
    sandbox.faults.add("answer", "pagedmembers", status=200, body=json.dumps({"members": []}))
    for look_up in (
        channel.conversation_members(ids.APPROVALS),
        channel.conversation_size(ROOM),
        channel.check_place(ROOM),
    ):
        with pytest.raises(LookupFailed, match="an empty list"):
            await look_up


@pytest.mark.parametrize("kind", [None, "Robot"])
async def test_a_person_without_a_known_user_type_is_unknown_and_the_reason_says_what_to_do(
    sandbox: Sandbox, channel: TeamsChannel, kind: str | None
):
    """Given a person of whom Entra has no user type, or one that we don't know; then they are neither a
    member nor a guest, and who runs the bot reads what an administrator must do."""
    user = {"id": ids.ALICE, "displayName": "Alice Ng", "userType": kind, "accountEnabled": True}
    sandbox.faults.add("answer", "graph_user", status=200, body=json.dumps(user))
    with pytest.raises(LookupFailed, match=f"for {ids.ALICE}: .* must set their user type"):
        await channel.person(ids.ALICE)


async def test_our_token_does_not_follow_a_page_elsewhere(sandbox: Sandbox, channel: TeamsChannel):
    """Given a list of Graph's whose next page is at another host; then the look-up fails."""
    page = {"value": [], "@odata.nextLink": "https://evil.example/v1.0/next"}
    sandbox.faults.add("answer", "graph_members", status=200, body=json.dumps(page))
    with pytest.raises(LookupFailed, match="can't be read"):
        await channel.group_members(ids.OPS_GROUP)


async def test_a_list_of_which_a_later_page_fails_is_one_problem_that_lasts(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a list whose first page can be read each time, and never its end; then it is the same problem at
    each try, so that it is told after a minute.
    """
    now = 0.0
    health = Health(lambda: now)
    channel = TeamsChannel(credentials(sandbox), store, health, cloud_url=sandbox.url)
    await install_everywhere(sandbox, channel)
    await channel.start()
    page = {"value": [], "@odata.nextLink": f"{sandbox.url}/v1.0/groups/{ids.OPS_GROUP}/more"}
    for moment in (1000.0, 1050.0, 1100.0):
        now = moment
        sandbox.faults.add("answer", "graph_members", times=1, status=200, body=json.dumps(page))
        with pytest.raises(Unreachable):
            await channel.group_members(ids.OPS_GROUP)

    [problem] = health.current_problems()
    assert (problem.since, problem.count) == (1000.0, 3)

    await channel.group_members(ids.OPS_GROUP)
    assert health.current_problems() == ()
    await channel.close()
