"""A bot with several channels: each place, person and message belongs to one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import Card
from bot.channels.contract import NotFound
from bot.channels.policy_places import check_channels, check_policy
from bot.channels.registry import Channels, NotConfigured
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render.mentions import place_names
from bot.health import PlaceCheck
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from bot.people.humans import People
from bot.people.recipients import Recipients
from hitl_core import Policy
from hitl_core.errors import PolicyError, Refused
from hitl_core.model import (
    CLI,
    DEFAULT_PLACE,
    Grant,
    MessageRef,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Snapshot,
)
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import Sandbox
from tests.bot.second_channel import TeamsLike, second_channel
from tests.support.builders import START, approve_all, policy, review_of
from tests.support.text_channel.channel import TextChannel
from tests.support.text_channel.office import office

OPS, TEAMS_OPS = Place("slack:#team-ops"), Place("teams:#team-ops")
MARIA = Reviewer(channel="slack", team="T0ACME", id="U0MARIA", name="Maria")
DANA_IN_TEAMS = Reviewer(channel="teams", team="T0ACME", id="U0DANA", name="Dana")
MARIA_IS_DANA = People([("slack:U0MARIA", "teams:U0DANA")])
OF_MARIA = Grant((OPS,), Reviewers(users=("U0MARIA",)))


@pytest.fixture
async def second() -> AsyncIterator[TeamsLike]:
    async with second_channel() as (channel, _):
        yield channel


@pytest.fixture
def both(channel: SlackChannel, second: TeamsLike) -> Channels:
    return Channels(channel, second)


def snapshot_of(**posts: str) -> Snapshot:
    """Its cards in `#team-ops` of these channels, each in the conversation C0OPS."""
    refs = {
        Place(f"{name}:#team-ops"): MessageRef(channel=name, conversation=id, ts="1.1")
        for name, id in posts.items()
    }
    return Snapshot(review=review_of()[0], posts=refs, shown={}, now=0.0)


async def may_decide(
    directory: Directory, who: Reviewer, grant: Grant, snapshot: Snapshot | None = None
) -> bool:
    try:
        await directory.check_can_decide(who, snapshot or snapshot_of(), [grant])
    except Refused as refused:
        return {"not_permitted": False}[refused.code]
    return True


async def test_the_name_of_a_requester_of_another_chat_system_is_looked_up(
    both: Channels, second: TeamsLike
) -> None:
    """Given a card in one chat system about a request of a person in the other one; then its channel knows
    the person's name: their id would say nothing to people there."""
    store = MemoryStore()
    review, event = review_of(by=policy(ask={"notify": TEAMS_OPS}), requester="U0CARL")
    await Reviews(store).submit(review, event)
    recipients = Recipients(both, Directory(both), store)
    await recipients.check(await Reviews(store).load(review.id), TEAMS_OPS)
    assert second.name_of(Place("slack:U0CARL")) == "“Carl Weiss” (U0CARL) in Slack"


