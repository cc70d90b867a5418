"""Races for one review, with a real Redis: clicks, votes and deadlines at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from hitl_core.errors import Refused
from hitl_core.review import Decide
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.review.open_reviews import Open, audit, submit
from tests.support.builders import (
    START,
    approvals_needed,
    call,
    person,
    policy,
    proposal,
    review_of,
)


async def test_promise_2_of_two_replicas_one_wins(open_reviews: Open, redis_url: str):
    """T41: 300 times approve against reject at once: one decision each, and the loser is told whose."""
    one, two = await open_reviews(), await open_reviews()
    ada, bo = person("Ada"), person("Bo")
    wins: Counter[str] = Counter()

    async def race(number: int) -> None:
        review = await submit(one, thread_id=f"t-{number}")
        results = await asyncio.gather(
            one.apply(Decide(review.id, "1", proposal("approve"), ada, f"a-{number}")),
            two.apply(Decide(review.id, "1", proposal("reject"), bo, f"b-{number}")),
            return_exceptions=True,
        )
        [lost] = [r for r in results if isinstance(r, Refused)]
        decision = (await one.load(review.id)).review.actions[0].decision
        assert decision is not None
        assert decision.by is not None
        winner = {"approve": ada, "reject": bo}[decision.type]
        assert decision.by == winner
        assert (lost.code, winner.name in str(lost)) == ("already_decided", True)
        wins[winner.name] += 1

    for start in range(0, 300, 30):
        await asyncio.gather(*(race(number) for number in range(start, start + 30)))

    assert wins.total() == 300
    assert sum(event["kind"] == "decided" for event in audit(redis_url)) == 300


async def test_the_same_click_counts_once_however_often_it_arrives(
    open_reviews: Open, redis_url: str
):
    """T22: 100 replays on two replicas are one decision, and all get the same answer."""
    replicas = [await open_reviews(), await open_reviews()]
    review = await submit(replicas[0])

    answers = [
        await asyncio.gather(
            *(r.apply(Decide(review.id, "1", proposal(), person(), "click-1")) for r in replicas)
        )
        for _ in range(50)
    ]

    assert sum(applied.is_new for pair in answers for applied in pair) == 1
    assert {applied.review.version for pair in answers for applied in pair} == {2}
    assert [event["kind"] for event in audit(redis_url)] == ["submitted", "decided"]


async def test_a_hundred_clicks_of_one_person_are_one_vote(open_reviews: Open, redis_url: str):
    """T40: On two replicas, each a click of its own: one is stored, and all others are told."""
    replicas = [await open_reviews(), await open_reviews()]
    review = await submit(replicas[0], "pair")

    results = await asyncio.gather(
        *(
            replicas[n % 2].apply(Decide(review.id, "1", proposal(), person("Ada"), f"click-{n}"))
            for n in range(100)
        ),
        return_exceptions=True,
    )

    refusals = [result.code for result in results if isinstance(result, Refused)]
    assert refusals == ["already_voted"] * 99
    action = (await replicas[0].load(review.id)).review.actions[0]
    assert (len(action.votes), approvals_needed(action)) == (1, 1)
    assert [event["kind"] for event in audit(redis_url)] == ["submitted", "voted"]


async def test_votes_and_a_rejection_at_once_are_one_decision(open_reviews: Open):
    """T41: 50 times two approvals against a rejection: the result is consistent, in any order."""
    one, two = await open_reviews(), await open_reviews()

    async def race(number: int) -> str:
        review = await submit(one, "pair", thread_id=f"t-{number}")
        plans = [(one, "Ada", "approve"), (two, "Bo", "approve"), (two, "Cy", "reject")]
        await asyncio.gather(
            *(
                replica.apply(
                    Decide(review.id, "1", proposal(type), person(name), f"{name}-{number}")
                )
                for replica, name, type in plans
            ),
            return_exceptions=True,
        )
        action = (await one.load(review.id)).review.actions[0]
        assert action.decision is not None
        enough = len(action.approvals) == 2
        assert (action.decision.type == "approve") == enough
        return action.decision.type

    kinds = await asyncio.gather(*(race(number) for number in range(50)))
    assert set(kinds) <= {"approve", "reject"}


async def test_many_at_once_are_all_stored(open_reviews: Open):
    """Given forty actions, when forty people decide at the same moment, then each decision is there."""
    reviews = await open_reviews()
    review = await submit(reviews, *["ask"] * 40)

    await asyncio.gather(
        *(
            reviews.apply(Decide(review.id, str(n), proposal(), person(f"P{n}"), f"op-{n}"))
            for n in range(1, 41)
        )
    )

    after = (await reviews.load(review.id)).review
    assert after.status == "settled"
    assert {a.decision.by.name for a in after.actions if a.decision and a.decision.by} == {
        f"P{n}" for n in range(1, 41)
    }
    assert after.version == 41


async def test_what_is_due_is_fired_once(open_reviews: Open, redis_url: str):
    """Fault K2: given two bots that saw the same review due, when both fire, then it is escalated once."""
    bots = [await open_reviews(), await open_reviews()]
    steps = {
        "quick": {
            "escalate": [{"after": "1s", "to": "slack:#a"}, {"after": "1h", "to": "slack:#b"}]
        }
    }
    review, event = review_of(
        [call("quick")], now=await bots[0].store.now() - 5, by=policy(**steps)
    )
    await bots[0].submit(review, event)
    assert await bots[0].store.due_reviews() == [review.id]

    fired = await asyncio.gather(*(bot.apply_due(review.id) for bot in bots * 5))

    assert sum(applied is not None and applied.is_new for applied in fired) == 1
    after = (await bots[0].load(review.id)).review
    assert after.actions[0].places == ("default", "slack:#a")
    assert [e["kind"] for e in audit(redis_url)] == ["submitted", "escalated"]
    assert await bots[0].store.due_reviews() == []


async def test_what_expired_while_nobody_looked_is_not_escalated_first():
    """Fault K3: given both are late, then the review expires, and more people are never asked."""
    reviews = Reviews(MemoryStore(lambda: START + 100))
    review = await reviews.submit(*review_of([call("timed")], now=START))

    applied = await reviews.apply_due(review.id)

    assert applied is not None
    action = applied.review.actions[0]
    assert action.decision is not None
    assert (action.decision.type, action.decision.by) == ("reject", None)
    assert action.places == ("slack:#first",)
    assert await reviews.apply_due(review.id) is None


async def test_a_click_and_the_deadline_are_one_decision():
    """Promise 2: the second one changes nothing."""
    now = START
    reviews = Reviews(MemoryStore(lambda: now))
    review = await reviews.submit(*review_of([call("hurried")], now=START))
    now = START + 1
    with pytest.raises(Refused, match="time to decide"):
        await reviews.apply(Decide(review.id, "1", proposal(), person(), "late"))
    await reviews.apply_due(review.id)
    with pytest.raises(Refused, match="The deadline already skipped"):
        await reviews.apply(Decide(review.id, "1", proposal(), person(), "later"))
