"""If nobody is left who may decide, the next escalation step is taken. After the last step, the fallback's
people may decide.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from bot.card import build_card
from bot.channels.contract import ChannelError, LookupFailed
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox import decider_check
from bot.outbox.decider_check import DeciderCheck
from bot.outbox.delivery import Delivery
from bot.people import lookups, recipients
from bot.people.directory import Directory
from hitl_core.model import Action, Grant, Place, Reviewer, Reviewers
from hitl_core.policy import Policy
from hitl_core.review import Release, claims, ran_mark
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.server import Sandbox
from tests.support.builders import START, approve_all, call, person, policy, review_of
from tests.support.jobs import finish_all

APPROVALS, OPS, ASK, ARCHIVED = (
    Place("slack:#agent-approvals"),
    Place("slack:#team-ops"),
    Place("slack:#ask-agent"),
    Place("slack:C0OLD"),
)
GONE = {"users": ["U0GONE"]}
DANA = {"users": ["U0DANA"]}


@pytest.fixture
def reviews() -> Reviews:
    return Reviews(MemoryStore(lambda: START))


def step(to: Place, after: str = "1h", **reviewers: Any) -> dict[str, Any]:
    return {"after": after, "to": to, **({"reviewers": reviewers} if reviewers else {})}


class Bot:
    """Delivers like a bot with an empty cache."""

    def __init__(self, reviews: Reviews, channel: SlackChannel, health: Health) -> None:
        self.reviews, self.channel, self.health = reviews, channel, health

    async def submit(self, requester: str | None = None, **rules: dict[str, Any]) -> str:
        calls = [call(name, f"c{number}") for number, name in enumerate(rules)]
        review, event = review_of(calls, by=policy(**rules), requester=requester)
        await self.reviews.submit(review, event)
        return review.id

    async def deliver(self, review_id: str) -> list[Action]:
        """At each place, until nothing changes."""
        version = 0
        while version < (review := (await self.reviews.load(review_id)).review).version:
            version = review.version
            for place in review.places:
                with suppress(ChannelError):
                    await self.deliver_at(review_id, place)
        return list(review.actions)

    async def deliver_at(self, review_id: str, place: Place) -> None:
        await self.delivery().deliver(review_id, place, again=False)

    def delivery(self) -> Delivery:
        directory = Directory(Channels(self.channel))
        return Delivery(self.reviews, Channels(self.channel), directory, health=self.health)


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def bot(reviews: Reviews, channel: SlackChannel, health: Health) -> Bot:
    return Bot(reviews, channel, health)


def members_of(action: Action) -> set[Place]:
    """The places whose members may decide."""
    return {place for grant in action.grants if grant.includes_members for place in grant.places}


async def test_the_steps_to_come_are_taken_before_the_fallback_opens(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a rule whose reviewer has left, and a chain that names Dana; then Dana is asked at once, and the
    fallback's people get no right; when she has left as well, they get it."""
    rule = {
        "reviewers": GONE,
        "escalate": [step(OPS, users=["U0DANA"])],
        "fallback": ASK,
    }
    review_id = await bot.submit(pay=rule)
    [action] = await bot.deliver(review_id)
    assert action.places == ("default", OPS)
    assert not members_of(action)
    assert {user for grant in action.grants for user in grant.reviewers.users} == {
        "U0GONE",
        "U0DANA",
    }

    sandbox.users.deactivate("U0DANA")
    [action] = await bot.deliver(review_id)
    assert members_of(action) == {ASK}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (
            {"notify": ARCHIVED, "escalate": [step(OPS, users=["U0DANA"])]},
            "members without a channel, and a step that names somebody",
        ),
        (
            {"notify": ARCHIVED, "escalate": [step(OPS)]},
            "members without a channel, and a step with members",
        ),
        ({"notify": [APPROVALS, ARCHIVED]}, "the members of another channel"),
        (
            {"notify": ARCHIVED, "reviewers": {"users": ["U0BOB"], "channel_members": True}},
            "somebody by name",
        ),
        (
            {"reviewers": GONE, "escalate": [step(ARCHIVED), step(OPS, "2h", users=["U0DANA"])]},
            "somebody after a step that leads nowhere",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_no_fallback_opens_while_somebody_else_is_left(
    bot: Bot, rule: dict[str, Any], left: str
) -> None:
    review_id = await bot.submit(pay={**rule, "fallback": ASK})
    [action] = await bot.deliver(review_id)
    assert ASK not in members_of(action), left
    snapshot = replace(await bot.reviews.load(review_id), posts={})
    directory = Directory(Channels(bot.channel))
    assert await directory.deciders_left(action.grants, snapshot) == "enough"


async def test_a_fallback_that_showed_it_already_opens_after_the_last_step(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a channel that is archived, so that the fallback shows the card, while Bob may decide; when Bob
    leaves, then its people may."""
    rule = {"notify": ARCHIVED, "fallback": OPS, "reviewers": {"users": ["U0BOB"]}}
    review_id = await bot.submit(pay=rule)
    [action] = await bot.deliver(review_id)
    assert (action.places, members_of(action)) == ((ARCHIVED, OPS), set())

    sandbox.users.deactivate("U0BOB")
    [action] = await bot.deliver(review_id)
    assert members_of(action) == {OPS}


async def test_only_the_part_that_nobody_may_decide_is_passed_on(bot: Bot) -> None:
    """Given two calls, of which one has nobody left; then its fallback opens, and the other's does not."""
    gone, bobs = await bot.deliver(
        await bot.submit(
            gone={"reviewers": GONE, "fallback": OPS},
            bobs={"reviewers": {"users": ["U0BOB"]}, "fallback": OPS},
        )
    )
    assert (members_of(gone), members_of(bobs)) == ({OPS}, set())
    assert bobs.places == ("default",)


# ---------------------------------------------------------------------------- too few to approve (attack A18)

TWO = {"users": ["U0ALICE", "U0BOB"], "quorum": 2}


@pytest.mark.parametrize(
    ("rule", "requester"),
    [
        ({"reviewers": {"users": ["U0ALICE"], "exclude_requester": True}}, "U0ALICE"),
        ({"reviewers": TWO}, "U0ALICE"),
        ({"reviewers": {"users": ["U0ALICE", "U0GONE"], "quorum": 2}}, None),
        ({"reviewers": {"groups": ["S0OPS"], "quorum": 3}}, None),
        ({"notify": APPROVALS, "reviewers": {"channel_members": True, "quorum": 9}}, None),
    ],
    ids=["the requester alone", "one of two", "one has left", "a small group", "a small channel"],
)
async def test_what_too_few_may_approve_is_shown_and_told(
    bot: Bot, health: Health, rule: dict[str, Any], requester: str | None
) -> None:
    """Given fewer people than must approve; then the card is shown, where it may be rejected, the fallback
    shows it too and opens to nobody, and the review and the problems say why."""
    review_id = await bot.submit(requester, pay={**rule, "fallback": ASK})
    [action] = await bot.deliver(review_id)
    snapshot = await bot.reviews.load(review_id)
    assert action.places[-1] == ASK
    assert ASK not in members_of(action)
    assert set(snapshot.posts) == set(snapshot.review.delivery_problems) == set(action.places)
    for trouble in snapshot.review.delivery_problems.values():
        assert trouble.why == "too few people are left who may approve pay"
    assert {one.kind for one in health.current_problems()} == {"delivery"}


async def test_a_channel_with_nobody_but_the_bot_has_nobody_left(
    bot: Bot, sandbox: Sandbox
) -> None:
    sandbox.workspace.channels["C0OPS"].members[:] = ["U0APPROVER"]
    [action] = await bot.deliver(await bot.submit(pay={"notify": OPS, "fallback": ASK}))
    assert members_of(action) == {OPS, ASK}


async def test_people_of_the_steps_to_come_are_enough(bot: Bot) -> None:
    rule = {"reviewers": TWO, "escalate": [step(OPS, users=["U0DANA"])], "fallback": ASK}
    review_id = await bot.submit("U0ALICE", pay=rule)
    [action] = await bot.deliver(review_id)
    assert action.places == ("default",)
    assert not (await bot.reviews.load(review_id)).review.delivery_problems


async def _grow_channel(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "MAX_MEMBERS", 1)


async def _rename(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.channels.rename("C0OPS", "team-operations")
    bot.channel.set_channel_name("C0OPS", "team-operations")


async def _take_the_name(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    await _rename(bot, sandbox, monkeypatch)
    sandbox.channels.rename("C0GUESTS", "team-ops")
    bot.channel.set_channel_name("C0GUESTS", "team-ops")


@pytest.mark.parametrize("change", [_rename, _take_the_name, _grow_channel])
async def test_promise_12_what_happens_to_a_channel_later_gives_nobody_a_right(
    bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    """Given a card in a channel whose members may decide, and a fallback; when the channel is renamed, when
    another one takes its name, or when it grows too large to be asked in; then its members may decide, and
    nobody else gets a right, also not by an escalation step before its time (attack H3)."""
    rule = {"notify": OPS, "fallback": ASK, "escalate": [step(APPROVALS)]}
    review_id = await bot.submit(pay=rule)
    [before] = await bot.deliver(review_id)
    await change(bot, sandbox, monkeypatch)
    with suppress(ChannelError):
        await bot.deliver_at(review_id, OPS)
    snapshot = await bot.reviews.load(review_id)
    [after] = snapshot.review.actions
    assert after.grants == before.grants
    dana = Reviewer(channel="slack", team=bot.channel.team, id="U0DANA", name="Dana")
    await Directory(Channels(bot.channel)).check_can_decide(dana, snapshot, after.grants)


@pytest.mark.parametrize("fallback", [{"fallback": ASK}, {}], ids=["fallback", "no fallback"])
async def test_a_channel_found_too_large_after_its_card_was_shown_has_no_deciders(
    bot: Bot, health: Health, monkeypatch: pytest.MonkeyPatch, fallback: dict[str, Any]
) -> None:
    """Given a card that was shown while Slack didn't say how many may see it; when it says that there are too
    many, then its members may not decide. So the fallback's people may, or else the problem is told: it was
    shown in the fallback, where nobody might decide, and nobody was told."""
    with monkeypatch.context() as patch:
        patch.setattr(bot.channel, "conversation_size", _raise_unknown)
        review_id = await bot.submit(pay={"notify": OPS, **fallback})
        await bot.deliver(review_id)
        assert OPS in (await bot.reviews.load(review_id)).posts
    monkeypatch.setattr(bot.channel, "conversation_size", _return_many_for_ops)
    [action] = await bot.deliver(review_id)
    snapshot = await bot.reviews.load(review_id)
    assert members_of(action) == {OPS, *fallback.values()}
    assert set(snapshot.posts) == members_of(action)
    told = [] if fallback else [OPS]
    assert list(snapshot.review.delivery_problems) == told
    assert [one.key[1] for one in health.current_problems()] == told


async def _raise_unknown(place: Place) -> int:
    raise LookupFailed("the size is not known")


async def _return_many_for_ops(place: Place) -> int:
    return lookups.MAX_MEMBERS + (place in (OPS, "slack:C0OPS"))


async def test_promise_12_a_group_that_grows_gives_nobody_a_right(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a group of which each member has a copy; when it has more members than can get one; then they
    keep their right, which their Home shows, and nobody else gets one."""
    group = Place("slack:S0OPS")
    for known in (True, False):  # with copies, and before the first one
        review_id = await bot.submit(pay={"notify": group, "fallback": ASK})
        if known:
            await bot.deliver(review_id)
        with monkeypatch.context() as patch, suppress(ChannelError):
            patch.setattr(recipients, "MAX_COPIES", 0)
            await bot.deliver_at(review_id, group)
        [action] = (await bot.reviews.load(review_id)).review.actions
        assert members_of(action) == {group}


async def in_doubt(bot: Bot, review_id: str) -> None:
    """Approved where it has to be, and started by a process that died."""
    await approve_all(bot.reviews, review_id)
    await bot.reviews.change(review_id, "claim", lambda r, now: claims.claim(r, "p1", now, 30))
    await bot.reviews.change(review_id, "start", lambda r, now: claims.start(r, r.fence, "1", now))
    await bot.reviews.change(review_id, "die", lambda r, now: claims.expire_lease(r, now + 100))


async def test_a_doubt_goes_to_the_fallback_of_its_rule(bot: Bot) -> None:
    """Given a call in doubt whose place is archived; then it is asked about in its fallback, where only those
    who may decide answer."""
    review_id = await bot.submit(pay={"notify": ARCHIVED, "fallback": OPS, "reviewers": DANA})
    await in_doubt(bot, review_id)

    await bot.deliver(review_id)

    snapshot = await bot.reviews.load(review_id)
    [call] = snapshot.review.calls
    assert snapshot.review.places_of(call) == (ARCHIVED, OPS)
    assert OPS in snapshot.posts
    assert not any(grant.includes_members for grant in snapshot.review.grants_of(call))


async def test_so_does_the_doubt_of_a_call_that_needed_nobody(bot: Bot) -> None:
    """Its place's members may answer. None can, so those of the fallback may."""
    rules = {"default": "allow", "notify": ARCHIVED, "fallback": OPS}
    review, event = review_of([call("pay")], by=Policy.from_mapping(rules))
    await bot.reviews.submit(review, event)
    await in_doubt(bot, review.id)

    await bot.deliver(review.id)

    snapshot = await bot.reviews.load(review.id)
    [asked] = snapshot.review.calls
    assert OPS in snapshot.posts
    assert {one.places for one in snapshot.review.grants_of(asked)} == {(ARCHIVED,), (OPS,)}


async def test_a_doubt_without_a_fallback_is_told(bot: Bot) -> None:
    review_id = await bot.submit(pay={"notify": ARCHIVED, "reviewers": DANA})
    await in_doubt(bot, review_id)
    await bot.deliver(review_id)
    review = (await bot.reviews.load(review_id)).review
    assert list(review.delivery_problems) == [ARCHIVED]
    assert bot.health.current_problems()


async def test_a_doubt_that_nobody_can_answer_opens_the_fallback(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a call in doubt whose only reviewer has left; then the members of its fallback may answer."""
    review_id = await bot.submit(pay={"reviewers": DANA, "fallback": OPS})
    await bot.deliver(review_id)
    await in_doubt(bot, review_id)
    sandbox.users.deactivate("U0DANA")

    await bot.deliver(review_id)

    review = (await bot.reviews.load(review_id)).review
    [call] = review.calls
    assert Grant((OPS,), Reviewers()) in review.grants_of(call)
    assert f"place:{OPS}" in review.audiences


@pytest.mark.parametrize("what", ["the reviewer left", "the channel was archived"])
async def test_who_may_decide_is_checked_again_after_the_card_was_shown(
    bot: Bot, sandbox: Sandbox, what: str
) -> None:
    """Given a card that is shown, of an action without any timer; when its only reviewer leaves, or its
    channel is archived, then a later check gives it to its fallback."""
    review_id = await bot.submit(pay={"reviewers": DANA, "notify": ASK, "fallback": OPS})
    await bot.deliver(review_id)
    check = DeciderCheck(bot.reviews, bot.delivery(), Health())
    await check.check_page()
    [action] = (await bot.reviews.load(review_id)).review.actions
    assert action.places == (ASK,)

    if what == "the reviewer left":
        sandbox.users.deactivate("U0DANA")
    else:
        sandbox.workspace.channels["C0ASK"].is_archived = True
    await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()

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
    await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert (infos(sandbox) - before, await moved(bot, ids)) == (1, 5)


async def test_a_check_that_slack_limits_waits_and_goes_on_with_the_same_review(
    bot: Bot, sandbox: Sandbox
) -> None:
    ids = await submit_shown(bot, 3)
    sandbox.workspace.channels["C0ASK"].is_archived = True
    sandbox.faults.configure(
        {"mode": "ratelimited", "method": "conversations.info", "times": 2, "retry_after": 0}
    )
    await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert await moved(bot, ids) == 3
    assert not [each for each in bot.health.current_problems() if each.kind == "lookup"]


async def test_pages_of_the_check_go_through_all(
    bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more reviews than a page, of which some were moved already; then each page has the next ones."""
    monkeypatch.setattr(decider_check, "MAX_REVIEWS", 2)
    ids = await submit_shown(bot, 5)
    sandbox.workspace.channels["C0ASK"].is_archived = True
    check, after = DeciderCheck(bot.reviews, bot.delivery(), Health()), list[int]()
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
    await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
    assert list((await bot.reviews.load(review_id)).review.delivery_problems) == [ASK]
    [problem] = bot.health.current_problems()
    assert "can't be approved: nobody is left" in problem.text
    assert "invite the bot" not in problem.text

    sandbox.workspace.users["U0DANA"].deleted = False
    await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
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
        await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
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
        await DeciderCheck(bot.reviews, bot.delivery(), Health()).check_page()
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