async def test_a_bot_that_starts_later_draws_that_name_too(
    both: Channels, second: TeamsLike, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given such a card, which another bot posted; when this bot draws it again, then it has the name: it
    became an id with the first update after each restart."""
    reviews = Reviews(MemoryStore())
    review, event = review_of(by=policy(ask={"notify": TEAMS_OPS}), requester="U0CARL")
    await reviews.submit(review, event)
    await Delivery(reviews, both, Directory(both), health=Health()).deliver(
        review.id, TEAMS_OPS, again=False
    )
    slack = both.get("slack")
    assert isinstance(slack, SlackChannel)
    slack._labels.clear()  # as after a restart
    drawn = list[str]()
    update = second.update

    async def note(place: Place, ref: MessageRef, card: Card) -> None:
        drawn.append(second.name_of(Place("slack:U0CARL")))
        await update(place, ref, card)

    monkeypatch.setattr(second, "update", note)
    await approve_all(reviews, review.id)
    await Delivery(reviews, both, Directory(both), health=Health()).deliver(
        review.id, TEAMS_OPS, again=False
    )
    assert drawn == ["“Carl Weiss” (U0CARL) in Slack"]


# ------------------------------------------------------------------------ registry


def test_a_place_belongs_to_the_channel_that_it_names(both: Channels) -> None:
    assert both.of_place(OPS).name == "slack"
    assert both.of_place(TEAMS_OPS.for_member("U1")).name == "teams"
    assert both.of_place(DEFAULT_PLACE).name == both.default.name == "slack"


@given(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), st.sampled_from(["#a", "U1", "19:x"]))
def test_a_place_of_another_channel_is_never_guessed(name: str, target: str) -> None:
    """Given any channel that the bot does not have; then its places have no channel, with a reason."""
    channels, place = Channels(_Nameless()), Place.of(name, target)
    assert channels.find(place) is None
    assert channels.audience(place) is None
    assert channels.name_of(place) == place
    with pytest.raises(NotConfigured, match=f"this bot has no channel “{name}”, only “UNNAMED”"):
        channels.of_place(place)


def test_a_place_of_another_channel_says_where_it_is(
    channel: SlackChannel, second: TeamsLike
) -> None:
    """Given a bot in two chat systems; then a card in one names a place of the other with its system: it
    showed the place's id; and a person there is no conversation."""
    Channels(channel, second)
    second.label = "Teams"
    second.set_label("U0ANN", "Ann")
    assert channel.name_of(Place("teams:#team-ops")) == "#team-ops in Teams"
    assert channel.name_of(Place("teams:U0ANN")) == "Ann in Teams"
    assert channel.name_of(Place("mail:a@b")) == "mail:a@b"
    assert channel.name_of(DEFAULT_PLACE) == "#agent-approvals"
    assert second.name_of(DEFAULT_PLACE) == "#agent-approvals in Slack"
    names = place_names(channel.name_of)
    assert names.is_conversation(Place("teams:19:a@thread.tacv2"))
    assert not names.is_conversation(Place("teams:8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11"))


class _Nameless(SlackChannel):
    name = "UNNAMED"

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("name", ["slack", CLI, "policy"])
def test_each_channel_has_a_name_of_its_own(
    channel: SlackChannel, second: TeamsLike, name: str
) -> None:
    second.name = name
    with pytest.raises(ValueError, match="a name of its own"):
        Channels(channel, second)


# ------------------------------------------------------------------------ a place without its channel


def move(review: Review, place: Place, fallback: Place | None = None) -> Review:
    """The review as an agent of another policy submits it: it waits at this place."""
    update = {"notify": (place,), "fallback": fallback}
    actions = tuple(
        action.model_copy(update={"route": action.route.model_copy(update=update)})
        for action in review.actions
    )
    return review.model_copy(update={"actions": actions})


async def test_a_card_without_its_channel_is_a_dead_letter_with_a_reason(
    channel: SlackChannel,
) -> None:
    """Given an agent whose policy names a channel that this bot does not have; then the review says why, and
    the people who run the bot are told what to do."""
    health, reviews = Health(lambda: START), Reviews(MemoryStore(lambda: START))
    review, event = review_of()
    review = move(review, TEAMS_OPS)
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), health)
    with pytest.raises(NotFound, match="this bot has no channel “teams”, only “slack”"):
        await delivery.deliver(review.id, TEAMS_OPS, again=False)
    snapshot = await reviews.load(review.id)
    assert snapshot.posts == {}
    assert (
        snapshot.review.delivery_problems[TEAMS_OPS].why
        == "this bot has no channel “teams”, only “slack”"
    )
    (problem,) = health.current_problems()
    assert (problem.kind, problem.subject) == ("place", TEAMS_OPS)
    assert "Connect the bot to that channel" in problem.text


async def test_a_card_without_its_channel_goes_to_its_fallback(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    health, reviews = Health(lambda: START), Reviews(MemoryStore(lambda: START))
    review, event = review_of()
    review = move(review, TEAMS_OPS, fallback=OPS)
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), health)
    await delivery.deliver(review.id, TEAMS_OPS, again=False)
    await delivery.deliver(review.id, OPS, again=False)
    snapshot = await reviews.load(review.id)
    assert [*snapshot.posts] == [OPS]
    assert snapshot.review.actions[0].places == (TEAMS_OPS, OPS)


