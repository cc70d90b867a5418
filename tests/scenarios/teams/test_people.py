"""Who may decide in Teams: threats T29 and T30 with two chat systems, and reviews that are shown in both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hitl_core import Outcome
from hitl_core.store.redis.keys import channel_key
from teams_sandbox.workspace.acme import (
    ALICE,
    APPROVALS,
    AUDIT,
    BOB,
    CARL,
    FINANCE_GROUP,
    MARIA,
)
from tests.support.bots import Scene
from tests.support.slack import OPS
from tests.support.teams.scene import HERE, ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of

#: Alice of Slack is Alice of Teams.
PEOPLE = f"people:\n  - [slack:U0ALICE, teams:{ALICE}]\n"
SLACK = "slack:#agent-approvals"
BOTH = [SLACK, HERE]


@pytest.fixture
def bot_settings(tmp_path: Path) -> dict[str, str]:
    """The bot of the scene knows who is one human."""
    file = tmp_path / "people.yaml"
    file.write_text(PEOPLE)
    return {"HITL_PEOPLE": str(file)}


async def ask_both(scene: Scene, **changed: Any) -> asyncio.Task[Outcome]:
    return await ask(scene, notify=BOTH, **changed)


async def test_nobody_approves_their_own_request_from_teams(
    scene: Scene, users: TeamsUsers
) -> None:
    """T29: given a request of Alice in Slack, which she must not approve herself; when she approves in Teams,
    where she has another id, then she is told, and nothing runs."""
    reviewers = {"channel_members": True, "exclude_requester": True}
    waiting = await ask_both(scene, requester="U0ALICE", reviewers=reviewers)
    message = await card(users, "send_email")
    sentence = await users.press(ALICE, "Approve", message)
    assert "another person must approve" in sentence
    assert not waiting.done()
    await users.press(BOB, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1


@pytest.mark.parametrize("notify", [[HERE], [f"teams:group:{FINANCE_GROUP}"]])
async def test_a_card_says_for_whom_the_agent_asks(
    scene: Scene, users: TeamsUsers, notify: list[str]
) -> None:
    """Given a requester about whom nobody has asked Teams yet; then also the first card has their name, and
    not only an id that says nothing to people. Teams' clients show no name for an id, as Slack's do."""
    await ask(scene, requester=f"teams:{CARL}", notify=notify)
    where = APPROVALS if notify == [HERE] else users.chat(BOB)
    message = await card(users, "send_email", conversation=where)
    assert "For “Carl Weiss” (ca210000)" in text_of(message.card)


async def test_nobody_approves_their_own_request_from_slack(
    scene: Scene, users: TeamsUsers
) -> None:
    """T29: The same for a request of Alice in Teams, whatever the case of her id, and for her Approve in
    Slack."""
    reviewers = {"channel_members": True, "exclude_requester": True}
    waiting = await ask_both(scene, requester=f"teams:{ALICE.upper()}", reviewers=reviewers)
    message = await card(users, "send_email")
    sentence = await users.press(ALICE, "Approve", message)
    assert "another person must approve" in sentence
    await scene.alice.press(await scene.card("send_email"), "approve")
    assert await scene.alice.last_notice() == sentence
    assert not waiting.done()
    await scene.bob.press(await scene.card("send_email"), "approve")
    assert len((await outcome(waiting)).execute) == 1


async def test_one_human_in_slack_and_teams_has_one_vote(scene: Scene, users: TeamsUsers) -> None:
    """T30: given a quorum of two; when Alice approves in Slack and in Teams, then it is one vote, and Bob of
    Teams has the second one."""
    waiting = await ask_both(scene, reviewers={"channel_members": True, "quorum": 2})
    await scene.alice.press(await scene.card("send_email"), "approve")
    message = await card(users, "1 of 2")
    assert "already" in await users.press(ALICE, "Approve", message)
    assert not waiting.done()
    await users.press(BOB, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1


async def test_a_review_in_both_is_decided_once(scene: Scene, users: TeamsUsers) -> None:
    """Given one review in Slack and in Teams; when Bob of Slack and Maria of Teams approve at once, then one
    of them decides, the other one is told who, and both messages say it."""
    waiting = await ask_both(scene)
    message, shown = await card(users, "send_email"), await scene.card("send_email")
    await scene.all_shown()  # before that, nobody may decide
    answer, _ = await asyncio.gather(
        users.press(MARIA, "Approve", message), scene.bob.press(shown, "approve")
    )
    assert len((await outcome(waiting)).execute) == 1
    told = [one for one in (answer, *await scene.bob.notices()) if "already approved" in one]
    assert len(told) == 1
    is_marias = told != [answer]
    await card(users, "approved by", "Maria Lopez" if is_marias else "U0BOB")
    await scene.card("approved by", "Maria Lopez" if is_marias else "U0BOB")


async def test_an_edit_in_slack_is_approved_in_teams(scene: Scene, users: TeamsUsers) -> None:
    """Given a quorum of two and a card in both; when Bob of Slack edits, then Teams' card shows the edit, and
    Maria approves that there and Alice in Slack: it runs with the edited arguments."""
    waiting = await ask_both(scene, reviewers={"channel_members": True, "quorum": 2})
    await scene.bob.press(await scene.card("send_email"), "edit")
    assert (await scene.bob.submit(copies=3))["ok"]
    message = await card(users, "edited by", "U0BOB")
    await users.press(MARIA, "Approve", message)
    await scene.alice.press(await scene.card("1 of 2"), "approve")
    [call] = (await outcome(waiting)).execute
    assert call.args["copies"] == 3


async def test_from_teams_to_slack(scene: Scene, users: TeamsUsers) -> None:
    """Given a card in Teams that escalates to Slack; when Alice escalates it, then Carl of Slack decides, and
    Teams' card says so."""
    waiting = await ask(scene, escalate=[{"after": "1h", "to": "slack:#team-ops"}])
    message = await card(users, "send_email")
    label = next(one for one in actions(message.card) if one.startswith("Escalate"))
    await users.press(ALICE, label, message)
    await users.submit(ALICE, message, "Yours")
    await scene.carl.press(await scene.card("send_email", "Yours", channel=OPS), "approve")
    assert len((await outcome(waiting)).execute) == 1
    await card(users, "approved by", "Carl")


