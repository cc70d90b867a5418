"""Where somebody asked the agent, and for whom it works."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_core import Gate
from hitl_core.errors import InvalidToolCall
from hitl_core.model import Review
from hitl_core.store import MemoryStore
from tests.support.builders import approve_all, call, policy, review_of
from tests.support.jobs import next_job

THREAD = "slack:C0123ABCD/1700000000.000100"
IN_TEAMS = "teams:19:Ab-1_x@thread.tacv2/1700000000000"


def review_with(rule: dict[str, Any], **where: Any) -> Review:
    return review_of([call("run"), call("look_up", "c2")], by=policy(run=rule), **where)[0]


@pytest.mark.parametrize(
    ("notify", "origin", "places"),
    [
        ("origin", THREAD, (THREAD,)),
        ("origin", "slack:D0123ABCD", ("slack:D0123ABCD",)),
        ("origin", IN_TEAMS, (IN_TEAMS,)),
        ("origin", "teams:19:3a@thread.v2", ("teams:19:3a@thread.v2",)),
        ("origin", None, ("default",)),
        (["slack:#ops", "origin"], THREAD, ("slack:#ops", THREAD)),
        (["origin", "slack:C0123ABCD"], "slack:C0123ABCD", ("slack:C0123ABCD",)),
    ],
)
def test_the_origin_is_a_place_like_any_other(
    notify: Any, origin: str | None, places: tuple[str, ...]
):
    """It is frozen into the review; where none was given the card goes to the default place."""
    review = review_with({"notify": notify}, origin=origin)
    assert (review.origin, review.actions[0].places) == (origin, places)
    assert review.calls[0].route == review.actions[0].route


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "C1",
        "slack:",
        "slack:#ops",
        "slack:U1",
        "slack:C1/",
        "slack:C1/1.2",
        "slack:C1/x y",
        "teams:Approvals",
        "teams:8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11",
        "teams:19:a@thread.tacv2;messageid=1",
        "teams:19:a@thread.tacv2/1>8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11",
        "mail:19:a@thread.tacv2",
        "\n",
    ],
)
def test_what_is_no_origin_is_refused(origin: str):
    with pytest.raises(
        InvalidToolCall, match="The origin must be a thread such as slack:C0123ABCD/17"
    ):
        review_with({}, origin=origin)


OTHERS = {"reviewers": {"channel_members": True, "exclude_requester": True}}


@pytest.mark.parametrize("requester", [None, "", "ada@example.com", "U_ADA", "slack:ada", "S1"])
def test_an_excluded_requester_must_be_known(requester: str | None):
    """Otherwise the requester's own approval could not be recognized."""
    with pytest.raises(InvalidToolCall, match="must be the requester's user id"):
        review_with(OTHERS, requester=requester)


@pytest.mark.parametrize("requester", ["U0123ABCD", "slack:U0123ABCD", "slack:W1"])
def test_a_user_id_identifies_the_requester(requester: str):
    assert review_with(OTHERS, requester=requester).requester == requester


TWO = {"reviewers": {"channel_members": True, "quorum": 2}}


@pytest.mark.parametrize("rule", [TWO, OTHERS])
@pytest.mark.parametrize(
    "written", ["<@U0ALICE>", "<@U0ALICE|alice>", "slack:T0ACME/U0ALICE", " U0ALICE\n"]
)
def test_a_user_id_in_another_spelling_is_read(rule: Any, written: str):
    """Or the requester's own approval counted, against what the card says."""
    assert review_with(rule, requester=written).requester == "U0ALICE"


@pytest.mark.parametrize(
    "requester", ["alice", "ada@example.com", "U_ADA", "<@U0ALICE", "@U0ALICE"]
)
def test_a_quorum_needs_a_known_requester(requester: str):
    """Given a quorum of two, which leaves the requester out, then a requester without a known id
    is refused, unless the policy lets the requester approve."""
    with pytest.raises(InvalidToolCall, match="exclude_requester: false"):
        review_with(TWO, requester=requester)
    may = {"reviewers": {**TWO["reviewers"], "exclude_requester": False}}
    assert review_with(may, requester=requester).requester == requester


def test_a_requester_is_needed_only_if_the_policy_excludes_it():
    """A quorum of two excludes the requester where there is one."""
    two = {"reviewers": {"channel_members": True, "quorum": 2}}
    assert review_with(two).actions[0].route.reviewers.exclude_requester
    rules = policy(run=OTHERS)
    assert review_of([call("ask")], by=rules)[0].status == "pending"


def test_what_people_must_see_is_frozen_into_the_review():
    rule = {"must_read": True, "confirm": True, "redact": ["/token"]}
    config = review_with(rule).actions[0].config
    assert (config.must_read, config.confirm, config.redact) == (True, True, ("/token",))


RULES = policy(run={"notify": "origin", **OTHERS})


async def test_a_gate_takes_it_with_the_submit():
    async with Gate(MemoryStore(), policy=RULES, agent="billing") as gate:
        given: Any = {"requester": "U0123ABCD", "origin": THREAD}
        review_id = await gate.submit([call("run")], thread_id="t-1", **given)
        review = (await gate.reviews.load(review_id)).review
        assert (review.origin, review.actions[0].places) == (THREAD, (THREAD,))
        of_teams = "teams:8F3C5E0A-1C1F-4D1E-9A53-0D6F0F2F7B11"
        assert await gate.submit([call("run")], thread_id="t-3", requester=of_teams, origin=THREAD)
        with pytest.raises(InvalidToolCall, match="it is 'teams:Maria'"):
            await gate.submit(
                [call("run")], thread_id="t-4", requester="teams:Maria", origin=THREAD
            )
        with pytest.raises(InvalidToolCall, match="it is missing"):
            await gate.submit([call("run")], thread_id="t-2", origin=THREAD)


async def test_a_guard_takes_it_with_its_thread():
    store = MemoryStore()
    async with Gate(store, policy=RULES, agent="billing") as gate:

        @gate.guard
        async def run() -> str:
            return "ran"

        with gate.thread("t-1", "U0123ABCD", THREAD):
            running = asyncio.create_task(run())
            hint = await next_job(store)
            assert (await gate.reviews.load(hint.review_id)).review.origin == THREAD
            await approve_all(gate.reviews, hint.review_id)
            assert await running == "ran"
