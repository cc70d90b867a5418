"""Somebody deletes a card while its review waits and nothing is due."""

from __future__ import annotations

import pytest

from bot.app import Bot
from bot.outbox import ReviewCheck, review_check
from tests.support.aging import age
from tests.support.bots import Scene, email
from tests.support.slack import APPROVALS, review_of
from tests.support.waiting import wait_until


def check_of(bot: Bot) -> ReviewCheck:
    assert bot.workers is not None
    [check] = [one for one in bot.workers.others if isinstance(one, ReviewCheck)]
    return check


@pytest.mark.every_reply
async def test_a_deleted_card_is_posted_again_though_nothing_is_due(scene: Scene) -> None:
    """Given two cards of reviews without timers, and somebody who deletes one; when the bot looks after them,
    then that card is there again and can be decided, the other is only updated, and a further look within the
    hour draws nothing."""
    bot = await scene.bot()
    gate = await scene.gate()
    runs = [scene.ask(gate, email(f"c{number}")) for number in range(2)]
    await wait_until("both cards", lambda: has_cards(scene, 2))
    await scene.all_shown()
    one, other = await scene.cards()
    scene.sandbox.workspace.channels[APPROVALS].messages[one["ts"]].deleted = True

    await check_of(bot).draw_page()
    await scene.all_shown()
    assert [card["ts"] for card in await scene.cards()] == [other["ts"]], "they are new"

    for card in (one, other):
        await age(gate.reviews, review_of(card), review_check.DRAW_INTERVAL)
    await scene.all_shown()
    await check_of(bot).draw_page()
    await wait_until("the card is there again", lambda: has_cards(scene, 2))
    await scene.all_shown()
    updates = len(await scene.calls("chat.update"))
    await check_of(bot).draw_page()
    await scene.all_shown()
    assert len(await scene.calls("chat.update")) == updates

    for card in await scene.cards():
        assert (await scene.alice.press({"channel": APPROVALS, **card}, "approve"))["ok"]
    for run in runs:
        assert (await run).execute


async def has_cards(scene: Scene, count: int) -> bool:
    return len(await scene.cards()) == count