async def test_reviewers_by_group_and_by_person(scene: Scene, users: TeamsUsers) -> None:
    """Given a rule that names an Entra group and one person, in any case of their ids; then Bob of the group
    and Carl may decide, and nobody else of the channel."""
    users.sandbox.workspace.groups[FINANCE_GROUP].members.remove(MARIA)
    reviewers = {
        "users": [f"teams:{CARL.upper()}"],
        "groups": [f"teams:{FINANCE_GROUP}"],
        "quorum": 2,
    }
    waiting = await ask(scene, reviewers=reviewers)
    message = await card(users, "send_email")
    assert (await users.press(MARIA, "Approve", message)).startswith("Only ")
    await users.press(CARL, "Approve", message)
    assert not waiting.done()
    await users.press(BOB, "Approve", await card(users, "1 of 2"))
    assert len((await outcome(waiting)).execute) == 1


async def test_a_group_that_hides_its_members_opens_no_fallback(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given reviewers in a group with hidden membership, which Graph shows as empty, and a fallback; then its
    people may not decide, the missing permission is told, and with it Bob of the group may decide."""
    workspace = users.sandbox.workspace
    workspace.groups[FINANCE_GROUP].hides_members = True
    group = {"groups": [f"teams:{FINANCE_GROUP}"]}
    waiting = await ask(scene, reviewers=group, fallback="slack:#team-ops")
    message = await card(users, "send_email", "Member.Read.Hidden")
    assert "Member.Read.Hidden" in await users.press(BOB, "Approve", message)
    assert await scene.cards(OPS) == []
    workspace.app.permissions.add("Member.Read.Hidden")
    await users.press(BOB, "Approve", await card(users, "send_email"))
    assert len((await outcome(waiting)).execute) == 1


async def test_a_name_gives_no_right(scene: Scene, users: TeamsUsers) -> None:
    """T32: given Carl, who calls himself Bob Reyes, and who sends Bob's name and his id of the bot with a
    press; then he is still Carl, who may not decide."""
    waiting = await ask(scene, reviewers={"users": [f"teams:{BOB}"]})
    message = await card(users, "send_email")
    carl, bob = users.user(CARL), users.user(BOB)
    carl.display_name = bob.display_name
    approve = users.press_of(CARL, message, actions(message.card)["Approve"], {})
    approve["from"] |= {"id": bob.mri, "name": bob.display_name, "userPrincipalName": bob.upn}
    assert users.show(CARL, message, await users.send(approve)).startswith("Only ")
    assert not waiting.done()


@pytest.mark.parametrize(
    "leave",
    [
        lambda users: users.sandbox.workspace.remove_user(BOB),
        lambda users: setattr(users.user(BOB), "account_enabled", False),
        lambda users: setattr(users.user(BOB), "is_guest", True),
    ],
)
async def test_who_has_left_may_not_decide(
    scene: Scene, users: TeamsUsers, leave: Callable[[TeamsUsers], None]
) -> None:
    """Given Bob, who was deleted, disabled or made a guest after the card was posted; when his old client
    presses, then he is told, and nothing runs."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    approve = users.press_of(BOB, message, actions(message.card)["Approve"], {})
    leave(users)
    assert users.show(BOB, message, await users.send(approve)).startswith("Only ")
    assert not waiting.done()
    await users.press(MARIA, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1


async def test_a_look_up_that_fails_lets_nobody_in(scene: Scene, users: TeamsUsers) -> None:
    """Given Graph without the permission; when Alice presses, then she is told to press again, and nothing
    runs."""
    waiting = await ask(scene, reviewers={"groups": [f"teams:{FINANCE_GROUP}"]})
    message = await card(users, "send_email")
    users.sandbox.app.permissions.clear()
    sentence = await users.press(ALICE, "Approve", message)
    assert "Press again" in sentence or "It is not known" in sentence, sentence
    assert not waiting.done()
    assert message.conversation == APPROVALS


async def test_a_press_tells_a_new_address(scene: Scene, users: TeamsUsers) -> None:
    """Given a conversation whose service URL changed, which only the next activity says; when that is a
    press, then what the bot shows there goes to the new address."""
    await ask(scene)
    message = await card(users, "send_email")
    press = users.press_of(ALICE, message, actions(message.card)["Approve"], {})
    moved = f"{press['serviceUrl']}moved/"
    await users.send({**press, "serviceUrl": moved})
    redis = await scene.redis()
    stored = await redis.hget(channel_key("teams"), f"conversation:{APPROVALS}")
    assert json.loads(stored)["service_url"] == moved


async def test_a_press_in_an_unknown_conversation_tells_its_address(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a channel from which the bot got no activity yet, as after a loss of the store; when somebody
    presses there, then its address is known."""
    await ask(scene, notify=[f"teams:{AUDIT}"])
    message = await card(users, "send_email", conversation=AUDIT)
    await users.press(ALICE, "Approve", message)
    redis = await scene.redis()
    stored = await redis.hget(channel_key("teams"), f"conversation:{AUDIT}")
    assert stored is not None
    assert json.loads(stored)["team"] == APPROVALS
