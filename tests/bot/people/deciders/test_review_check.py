"""Who may decide is checked again after a card was shown, and a problem ends when its cause does."""

from __future__ import annotations

import pytest

from bot.card import build_card
from bot.health.health import Health
from bot.outbox import review_check
from bot.outbox.review_check import ReviewCheck
from hitl_core.review import Release, ran_mark
from slack_sandbox.server import Sandbox
from tests.bot.people.deciders.bot import ARCHIVED, ASK, DANA, OPS, Bot, in_doubt, members_of
from tests.support.builders import person
from tests.support.jobs import finish_all


@pytest.mark.parametrize("what", ["the reviewer left", "the channel was archived"])
async def test_who_may_decide_is_checked_again_after_the_card_was_shown(
    bot: Bot, sandbox: Sandbox, what: str
) -> None:
    """Given a card that is shown, of an action without any timer; when its only reviewer leaves, or its
    channel is archived, then a later check gives it to its fallback."""
    review_id = await bot.submit(pay={"reviewers": DANA, "notify": ASK, "fallback": OPS})
    await bot.deliver(review_id)
    check = ReviewCheck(bot.reviews, bot.delivery(), Health())
    await check.check_page()
    [action] = (await bot.reviews.load(review_id)).review.actions
    assert action.places == (ASK,)

    if what == "the reviewer left":
        sandbox.users.deactivate("U0DANA")
    else:
        sandbox.workspace.channels["C0ASK"].is_archived = True
    await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()

    [action] = (await bot.reviews.load(review_id)).review.actions
    assert action.places == (ASK, OPS)
    assert bool(members_of(action)) == (what == "the reviewer left")


def infos(sandbox: Sandbox) -> int:
    return sum(call["method"] == "conversations.info" for call in sandbox.api.calls)


async def submit_shown(bot: Bot, count: int) -> list[str]:
    """Reviews with cards in #ask-agent, and a fallback."""
    rule = {"reviewers": DANA, "notify": ASK, "fallback": OPS}
    ids = [await bot.submit(None, **{f"pay_{n}": rule}) for n in range(count)]
    for each in ids:
        await bot.deliver(each)
    return ids


async def moved(bot: Bot, ids: list[str]) -> int:
    reviews = [(await bot.reviews.load(each)).review for each in ids]
    return sum(each.actions[0].places == (ASK, OPS) for each in reviews)


async def test_a_place_is_looked_up_once_for_all_its_reviews(bot: Bot, sandbox: Sandbox) -> None:
    """Given many cards in a channel that is archived; then one question to Slack moves them all."""
    ids = await submit_shown(bot, 5)
    sandbox.workspace.channels["C0ASK"].is_archived = True
    before = infos(sandbox)
    await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert (infos(sandbox) - before, await moved(bot, ids)) == (1, 5)


async def test_a_check_that_slack_limits_waits_and_goes_on_with_the_same_review(
    bot: Bot, sandbox: Sandbox
) -> None:
    ids = await submit_shown(bot, 3)
    sandbox.workspace.channels["C0ASK"].is_archived = True
    sandbox.faults.configure(
        {"mode": "ratelimited", "method": "conversations.info", "times": 2, "retry_after": 0}
    )
    await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert await moved(bot, ids) == 3
    assert not [each for each in bot.health.current_problems() if each.kind == "lookup"]