async def test_each_card_is_shown_in_its_own_channel(both: Channels, second: TeamsLike) -> None:
    """Given a review at a place of each channel; then each has its message there, and both are updated."""
    reviews = Reviews(MemoryStore(lambda: START))
    review, event = review_of()
    here = review.actions[0]
    route = here.route.model_copy(update={"notify": (OPS, TEAMS_OPS)})
    review = review.model_copy(update={"actions": (here.model_copy(update={"route": route}),)})
    await reviews.submit(review, event)
    delivery = Delivery(reviews, both, Directory(both), Health())
    for place in (OPS, TEAMS_OPS):
        await delivery.deliver(review.id, place, again=False)
        await reviews.store.redraw(review.id, place)
        job = await reviews.store.take_job(place, "draw")
        assert job
        await delivery.run_job(job, again=False)
    posts = (await reviews.load(review.id)).posts
    assert {place: ref.channel for place, ref in posts.items()} == {
        OPS: "slack",
        TEAMS_OPS: "teams",
    }
    found = await second.find_messages(TEAMS_OPS, review.id, 0.0)
    assert [ref.ts for ref in found] == [posts[TEAMS_OPS].ts]


async def test_the_check_of_places_reports_a_missing_channel(channel: SlackChannel) -> None:
    health, reviews = Health(lambda: START), Reviews(MemoryStore(lambda: START))
    review, event = review_of()
    await reviews.submit(move(review, OPS, fallback=TEAMS_OPS), event)
    await PlaceCheck(reviews, Channels(channel), health).check_places()
    assert [one.subject for one in health.current_problems()] == [TEAMS_OPS]


# ------------------------------------------------------------------------ policies

POLICY = """
default: review
interrupt_on:
  refund:
    notify: slack:#finance
    fallback: slack:#team-ops
    reviewers: {users: [U0BOB]}
    escalate: [{after: 10m, to: slack:#leads}]
"""


def test_a_policys_place_without_its_channel_is_an_error_at_load(second: TeamsLike) -> None:
    """Given a bot without Slack; then each place in Slack is named, with rule, line, key and channels."""
    policies = [("billing", Policy.from_yaml(POLICY))]
    with pytest.raises(PolicyError) as caught:
        check_channels(policies, Channels(second))
    lines = str(caught.value).split("\n")
    assert lines[0] == (
        "HITL_POLICY, billing.yaml: the rule “refund” (line 4), “notify”: slack:#finance can't be used:"
        " this bot has no channel “slack”, only “teams”."
    )
    keys = ["notify", "reviewers.users", "escalate[1].to", "fallback"]
    assert [f"“{key}”" in line for key, line in zip(keys, lines, strict=True)] == [True] * 4


def test_a_policy_for_the_bots_channels_loads(channel: SlackChannel) -> None:
    check_channels([("", Policy.from_yaml(POLICY))], Channels(channel))


async def test_policy_check_names_the_rule_of_a_missing_channel(second: TeamsLike) -> None:
    findings = await check_policy(Policy.from_yaml(POLICY), Channels(second))
    found = next(one for one in findings if one.name == "slack:#finance")
    assert found.usable == "no"
    assert found.why == (
        "this bot has no channel “slack”, only “teams” (in the rule “refund” (line 4), “notify”)"
    )


async def test_policy_check_asks_each_channel_about_its_own_places(
    channel: SlackChannel,
) -> None:
    """house 11 §2: given a policy with places in two channels; then each is looked up in its own."""
    text = TextChannel(office(), "r-orders")
    await text.start()
    rule = {"notify": ["slack:#team-ops", "text:#orders", "text:#none"]}
    policy = Policy.from_mapping({"default": "review", "interrupt_on": {"refund": rule}})
    findings = await check_policy(policy, Channels(channel, text))
    assert [(one.name, one.usable, one.why) for one in findings[1:]] == [
        ("slack:#team-ops", "yes", ""),
        ("text:#orders", "yes", ""),
        ("text:#none", "no", "#none is the name of 0 rooms"),
    ]


# ------------------------------------------------------------------------ who


