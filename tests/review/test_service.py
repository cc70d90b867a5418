"""The service that alone writes reviews, with a real Redis: races, lost replies, and what it checks again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import redis

from hitl_core.errors import Refused, ReviewConflict, ReviewNotFound, StoreUnavailable
from hitl_core.model import Review, encode
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, RedisStore, Write
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.packing import unpack
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.builders import START, call, person, policy, proposal, review_of
from tests.support.jobs import finish_all
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]
Open = Callable[..., Awaitable[Reviews]]


@pytest.fixture
async def open_reviews(redis_url: str) -> AsyncIterator[Open]:
    """One replica each: its own connections to the one Redis."""
    stores: list[RedisStore] = []

    async def make(url: str = redis_url, **options: Any) -> Reviews:
        store = await RedisStore.open(url)
        stores.append(store)
        return Reviews(store, **options)

    yield make
    for store in stores:
        await store.close()


async def submit(reviews: Reviews, *names: str, **where: Any) -> Review:
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names or ("ask",), start=1)]
    now = await reviews.with_retry(reviews.store.now)
    return await reviews.submit(*review_of(calls, now=now, **where))


def audit(url: str) -> list[dict[str, Any]]:
    """What happened, in order, as it is kept."""
    with redis.Redis.from_url(url) as client:
        entries: Any = client.xrange(Keys(0).audit)
    return [json.loads(unpack(fields[b"event"])) for _, fields in entries]


# ------------------------------------------------------------------------ races


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
    assert (len(action.votes), action.approvals_needed) == (1, 1)
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


# ------------------------------------------------------------------------ checks


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"n": 11}, "/n: must be at most 10"),
        ({"n": "1"}, "/n: must be a whole number"),
        ({"m": 1}, "must have the entry n|n"),
    ],
    ids=["maximum", "type", "required"],
)
async def test_an_edit_is_checked_against_its_schema_where_it_is_stored(
    args: dict[str, Any], text: str
):
    """A form that was got around decides nothing."""
    reviews = Reviews(MemoryStore())
    review = await submit(reviews, "strict")

    with pytest.raises(Refused, match=text) as caught:
        await reviews.apply(Decide(review.id, "1", proposal("edit", **args), person(), "op"))

    assert caught.value.code == "invalid_args"
    assert (await reviews.load(review.id)).review == review
    applied = await reviews.apply(Decide(review.id, "1", proposal("edit", n=9), person(), "op"))
    assert applied.review.arguments("1") == encode({"n": 9})


async def test_a_late_edit_is_told_who_decided_and_not_what_is_wrong_with_it():
    """Bad input, a modal submitted after the review was decided: the decision is the news."""
    reviews = Reviews(MemoryStore())
    review = await submit(reviews, "strict")
    await reviews.apply(Decide(review.id, "1", proposal(), person("Ada"), "first"))
    with pytest.raises(Refused, match=r"“Ada” \(U_ADA\) already approved"):
        await reviews.apply(Decide(review.id, "1", proposal("edit", n=99), person("Bo"), "second"))


async def test_the_same_turn_is_found_again_and_another_is_a_conflict(open_reviews: Open):
    """Submitting again after a crash posts nothing twice; other arguments are an error."""
    reviews = await open_reviews()
    review, event = review_of([call(n=1)], turn="m1", now=await reviews.store.now())
    assert await reviews.submit(review, event) == review
    await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    again = await reviews.submit(*review_of([call(n=1)], turn="m1"))
    assert again.status == "settled"

    for other in (call(n=2), call("strict", n=1)):
        with pytest.raises(ReviewConflict, match="already submitted with other arguments"):
            await reviews.submit(*review_of([other], turn="m1"))
    [job] = await finish_all(reviews.store)
    assert job.note == "2"  # submitted once, decided once


async def test_the_same_turn_for_another_requester_is_a_conflict():
    """Given a turn that was submitted for Ann, then nobody else gets her review as theirs: Bob could approve
    what his own agent asked. Who names nobody continues hers."""
    reviews = Reviews(MemoryStore())
    review, event = review_of([call(n=1)], turn="m1", requester="U0ANN")
    await reviews.submit(review, event)
    with pytest.raises(ReviewConflict, match="already submitted for another requester"):
        await reviews.submit(*review_of([call(n=1)], turn="m1", requester="U0BOB"))
    for same in ("U0ANN", "slack:U0ANN", None):
        again = await reviews.submit(*review_of([call(n=1)], turn="m1", requester=same))
        assert again.requester == "U0ANN"


async def test_an_unknown_review_is_not_found():
    reviews = Reviews(MemoryStore())
    for ask in (
        lambda: reviews.load("0-" + "a" * 32),
        lambda: reviews.apply_due("nonsense"),
        lambda: reviews.apply(Decide("", "1", proposal(), person(), "op")),
    ):
        with pytest.raises(ReviewNotFound):
            await ask()


# ------------------------------------------------------------------------ replies that are lost


async def whole_life(reviews: Reviews, thread_id: str) -> Review:
    """Every transition that there is, in a plausible order; each op named once, as callers do."""
    review = await submit(reviews, "ask", "ask", thread_id=thread_id, turn="m1")
    id = review.id
    await reviews.change(id, "await", lambda r, now: claims.set_waiting_process(r, "p1", now))
    await reviews.apply(Decide(id, "1", proposal("edit", n=9), person(), "click-1"))
    await reviews.apply(Decide(id, "2", proposal("approve"), person(), "click-2"))
    await reviews.change(id, "claim", lambda r, now: claims.claim(r, "p1", now, 60))
    await reviews.change(id, "start", lambda r, now: claims.start(r, 1, "1", now))
    await reviews.change(id, "renew", lambda r, now: claims.renew(r, 1, now, 0.0))
    await reviews.change(id, "lapse", claims.expire_lease)
    await reviews.change(
        id, "resolve", lambda r, now: claims.resolve(r, "1", "rerun", person(), now)
    )
    await reviews.change(id, "claim-2", lambda r, now: claims.claim(r, "p2", now, 60))
    await reviews.change(id, "start-2", lambda r, now: claims.start(r, 2, "1", now))
    await reviews.change(id, "report", lambda r, now: claims.report(r, 2, {"1": "ok"}, now))
    await reviews.change(id, "done", lambda r, now: claims.finish(r, 2, {}, now))
    return (await reviews.load(id)).review


def timeless(review: Review) -> Any:
    """What must be the same in two lives of different times."""
    text = json.dumps(review.model_dump(mode="json", exclude={"id", "thread_id"}))
    return json.loads(text, parse_float=lambda _: 0.0)


async def test_promise_3_a_lost_reply_leaves_the_state_as_if_once(
    open_reviews: Open, redis_url: str
):
    """Fault N2, T45: given a whole life of a review, when the reply to its n-th command is lost, for every n,
    then the review and its audit are what they are in a life without a fault."""
    async with proxy_to(redis_url) as proxy:
        reviews = await open_reviews(proxy.url, retry_seconds=10)
        await whole_life(reviews, "warm-up")  # the scripts are loaded, a connection is open
        proxy.drop_reply(10**6)
        expected = timeless(await whole_life(reviews, "calm"))
        commands = len(proxy.commands)
        assert commands > 25
        calm = [e["kind"] for e in audit(redis_url)][-commands:]

        for nth in range(1, commands + 1):
            before = len(audit(redis_url))
            proxy.drop_reply(nth)
            assert timeless(await whole_life(reviews, f"t-{nth}")) == expected, f"command {nth}"
            assert proxy.dropped
            kinds = [event["kind"] for event in audit(redis_url)[before:]]
            assert kinds == calm[-len(kinds) :]
            assert len(kinds) == 11


async def test_the_reply_of_one_start_is_lost_while_many_others_start(
    open_reviews: Open, redis_url: str
):
    """Given a turn of 60 calls that start at once, when one reply is lost, then it knows that it started.

    A review remembers its last operations; these are more than may come between the loss and the next try.
    """
    async with proxy_to(redis_url) as proxy:
        calm, shaky = await open_reviews(), await open_reviews(proxy.url, retry_seconds=10)
        review = await submit(calm, *["look_up"] * 60)
        await calm.change(review.id, "c", lambda r, now: claims.claim(r, "p1", now, 600))
        await start_call(shaky, review, 1)

        proxy.drop_reply(2, hold=True)  # the load, then the write
        unlucky = asyncio.create_task(start_call(shaky, review, 2))
        await wait_until("the write is lost", lambda: proxy.dropped)
        for n in range(3, 61):
            assert await start_call(calm, review, n)
        proxy.release()

        assert await unlucky is False
        runs = (await calm.load(review.id)).review.runs
        assert len(runs) == 60


async def start_call(reviews: Reviews, review: Review, n: int) -> bool:
    """Whether this very command wrote it. Raises Refused where the call was started by another."""
    op = f"start-{n}"
    step = lambda r, now: claims.start(r, 1, str(n), now)  # noqa: E731
    return (await reviews.change(review.id, op, step)).is_new


# ------------------------------------------------------------------------ a store that is away


async def test_a_short_outage_is_not_noticed(own_redis: OwnRedis, open_reviews: Open):
    """Fault R1: given a click, when Redis dies and comes back within the patience, then the click counts."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=20)
    review = await submit(reviews)
    server.kill()
    click = asyncio.create_task(reviews.apply(Decide(review.id, "1", proposal(), person(), "op")))
    await asyncio.sleep(0)

    server.start()

    assert (await click).review.status == "settled"


