"""Who may answer for a call in doubt, and whose earlier votes count if the review also waits
for a decision.
"""

from __future__ import annotations

import pytest

from hitl_core.review import Release, ran_mark
from tests.scenarios.faults.test_deleted_cards import check_of
from tests.scenarios.lists.test_digest_trouble import die_in_doubt
from tests.scenarios.reviews.test_reviewers import policy
from tests.support.bots import Scene, email
from tests.support.builders import person
from tests.support.slack import APPROVALS, OPS, Message, review_of
from tests.support.waiting import wait_until


async def only_card(scene: Scene, channel: str = APPROVALS) -> Message:
    await scene.all_shown()
    [card] = await scene.cards(channel)
    return {**card, "channel": channel}


@pytest.mark.parametrize("button", ["doubt_ran", "doubt_rerun", "doubt_skip"])
async def test_a_fallback_that_a_doubt_was_opened_to_can_answer_it(
    scene: Scene, button: str
) -> None:
    """Given an approved call in doubt whose only reviewer has left; then the members of its fallback, where
    it is asked about, can answer, and others can't."""
    bot = await scene.bot()
    gate = await scene.gate(policy(reviewers="{users: [U0BOB]}", fallback="'slack:#team-ops'"))
    review_id = await gate.submit([email()], thread_id="t")
    await scene.bob.press(await scene.card("send_email"), "approve")
    await scene.all_shown()
    await die_in_doubt(gate, review_id)
    scene.sandbox.users.deactivate("U0BOB")
    await scene.sandbox.events.wait_delivered()
    await check_of(bot).check_page()
    await scene.alice.press(await only_card(scene), button)
    assert len(await scene.alice.notices()) == 1
    await scene.carl.press(await only_card(scene, OPS), button)
    assert await scene.carl.notices() == []
    review = (await gate.reviews.load(review_id)).review
    assert not review.calls_in_doubt
    assert review.runs["1"].by is not None
    assert review.runs["1"].by.id == "U0CARL"


async def test_a_doubt_beside_it_hides_no_vote_that_counts_no_more(scene: Scene) -> None:
    """Given a quorum of two, one approval, and a release that found that an agent has started the call; when
    the first voter leaves the group before the second votes, then one approval is still needed."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{groups: [S0FINANCE], quorum: 2}"))
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    await scene.card("1 of 2")
    review_id = review_of(card)
    await gate.reviews.store.hold_live_reviews()
    await gate.reviews.store.record_mark(review_id, ran_mark("1"))
    await gate.reviews.apply(Release(review_id, person("Op"), "release"))

    scene.sandbox.groups.set_members("S0FINANCE", ["U0BOB", "U0MARIA"])
    await scene.sandbox.events.wait_delivered()
    await scene.bob.press(await only_card(scene), "approve")

    async def only_bob_votes() -> bool:
        action = (await gate.reviews.load(review_id)).review.actions[0]
        return [vote.by.id for vote in action.votes] == ["U0BOB"]

    await wait_until("Alice's vote is void", only_bob_votes)
