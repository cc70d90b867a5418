"""A backlog of one agent's reviews shares one message, from which people open the reviews."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import Reviewer
from hitl_core.review import Decide, Proposal
from tests.support.bots import CANARY, POLICY, Scene, email, sql
from tests.support.slack import APPROVALS, Message, buttons
from tests.support.waiting import wait_until

Json = dict[str, Any]
FEW = {"HITL_DIGEST_AFTER": "4"}
COUNT = 8


async def submit(gate: Gate, count: int = COUNT, start: int = 0) -> list[str]:
    return [
        await gate.submit([email(f"c{n}")], thread_id=f"t-{n}") for n in range(start, start + count)
    ]


async def digest_of(scene: Scene, count: int, total: int = COUNT) -> Message:
    number = f"{count}" if count == total else f"{count} of {total}"
    verb = "waits" if count == 1 else "wait"
    noun = "review" if total == 1 else "reviews"
    return await scene.card(f"{number} {noun} {verb}")


def where(view: Json) -> str:
    return str(view["blocks"][0]["elements"][0]["text"])


async def opened(scene: Scene, person: str) -> Json:
    view = await scene.actor.view(person)
    assert view is not None
    return view


async def is_counted(gate: Gate, review_ids: list[str]) -> bool:
    """Whether each review has a message."""
    return all([(await gate.reviews.load(one)).posts for one in review_ids])


async def test_a_backlog_is_one_message_that_opens_into_its_reviews(scene: Scene) -> None:
    """Given eight reviews that wait before a bot runs, which shows at most four one by one; then one message
    says how many there are; when Alice opens it and approves, rejects and edits, then each is decided as on
    its own card, the next one follows, the count goes down, and at the end nothing waits."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    assert len(await scene.cards()) == 1
    assert [label["action_id"] for _, label in buttons(digest, "review")] == ["review"]
    assert not buttons(digest, "approve")
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    posts = [(await gate.reviews.load(one)).posts for one in ids]
    assert {ref.ts for one in posts for ref in one.values()} == {digest["ts"]}

    await scene.alice.press(digest, "review")
    assert where(await opened(scene, scene.alice.id)).startswith(f"1 of {COUNT}")
    assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    first = (await gate.reviews.load(ids[0])).review
    assert first.status == "settled"
    await digest_of(scene, COUNT - 1, COUNT)
    view = await opened(scene, scene.alice.id)
    assert CANARY in str(view["blocks"])

    await scene.actor.click_view(scene.alice.id, "reject")
    assert (await scene.alice.submit())["ok"]
    await digest_of(scene, COUNT - 2, COUNT)
    await scene.actor.click_view(scene.alice.id, "edit")
    assert (await scene.alice.submit(copies=3))["ok"]
    await digest_of(scene, COUNT - 3, COUNT)
    for left in range(COUNT - 3, 0, -1):
        assert "reviews that wait" in where(await opened(scene, scene.alice.id)), left
        assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    done = await scene.card("waits here any more")
    assert not buttons(done, "review")
    kinds = [(await gate.reviews.load(one)).review.actions[0].decision for one in ids]
    assert [one.type for one in kinds if one] == ["approve", "reject", "edit", *["approve"] * 5]
    assert len(await scene.cards()) == 1


async def test_who_has_voted_gets_what_waits_for_them_next(scene: Scene) -> None:
    """Given a digest of reviews with two calls each, which two people must approve; when Alice approves, then
    she gets the other call of the review, then the next review: she got the call on which she had voted
    again, and no page had the other one. When all have her votes, the page stays."""
    two = POLICY.replace(
        "  send_email:\n", "  send_email:\n    reviewers: {quorum: 2, channel_members: true}\n"
    )
    gate = await scene.gate(two)
    calls = [email(), ToolCall("c2", "send_email", {"to": "second", "copies": 2})]
    ids = [await gate.submit(calls, thread_id=f"t-{n}") for n in range(5)]
    await scene.bot(**FEW)
    await scene.alice.press(await digest_of(scene, 5, 5), "review")
    for number in range(1, 6):
        assert where(await opened(scene, scene.alice.id)).startswith(f"{number} of 5")
        for text in (CANARY, "second"):
            view = await opened(scene, scene.alice.id)
            assert text in str(view["blocks"])
            assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    votes = [(await gate.reviews.load(one)).review.actions for one in ids]
    assert [len(action.votes) for actions in votes for action in actions] == [1] * 10
    assert where(await opened(scene, scene.alice.id)).startswith("5 of 5")