async def test_pages_of_the_check_go_through_all(
    bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more reviews than a page, of which some were moved already; then each page has the next ones."""
    monkeypatch.setattr(review_check, "MAX_REVIEWS", 2)
    ids = await submit_shown(bot, 5)
    sandbox.workspace.channels["C0ASK"].is_archived = True
    check, after = ReviewCheck(bot.reviews, bot.delivery(), Health()), list[int]()
    for _ in range(3):
        await check.check_page()
        after.append(await moved(bot, ids))
    assert after == [2, 4, 5]


async def test_a_problem_is_over_when_people_are_back(bot: Bot, sandbox: Sandbox) -> None:
    """Given a shown review whose only reviewer left; then the problem names what can't be decided, not the
    place; and when they are back, it is over in the review and for the operators."""
    review_id = await bot.submit(pay={"reviewers": DANA, "notify": ASK})
    await bot.deliver(review_id)
    sandbox.users.deactivate("U0DANA")
    await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert list((await bot.reviews.load(review_id)).review.delivery_problems) == [ASK]
    [problem] = bot.health.current_problems()
    assert "can't be approved: nobody can decide on pay any more" in problem.text
    assert "invite the bot" not in problem.text

    sandbox.workspace.users["U0DANA"].deleted = False
    await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert not (await bot.reviews.load(review_id)).review.delivery_problems
    assert not bot.health.current_problems()


async def test_a_problem_of_a_place_is_over_when_its_card_can_be_drawn(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a shown review whose channel was archived; when it is back, then the card is drawn again, and the
    problem is over."""
    review_id = await bot.submit(pay={"reviewers": DANA, "notify": ASK})
    await bot.deliver(review_id)
    for is_archived in (True, False):
        sandbox.workspace.channels["C0ASK"].is_archived = is_archived
        await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
        assert list((await bot.reviews.load(review_id)).review.delivery_problems) == [ASK]
        if is_archived:
            await finish_all(bot.reviews.store)  # its card could not be drawn: a dead letter
    await run_jobs(bot, review_id)
    assert not (await bot.reviews.load(review_id)).review.delivery_problems


async def test_a_bot_that_was_removed_from_a_public_channel_stays_a_problem(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a shown review, and a bot that was removed from its public channel, where Slack still updates its
    cards; then that is a problem, also after the card was drawn again; when the bot is back, it is over."""
    review_id = await bot.submit(pay={"reviewers": DANA, "notify": ASK})
    await bot.deliver(review_id)
    await finish_all(bot.reviews.store)
    for is_member in (False, True):
        change = sandbox.channels.join if is_member else sandbox.channels.leave
        change("C0ASK", bot.channel.bot_user_id)
        await ReviewCheck(bot.reviews, bot.delivery(), Health()).check_page()
        await run_jobs(bot, review_id)
        problems = (await bot.reviews.load(review_id)).review.delivery_problems
        kinds = [(one.kind, one.subject) for one in bot.health.current_problems()]
        expected = ([], []) if is_member else ([ASK], [("place", ASK)])
        assert ([*problems], kinds) == expected


async def run_jobs(bot: Bot, review_id: str) -> None:
    """What waits in the queue for its card."""
    for job in await finish_all(bot.reviews.store):
        if job.review_id == review_id and job.place == ASK:
            await bot.delivery().run_job(job, again=False)


async def test_a_card_tells_the_problem_of_a_place_where_a_doubt_waits(bot: Bot) -> None:
    """Given a call in doubt that can't be shown at one of its places; then the card at the other says so."""
    review_id = await bot.submit(pay={"notify": [ASK, ARCHIVED], "reviewers": DANA})
    await bot.deliver(review_id)
    await in_doubt(bot, review_id)
    await bot.deliver(review_id)
    snapshot = await bot.reviews.load(review_id)
    [problem] = build_card(snapshot.review, ASK, snapshot.posts).place_problems
    assert problem.place == ARCHIVED


async def test_an_action_that_is_pending_and_in_doubt_has_its_number_once(bot: Bot) -> None:
    """Given a release that found that an agent has started a call of a pending review."""
    review_id = await bot.submit(
        pay={"notify": [ASK, ARCHIVED], "reviewers": DANA},
        send={"notify": [ASK], "reviewers": DANA},
    )
    await bot.deliver(review_id)
    await bot.reviews.store.hold_live_reviews()
    await bot.reviews.store.record_mark(review_id, ran_mark("1"))
    await bot.reviews.apply(Release(review_id, person(), "release"))
    snapshot = await bot.reviews.load(review_id)
    [problem] = build_card(snapshot.review, ASK, snapshot.posts).place_problems
    assert (problem.place, problem.numbers) == (ARCHIVED, (1,))
