"""Home lists the reviews of which nothing is known, without what they are about."""

from __future__ import annotations

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render.home_blocks import view_blocks
from bot.inbox import HomeLoader
from bot.people.directory import Directory
from hitl_core.review.service import Reviews
from slack_sandbox.sandbox import Sandbox
from tests.bot.people.unknown.answers import fail, person, refusal
from tests.support.builders import call, policy, review_of


async def test_what_is_not_known_hides_no_review_in_home(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a question for Alice's group; when the group can't be looked up; then
    Home still lists it, without buttons, and says nothing of what it is about: neither the question nor the
    tool's name."""
    asks = {
        "allowed_decisions": ["respond"],
        "answer_schema": {"type": "string"},
        "description": "Is hunter2 her password?",
        "reviewers": {"groups": ["S0FINANCE"]},
    }
    review, event = review_of([call("it_asks")], by=policy(it_asks=asks))
    await reviews.submit(review, event)
    fail(sandbox, "usergroups.users.list", refusal("fatal_error"))
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [line] = home.others
    assert home.mine == ()
    assert line.card.review_id == review.id
    assert line.is_unknown
    assert line.keys == frozenset()
    shown = str(view_blocks(home, channel))
    assert "It is not known now what waits for you" in shown
    assert "billing: a review" in shown
    assert "hunter2" not in shown
    assert "it_asks" not in shown


async def test_home_says_that_more_actions_of_a_review_may_wait(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a review with an action for Alice and one for her group; when the group can't be looked up; then
    Home has the first one, and says that this may not be all."""
    rules = {"mine": {"reviewers": {"users": ["U0ALICE"]}}}
    rules |= {"ours": {"reviewers": {"groups": ["S0FINANCE"]}}}
    review, event = review_of([call("mine"), call("ours", "c2")], by=policy(**rules))
    await reviews.submit(review, event)
    fail(sandbox, "usergroups.users.list", refusal("fatal_error"))
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [task] = home.mine
    assert task.keys == ("1",)
    assert "whether more actions of these reviews wait" in str(view_blocks(home, channel))


async def test_home_lists_what_could_not_be_posted_yet(
    reviews: Reviews, channel: SlackChannel
) -> None:
    """Given a review for a channel's members whose card is not posted; then Home lists it, and says nothing
    of what it is about."""
    review, event = review_of([call("it")])
    await reviews.submit(review, event)
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [line] = home.others
    assert (home.mine, line.card.review_id, line.keys) == ((), review.id, frozenset())
    assert line.is_unknown