async def test_who_has_voted_on_many_gets_what_waits_for_them_next(scene: Scene) -> None:
    """Given a digest of which Alice has approved all but the first and the last two, and others must approve
    too; when she approves the first, then she gets the next one that waits for her: after 20 others she got
    the same page again."""
    two = POLICY.replace(
        "  send_email:\n", "  send_email:\n    reviewers: {quorum: 2, channel_members: true}\n"
    )
    gate = await scene.gate(two)
    ids = await submit(gate, 28)
    await scene.bot(**FEW)
    digest = await digest_of(scene, 28, 28)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    for n, review_id in enumerate(ids[1:-2]):
        snapshot = await gate.reviews.load(review_id)
        action = snapshot.review.actions[0]
        vote = Proposal("approve", action.revision)
        who = Reviewer(channel="slack", team="T0ACME", id=scene.alice.id, name="Alice")
        command = Decide(review_id, action.key, vote, who, f"op-{n}", None)
        await gate.reviews.apply(command, snapshot)
    await scene.alice.press(digest, "review")
    assert where(await opened(scene, scene.alice.id)).startswith("1 of 28")

    assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]

    assert where(await opened(scene, scene.alice.id)).startswith("27 of 28")


async def test_who_edited_gets_what_waits_for_them_next(scene: Scene) -> None:
    """Given a digest of reviews with two calls each, which two people must approve; when Alice edits the
    first call, which others must approve then; then she gets the other call of the review, and then the next
    review: she got her own edit again, and no page had the other call."""
    two = POLICY.replace(
        "  send_email:\n", "  send_email:\n    reviewers: {quorum: 2, channel_members: true}\n"
    )
    gate = await scene.gate(two)
    calls = [email(), ToolCall("c2", "send_email", {"to": "second", "copies": 2})]
    for n in range(5):
        await gate.submit(calls, thread_id=f"t-{n}")
    await scene.bot(**FEW)
    await scene.alice.press(await digest_of(scene, 5, 5), "review")
    assert (await scene.actor.click_view(scene.alice.id, "edit"))["ok"]
    assert (await scene.alice.submit(copies=3))["ok"]
    view = await opened(scene, scene.alice.id)
    assert where(view).startswith("1 of 5")
    assert "second" in str(view["blocks"])
    assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    assert where(await opened(scene, scene.alice.id)).startswith("2 of 5")


async def test_a_digest_shows_each_person_the_calls_that_they_may_decide(
    scene: Scene,
) -> None:
    """Given a digest of reviews with two calls each, the first for Bob and the second for Alice; when Alice
    opens it, then she sees the second one: she saw Bob's, which she may not decide, and no page had hers."""
    rules = POLICY.replace(
        "  send_email:\n", f"  send_email:\n    reviewers: {{users: [{scene.alice.id}]}}\n"
    ).replace("  run_sql: {", f"  run_sql: {{reviewers: {{users: [{scene.bob.id}]}}, ")
    gate = await scene.gate(rules)
    for n in range(5):
        await gate.submit([sql("c1"), email("c2")], thread_id=f"t-{n}")
    await scene.bot(**FEW)
    digest = await digest_of(scene, 5, 5)
    await scene.alice.press(digest, "review")
    view = await opened(scene, scene.alice.id)
    assert "@example.com" in str(view["blocks"])
    assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    view = await opened(scene, scene.alice.id)
    assert where(view).startswith("2 of 5")
    assert "@example.com" in str(view["blocks"])


async def test_what_comes_later_joins_the_digest(scene: Scene) -> None:
    """Given a digest; when more of the same agent comes, then few are shown one by one, and a further backlog
    joins the message that is there."""
    gate = await scene.gate()
    await submit(gate)
    bot = await scene.bot(**FEW)
    await digest_of(scene, COUNT)
    await submit(gate, 1, COUNT)
    await wait_until("its own card", lambda: has_cards(scene, 2))
    assert bot.workers
    await bot.workers.outbox.drain()
    more = await submit(gate, COUNT, 100)
    await scene.bot(**FEW)
    await digest_of(scene, 2 * COUNT, 2 * COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, more))
    assert len(await scene.cards()) == 2


async def has_cards(scene: Scene, count: int) -> bool:
    return len(await scene.cards()) == count