async def test_promise_11_a_store_that_stays_away_is_told_in_time(
    own_redis: OwnRedis, open_reviews: Open
):
    """Not "press again", and not after an endless wait."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=0.2)
    review = await submit(reviews)
    server.kill()
    with pytest.raises(StoreUnavailable):
        async with asyncio.timeout(30):
            await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))


async def test_promise_11_a_store_that_cannot_write_is_away_and_not_busy(
    own_redis: OwnRedis, open_reviews: Open
):
    """Fault R6: given a Redis that answers but refuses writes; nobody is told that others are deciding."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=0.5)
    review = await submit(reviews)
    with redis.Redis.from_url(server.url) as client:
        client.config_set("min-replicas-to-write", 0)
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(StoreUnavailable, match="can't write now"):
            await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
        client.execute_command("REPLICAOF", "NO", "ONE")
    applied = await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    assert applied.review.status == "settled"


class Contested(MemoryStore):
    """Somebody else is always faster."""

    async def commit(self, write: Write) -> bool:
        stored = self._reviews.get(write.review.id)
        if stored is not None:
            newer = stored.model_copy(update={"version": stored.version + 1})
            await super().commit(write._replace(review=newer))
        return await super().commit(write)


@pytest.mark.slow
async def test_what_is_never_free_is_refused_visibly():
    """Given others who change the review at every try, then the person may press again."""
    reviews = Reviews(Contested())
    review = await submit(reviews)
    with pytest.raises(Refused, match="Press again") as caught:
        await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    assert caught.value.code == "busy"
