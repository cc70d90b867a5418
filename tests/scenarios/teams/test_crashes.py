"""A bot with Teams that runs as in production is killed (kill -9) at one exact point; then another one takes
over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

import teams_sandbox.server
from bot.channels.teams.ids import mark_of
from hitl_core.store import RedisStore
from teams_sandbox.workspace import Message
from teams_sandbox.workspace.acme import ALICE, APPROVALS
from tests.support.bots import Process, Scene, email
from tests.support.teams.local import install_everywhere, make_channel
from tests.support.teams.scene import ask, outcome
from tests.support.teams.users import TeamsUsers, text_of
from tests.support.waiting import wait_until

POINTS = ["outbox.before_card", "outbox.after_card", "outbox.after_card_record"]


class TeamsOffice:
    """A tenant, and bots as an operator runs them: the app is installed, and the store knows it."""

    def __init__(self, scene: Scene, users: TeamsUsers) -> None:
        self.scene, self.users = scene, users

    async def killed_bot(self, point: str) -> Process:
        """A process of its own, as an operator runs it, which ends itself at this point."""
        return await self.scene.bot_process(f"{point}=kill", **self.users.sandbox.settings())

    async def bot(self) -> None:
        """Gets what people do."""
        bot = await self.scene.bot(**self.users.sandbox.settings())
        self.users.sandbox.bot_url = bot.endpoints["teams"]

    async def install(self) -> None:
        """As bots before wrote it into the store: the app is in the teams and group chats."""
        store = await RedisStore.open(self.scene.redis_url)
        channel = make_channel(self.users.sandbox, store)
        await install_everywhere(self.users.sandbox, channel)
        await channel.close()
        await store.close()

    def cards(self, conversation: str) -> list[Message]:
        messages = self.users.conversation(conversation).messages.values()
        return [one for one in messages if not one.deleted and "send_email" in text_of(one.card)]

    async def noted_card(self, conversation: str) -> Message:
        """The only card here, after a bot has noted where it is."""
        await wait_until("a card", lambda: len(self.cards(conversation)) > 0)
        gate = await self.scene.gate()

        async def find() -> Message | None:
            [card] = self.cards(conversation)
            assert card.card is not None
            posts = (await gate.reviews.load(mark_of(card.card).split(":")[1])).posts
            return card if [one.ts for one in posts.values()] == [card.id] else None

        return await wait_until("the card is noted", find)


@pytest.fixture
async def office(scene: Scene) -> AsyncIterator[TeamsOffice]:
    async with (
        teams_sandbox.server.running_sandbox() as sandbox,
        aiohttp.ClientSession() as session,
    ):
        office = TeamsOffice(scene, TeamsUsers(sandbox, session))
        await office.install()
        yield office
        await scene.close()


@pytest.mark.parametrize("target", ["channel", "person"])
@pytest.mark.parametrize("point", POINTS)
async def test_a_bot_killed_while_it_posts_to_teams(
    scene: Scene, office: TeamsOffice, point: str, target: str
) -> None:
    """Faults W1 to W3: given a bot that is killed before it posts a card (W1), after the post (W2), or after
    noting it (W3); when another bot runs, then there is one message, its button works, and it shows the
    decision."""
    users = office.users
    place, conversation = (
        (f"teams:{APPROVALS}", APPROVALS)
        if target == "channel"
        else (f"teams:{ALICE}", users.chat(ALICE))
    )
    bot = await office.killed_bot(point)
    waiting = await ask(scene, email(), notify=[place])
    assert await bot.wait_end() == -9
    posted = [one.id for one in office.cards(conversation)]
    assert len(posted) == (0 if point == "outbox.before_card" else 1)

    await office.bot()
    card = await office.noted_card(conversation)
    assert [card.id] == (posted or [card.id])  # nobody is notified twice
    await users.press(ALICE, "Approve", card)
    assert len((await outcome(waiting)).execute) == 1
    await users.message("approved by “Alice Ng”", conversation=conversation)
    await scene.all_shown()
    assert [one.id for one in office.cards(conversation)] == [card.id]


@pytest.mark.parametrize("target", ["channel", "person"])
async def test_promise_4_a_post_whose_answer_is_lost_is_one_message(
    scene: Scene, office: TeamsOffice, target: str
) -> None:
    """Given a post that Teams takes, and whose answer is lost; then the bot finds the message, and there is
    no second one."""
    users = office.users
    place, conversation = (
        (f"teams:{APPROVALS}", APPROVALS)
        if target == "channel"
        else (f"teams:{ALICE}", users.chat(ALICE))
    )
    users.sandbox.faults.add("lost", "post", times=1)
    await office.bot()
    waiting = await ask(scene, email(), notify=[place])
    card = await office.noted_card(conversation)
    await users.press(ALICE, "Approve", card)
    assert len((await outcome(waiting)).execute) == 1
    await users.message("approved by “Alice Ng”", conversation=conversation)
    await scene.all_shown()
    assert [one.id for one in office.cards(conversation)] == [card.id]


async def test_promise_4_a_post_that_cant_be_looked_for_is_not_repeated(
    scene: Scene, office: TeamsOffice
) -> None:
    """Given a bot that is killed after its post, and an administrator who took away the permission to read
    messages; then no bot posts again, and the review is a dead letter; when the permission is back, then the
    message is found, and its button works."""
    users, permissions = office.users, office.users.sandbox.app.permissions
    permissions.remove("ChannelMessage.Read.Group")
    bot = await office.killed_bot("outbox.after_card")
    waiting = await ask(scene, email(), notify=[f"teams:{APPROVALS}"])
    assert await bot.wait_end() == -9
    [posted] = office.cards(APPROVALS)

    await office.bot()
    gate = await scene.gate()
    await wait_until("the dead letter", gate.reviews.store.count_dead_letters)
    permissions.add("ChannelMessage.Read.Group")
    card = await office.noted_card(APPROVALS)
    assert card.id == posted.id
    await users.press(ALICE, "Approve", card)
    assert len((await outcome(waiting)).execute) == 1
    assert [one.id for one in office.cards(APPROVALS)] == [posted.id]