@pytest.mark.every_reply
async def test_what_is_settled_before_costs_no_post(scene: Scene) -> None:
    """Given a backlog of which all but two are cancelled before a bot runs; then only these two are shown,
    with a card each."""
    gate = await scene.gate()
    ids = await submit(gate)
    for one in ids[2:]:
        await gate.cancel(one, "not needed")
    await scene.bot(**FEW)
    await wait_until("two cards", lambda: has_cards(scene, 2))
    await scene.all_shown()
    posts = [one for one in scene.sandbox.api.calls if one["method"] == "chat.postMessage"]
    assert len(posts) == 2


@pytest.mark.parametrize(
    "point", ["outbox.before_digest", "outbox.after_digest", "outbox.after_digest_record"]
)
async def test_promise_4_a_bot_killed_around_the_digest_posts_one_message(
    scene: Scene, point: str
) -> None:
    """Faults W1, W2 and W3: given a bot that is killed before it posts the digest, after that, or after it
    recorded it; then the next bot leaves one message, which has all reviews."""
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot_process(f"{point}=kill", **FEW)
    assert await bot.wait_end() == -9
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    assert len(await scene.cards()) == 1
    entries = await gate.reviews.store.ledger.entries(0, limit=10_000)
    places = [one.line for one in entries if '"delivered"' in one.line]
    assert len([line for line in places if digest["ts"] in line]) == COUNT


async def test_a_stranger_sees_none_of_it(scene: Scene) -> None:
    """Given a digest; when a person who may not decide opens it, then they are told so, privately."""
    gate = await scene.gate(
        POLICY.replace("default: review", "default: review\nreviewers: {users: [U0BOB]}")
    )
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.alice.press(digest, "review")
    view = await scene.actor.view(scene.alice.id)
    assert view is None or CANARY not in str(view["blocks"])
    await scene.bob.press(digest, "review")
    assert CANARY in str((await opened(scene, scene.bob.id))["blocks"])


async def test_a_digest_that_somebody_deleted_is_posted_again(scene: Scene) -> None:
    """Given a digest whose message is deleted; when one of its reviews is decided, then it is posted again,
    and the others belong to the new message."""
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    scene.sandbox.workspace.channels[APPROVALS].messages[digest["ts"]].deleted = True
    await gate.cancel(ids[0], "no")
    again = await digest_of(scene, COUNT - 1, COUNT)
    assert again["ts"] != digest["ts"]

    async def moved() -> bool:
        posts = [(await bot.store.load(one)) for one in ids[1:]]
        return all(one and {ref.ts for ref in one.posts.values()} == {again["ts"]} for one in posts)

    await wait_until("the reviews belong to it", moved)
    assert len(await scene.cards()) == 1


async def test_reminders_of_its_reviews_share_a_line(scene: Scene) -> None:
    """Given a digest whose reviews all remind people; then its thread has one line, and people are told."""
    gate = await scene.gate(POLICY.replace("default: review", "default: review\nremind: 1s"))
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)

    async def reminded() -> bool:
        loaded = [await gate.reviews.load(one) for one in ids]
        return all(one.review.actions[0].reminded for one in loaded)

    await wait_until("all remind", reminded, 60)
    await scene.all_shown()
    messages = await scene.actor.messages(APPROVALS)
    assert (
        len([one for one in messages if one["thread_ts"] == digest["ts"] and not one["metadata"]])
        == 1
    )


async def test_a_digest_is_on_home_and_in_approvals(scene: Scene) -> None:
    """Its reviews are found there as others are, with a link to the digest's message."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.actor.open_home(scene.alice.id)
    home: Any = await wait_until("the Home", lambda: scene.actor.home(scene.alice.id))
    assert digest["ts"].replace(".", "") in str(home)
    assert f"{COUNT} reviews wait for you" in str(home)


async def test_other_agents_have_their_own(scene: Scene) -> None:
    """Given a backlog of two agents, of which one has few; then one digest, and cards for the few."""
    gate = await scene.gate()
    await submit(gate)
    policy = Policy.from_yaml(POLICY)
    async with Gate.connect(scene.redis_url, policy=policy, agent="support") as other:
        for n in range(2):
            await other.submit([ToolCall("c1", "note", {"n": n})], thread_id=f"o-{n}")
        await scene.bot(**FEW)
        await digest_of(scene, COUNT)
        await wait_until("the others too", lambda: has_cards(scene, 3))
