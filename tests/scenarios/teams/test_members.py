"""Rare cases in Teams: members without an id, two bots that each get half of the events, refused posts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.teams.handlers.presses import Presses
from bot.inbox import ReviewAccess
from teams_sandbox.workspace.acme import ALICE, APPROVALS, AUDIT, BOB, GROUP_CHAT, OPS
from tests.support.bots import Scene
from tests.support.teams.scene import ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of


def add_anonymous(users: TeamsUsers) -> None:
    """Somebody without an account joins the group chat, as in a meeting."""
    tenant = users.sandbox.workspace.tenant_id
    people: list[dict[str, Any]] = [
        {"id": users.user(id).mri, "aadObjectId": id, "name": "x", "tenantId": tenant}
        for id in (ALICE, BOB)
    ]
    people.append({"id": "29:1anon", "name": "Guest", "userRole": "anonymous"})
    body = json.dumps({"members": people})
    users.sandbox.faults.add("answer", "pagedmembers", status=200, body=body)


async def test_an_anonymous_member_stops_no_conversation(scene: Scene, users: TeamsUsers) -> None:
    add_anonymous(users)
    waiting = await ask(scene, notify=[f"teams:{GROUP_CHAT}"])
    message = await card(users, "send_email", conversation=GROUP_CHAT)
    await users.press(ALICE, "Approve", message)
    assert (await outcome(waiting)).execute


async def test_an_anonymous_person_who_joins_stops_no_click(
    scene: Scene, users: TeamsUsers
) -> None:
    waiting = await ask(scene, notify=[f"teams:{GROUP_CHAT}"])
    message = await card(users, "send_email", conversation=GROUP_CHAT)
    add_anonymous(users)
    update = users.activity(
        ALICE, GROUP_CHAT, type="conversationUpdate", membersAdded=[{"id": "29:1anon"}]
    )
    assert await users.send(update) == 200
    await users.press(ALICE, "Approve", message)
    assert (await outcome(waiting)).execute


@pytest.mark.parametrize("part", [(ReviewAccess, "load_permitted"), (Presses, "answer")])
async def test_an_error_of_ours_is_a_sentence_for_the_person(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch, part: tuple[Any, str]
) -> None:
    """Given a fault in our code; then the person reads that pressing again is safe, and it is."""
    waiting = await ask(scene)
    message = await card(users, "send_email")

    async def fail(*_: object, **__: object) -> None:
        raise ValueError("a fault of ours")

    with monkeypatch.context() as broken:
        broken.setattr(*part, fail)
        press = users.press_of(ALICE, message, actions(message.card or {})["Approve"], {})
        assert "again: it counts only once" in str(await users.send(press))
    await users.press(ALICE, "Approve", message)
    assert (await outcome(waiting)).execute


async def test_two_bots_hear_of_a_removal_and_of_a_new_install(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given two bots; when one hears that the app was removed from a team, and the other one that it was
    added again, then a further bot knows the team."""
    sandbox = users.sandbox
    first = sandbox.bot_url
    second = (await scene.bot(**sandbox.settings())).endpoints["teams"]
    for bot, action in ((second, "remove"), (first, "add")):
        sandbox.bot_url = bot
        update = users.activity(ALICE, APPROVALS, type="installationUpdate", action=action)
        assert await users.send(update) == 200
    third = await scene.bot(**sandbox.settings())
    sandbox.bot_url = third.endpoints["teams"]
    await ask(scene, notify=["teams:Audit"])
    await card(users, "send_email", conversation=AUDIT)


@pytest.mark.parametrize("refused", ["conflict", "token"])
async def test_a_post_that_was_not_made_is_made_without_a_search(
    scene: Scene, users: TeamsUsers, refused: str
) -> None:
    """Given an app that may not read messages; when a post is refused for now, then it is posted later."""
    sandbox = users.sandbox
    sandbox.app.permissions.discard("ChannelMessage.Read.Group")
    if refused == "token":
        sandbox.faults.add("answer", "post", times=1, status=401, body="{}")
        sandbox.faults.add("down", "token", times=1)
    else:
        sandbox.faults.add("conflict", "post", times=1)
    await ask(scene)
    await card(users, "send_email")


@pytest.mark.parametrize("status", [302, 403, 404, 409])
async def test_a_gateway_that_refuses_one_post_takes_no_buttons_away(
    scene: Scene, users: TeamsUsers, status: int
) -> None:
    """Given a gateway between the bot and Teams that answers one post with a page of its own; then the card
    is posted as usual. It was posted as a text without buttons, as if Teams had refused the card."""
    html = "<html>This request was blocked.</html>"
    users.sandbox.faults.add("answer", "post", times=1, status=status, body=html)
    waiting = await ask(scene)
    await users.press(ALICE, "Approve", await card(users, "send_email"))
    assert (await outcome(waiting)).execute


async def test_a_deleted_team_makes_no_list_incomplete(scene: Scene, users: TeamsUsers) -> None:
    """Given a team that was deleted, about which Teams refuses to tell; then no list says that its reviews
    may be missing. When the team is restored, then it is known again."""
    body = json.dumps({"error": {"code": "SomeNewError"}})
    users.sandbox.faults.add("answer", "team", conversation=OPS, status=403, body=body)
    deleted = users.activity(ALICE, OPS, type="conversationUpdate")
    deleted["channelData"] |= {"eventType": "teamDeleted"}
    assert await users.send(deleted) == 200
    await users.write(ALICE, "approvals")
    home = await users.message("Nothing waits for you", conversation=users.chat(ALICE))
    assert "may be missing" not in text_of(home.card)
    users.sandbox.faults.clear()
    restored = users.activity(ALICE, OPS, type="conversationUpdate")
    restored["channelData"] |= {"eventType": "teamRestored"}
    assert await users.send(restored) == 200
    await ask(scene, notify=["teams:Operations"])
    await card(users, "send_email", conversation=OPS)


async def test_a_deleted_channel_is_forgotten(scene: Scene, users: TeamsUsers) -> None:
    """Given a channel in which somebody wrote to the bot; when it is deleted, then only the channel is
    forgotten: no list asks for its members, and the team stays."""
    await users.write(ALICE, "help", AUDIT)
    store = (await scene.gate()).reviews.store
    assert f"conversation:{AUDIT}" in await store.channel_values("teams")
    deleted = users.activity(ALICE, APPROVALS, type="conversationUpdate")
    deleted["channelData"] |= {"eventType": "channelDeleted", "channel": {"id": AUDIT}}
    assert await users.send(deleted) == 200
    known = await store.channel_values("teams")
    assert f"conversation:{AUDIT}" not in known
    assert f"conversation:{APPROVALS}" in known


async def test_cards_have_the_new_name_after_teams_told_of_it(
    scene: Scene, users: TeamsUsers
) -> None:
    await ask(scene)
    await card(users, "send_email")
    where = users.conversation(AUDIT)
    assert where.team is not None
    where.name = "Ledger"
    update = users.activity(ALICE, where.team.id, type="conversationUpdate")
    update["channelData"] |= {"eventType": "channelRenamed"}
    assert await users.send(update) == 200
    await ask(scene, notify=["teams:Ledger"])
    await card(users, "send_email", conversation=AUDIT)