@pytest.mark.parametrize(
    "grant", [OF_MARIA, Grant((OPS,), Reviewers()), Grant((TEAMS_OPS,), Reviewers())]
)
async def test_a_person_of_an_unknown_channel_may_decide_nothing(
    channel: SlackChannel, grant: Grant
) -> None:
    """house §5: a `Reviewer(channel="teams")` with an id of Slack passes through none of Slack's rules."""
    directory, who = Directory(Channels(channel)), MARIA.model_copy(update={"channel": "teams"})
    posted = snapshot_of(slack="C0OPS", teams="C0OPS")
    assert not await may_decide(directory, who, grant, posted)
    assert directory.is_external(who)
    assert await directory.ineligible_voters([who], posted, [grant]) == {"teams:U0MARIA"}


async def test_each_channel_judges_its_own_people(both: Channels) -> None:
    """Given the same ids in both channels; then a rule for people or members of one gives the other's no
    right."""
    directory, posted = Directory(both), snapshot_of(slack="C0OPS", teams="C0OPS")
    dana = DANA_IN_TEAMS.model_copy(update={"channel": "slack"})
    for place, who, other in ((OPS, dana, DANA_IN_TEAMS), (TEAMS_OPS, DANA_IN_TEAMS, dana)):
        assert await may_decide(directory, who, Grant((place,), Reviewers()), posted)
        assert not await may_decide(directory, other, Grant((place,), Reviewers()), posted)
    in_teams = Grant((OPS,), Reviewers(users=("teams:U0DANA",), groups=("teams:S0OPS",)))
    assert await may_decide(directory, DANA_IN_TEAMS, in_teams)
    assert not await may_decide(directory, dana, in_teams)


async def test_a_human_on_a_list_may_decide_with_each_identity(both: Channels) -> None:
    """Given that Maria in Slack is Dana in Teams, and a rule that names Maria; then Dana may decide too."""
    directory = Directory(both, MARIA_IS_DANA)
    assert await may_decide(directory, DANA_IN_TEAMS, OF_MARIA)
    assert not await may_decide(Directory(both), DANA_IN_TEAMS, OF_MARIA)
    outside = DANA_IN_TEAMS.model_copy(update={"team": "T0GLOBEX"})
    assert not await may_decide(directory, outside, OF_MARIA)
    who = await directory.load_reviewer("teams", "U0DANA", "T0ACME", "dana")
    assert (who.name, who.aliases) == ("Dana Okoye", ("slack:U0MARIA",))


async def test_a_human_who_left_one_channel_has_no_right_from_there(both: Channels) -> None:
    """Given a rule for somebody who has left Slack; then their account in Teams gives nothing back. And who
    has left Teams decides nothing there."""
    gone = People([("slack:U0GONE", "teams:U0DANA"), ("slack:U0MARIA", "teams:U0GONE")])
    directory = Directory(both, gone)
    assert not await may_decide(
        directory, DANA_IN_TEAMS, Grant((OPS,), Reviewers(users=("U0GONE",)))
    )
    left = DANA_IN_TEAMS.model_copy(update={"id": "U0GONE"})
    assert not await may_decide(directory, left, OF_MARIA)


async def test_a_human_counts_once_among_those_who_are_left(both: Channels) -> None:
    """Given two identities of one human on a list, and a quorum of two; then they are too few. If this human
    asked for it in the other channel, nobody is left to approve."""
    directory = Directory(both, MARIA_IS_DANA)
    grant = Grant((OPS,), Reviewers(users=("U0MARIA", "teams:U0DANA")))
    assert await Directory(both).deciders_left([grant], snapshot_of(), 2) == "enough"
    assert await directory.deciders_left([grant], snapshot_of(), 2) == "too_few"
    assert await directory.deciders_left([grant], snapshot_of(), 1, {"teams:U0DANA"}) == "too_few"
    assert (
        await directory.deciders_left([OF_MARIA], snapshot_of(), 1, {"teams:U0DANA"}) == "too_few"
    )


async def test_votes_from_before_the_setting_are_one_humans_too(both: Channels) -> None:
    """Given votes of two identities, stored before HITL_PEOPLE named them; then one of them counts."""
    grant = Grant((OPS,), Reviewers(users=("U0MARIA", "teams:U0DANA")))
    voters = [MARIA, DANA_IN_TEAMS]
    ineligible = Directory(both, MARIA_IS_DANA).ineligible_voters
    assert await ineligible(voters, snapshot_of(), [grant]) == {DANA_IN_TEAMS.key}
    assert await Directory(both).ineligible_voters(voters, snapshot_of(), [grant]) == set()
