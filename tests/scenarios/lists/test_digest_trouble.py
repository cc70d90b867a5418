"""A digest is only for plain pending reviews: whenever that is not sure, each review gets a
card of its own.
"""

from __future__ import annotations

import pytest

from bot.app import Timing
from hitl_core import Gate, ToolCall
from hitl_core.model import DEFAULT_PLACE, encode
from hitl_core.review import Decide, Proposal, claims
from hitl_core.review.escalation import escalate
from tests.scenarios.lists.test_digest import COUNT, FEW, digest_of, has_cards, is_counted, submit
from tests.scenarios.reviews.test_escalation import TWO_PLACES
from tests.support.bots import CANARY, POLICY, Scene, email, sql
from tests.support.builders import person
from tests.support.slack import APPROVALS, OPS, Message, buttons, review_of, text_of
from tests.support.waiting import wait_until

#: Nothing is late for longer than until it is looked at again.
LATE = Timing(
    pace=0.0, lane_lease=0.4, requeue_interval=60.0, timers_interval=0.05, late_window=3.0
)
EVERYONE = POLICY.replace("default: review", "default: review\nnotify: 'slack:#everyone'")


async def decide(gate: Gate, review_id: str) -> None:
    snapshot = await gate.reviews.load(review_id)
    action = snapshot.review.actions[0]
    proposal = Proposal("approve", action.revision)
    command = Decide(review_id, action.key, proposal, person("U0ALICE"), f"op-{review_id}", None)
    await gate.reviews.apply(command, snapshot)


async def die_in_doubt(gate: Gate, review_id: str) -> None:
    outcome = await gate.wait(review_id)
    assert await outcome.once(email(next(iter(outcome.execute)).id))
    outcome.release()
    await gate.reviews.change(
        review_id, "die", lambda review, now: claims.expire_lease(review, now + 100)
    )


async def shown_digest(scene: Scene, gate: Gate, ids: list[str]) -> Message:
    digest = await digest_of(scene, len(ids), len(ids))
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    return digest


@pytest.mark.parametrize("mode", ["http_500", "ratelimited"])
async def test_a_look_up_without_an_answer_makes_no_flood_of_cards(scene: Scene, mode: str) -> None:
    """Given a backlog, and a Slack that doesn't answer the first look-up of the channel's members, as at the
    end of an outage; then there is one message: each review had its own, because it was not sure whether
    anybody may decide."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.actor.inject_fault(mode, method="conversations.members", times=1)
    await scene.bot(**FEW)
    await shown_digest(scene, gate, ids)
    assert any(one["error"] for one in await scene.calls("conversations.members", 2))
    assert len(await scene.cards()) == 1


async def test_a_lasting_failure_of_a_look_up_makes_no_flood_of_cards(scene: Scene) -> None:
    """Given a backlog, and a Slack that never says who is in the channel; then there is one message, which
    says so, until the look-up works again: each review had its own card."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.actor.inject_fault("http_500", method="conversations.members")
    bot = await scene.bot(**FEW)

    async def each_is_a_dead_letter() -> bool:
        return await bot.store.count_dead_letters() == len(ids)

    await wait_until("each job failed", each_is_a_dead_letter)
    await scene.all_shown()
    (message,) = await scene.cards()
    assert "Some people or groups could not be looked up" in text_of(message)

    await scene.actor.inject_fault("ok")

    async def says_nothing_of_it() -> bool:
        (only,) = await scene.cards()
        return "could not be looked up" not in text_of(only)

    await wait_until("the look-up works again", says_nothing_of_it)


async def test_a_call_in_doubt_is_asked_about_on_a_card(scene: Scene) -> None:
    """Given a digest; when a review of it is approved, and its agent dies between once and report; then a
    card asks what happened to the call, and a person can say so."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    await shown_digest(scene, gate, ids)
    await decide(gate, ids[0])
    await digest_of(scene, COUNT - 1, COUNT)
    await die_in_doubt(gate, ids[0])
    await wait_until("its card", lambda: has_cards(scene, 2))
    await scene.all_shown()
    digest = await digest_of(scene, COUNT - 1, COUNT)
    [card] = [one for one in await scene.cards() if one["ts"] != digest["ts"]]
    await scene.alice.press({**card, "channel": APPROVALS}, "doubt_skip")
    await scene.all_shown()
    assert not (await gate.reviews.load(ids[0])).review.calls_in_doubt


async def test_a_doubt_of_a_digest_without_a_message_is_shown(scene: Scene) -> None:
    """Given reviews that are all decided before their digest is posted; when a call of one is in doubt, then
    a card asks about it."""
    gate = await scene.gate()
    ids = await submit(gate)
    for one in ids:
        await decide(gate, one)
    await scene.bot(**FEW)
    await scene.all_shown()
    assert await scene.cards() == []
    await die_in_doubt(gate, ids[0])
    await wait_until("its card", lambda: has_cards(scene, 1))
    [card] = await scene.cards()
    assert buttons(card, "doubt_skip")


async def test_a_digest_that_can_not_be_posted_again_is_dissolved(scene: Scene) -> None:
    """Given a digest whose message is deleted, and whose new post is refused; then each of its reviews gets a
    card of its own."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await shown_digest(scene, gate, ids)
    scene.sandbox.workspace.channels[APPROVALS].messages[digest["ts"]].deleted = True
    answer = '{"ok": false, "error": "team_access_not_granted"}'
    refuse = {"mode": "answer", "method": "chat.postMessage", "times": 1, "status": 200}
    await scene.actor.post("fault", {**refuse, "body": answer})
    await gate.cancel(ids[0], "no")
    await wait_until("a card for each", lambda: has_cards(scene, COUNT - 1))
    await scene.all_shown()
    for card in await scene.cards():
        assert buttons(card, "approve")


async def test_what_was_decided_meanwhile_hides_nothing(scene: Scene) -> None:
    """Given forty reviews in a digest that can't be updated, of which the first thirty are decided; then who
    opens it gets the next one that waits."""
    gate = await scene.gate()
    ids = await submit(gate, 40)
    await scene.bot(**FEW)
    digest = await shown_digest(scene, gate, ids)
    await scene.actor.inject_fault("ratelimited", method="chat.update", retry_after=5)
    for one in ids[:30]:
        await decide(gate, one)
    await scene.alice.press(digest, "review")
    view = await scene.actor.view(scene.alice.id)
    assert view
    assert CANARY in str(view["blocks"])
    await scene.actor.inject_fault("ok")


async def test_a_late_post_of_a_digest_is_deleted(scene: Scene) -> None:
    """Given a digest whose post timed out, and was posted again; when Slack applies the first post after all,
    then that message is deleted."""
    gate = await scene.gate()
    ids = await submit(gate)
    fault = scene.sandbox.faults.configure(
        {"mode": "late", "method": "chat.postMessage", "times": 1}
    )
    await scene.bot(LATE, **FEW)
    await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    assert fault
    fault.release()
    await wait_until("the late one", lambda: has_cards(scene, 2))
    await wait_until("one message", lambda: has_cards(scene, 1), 30)


async def test_a_late_update_of_a_digest_is_put_right(scene: Scene) -> None:
    """Given a digest with an update that timed out; when Slack applies it after a newer one, then the message
    shows the newest state again."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(LATE, **FEW)
    await shown_digest(scene, gate, ids)
    fault = scene.sandbox.faults.configure({"mode": "late", "method": "chat.update", "times": 1})
    await decide(gate, ids[0])
    await digest_of(scene, COUNT - 1, COUNT)  # the second try
    await decide(gate, ids[1])
    newest = await digest_of(scene, COUNT - 2, COUNT)
    assert fault
    fault.release()
    await digest_of(scene, COUNT - 1, COUNT)  # the late one
    again = await digest_of(scene, COUNT - 2, COUNT)
    assert again["ts"] == newest["ts"]


async def test_what_a_card_refuses_a_digest_refuses(scene: Scene) -> None:
    """Given a backlog for a conversation that is too large for its members to decide; then nothing is shown
    there, and each review is a dead letter, as without digests."""
    gate = await scene.gate(EVERYONE)
    ids = await submit(gate)
    bot = await scene.bot(**FEW)

    async def all_dead() -> bool:
        return await bot.store.count_dead_letters() == COUNT

    await wait_until("each is a dead letter", all_dead)
    assert await scene.cards("C0ALL") == []
    for one in ids:
        assert (await gate.reviews.load(one)).review.delivery_problems


async def test_a_digest_is_bounded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more reviews than a digest may have; then there are several."""
    gate = await scene.gate()
    ids = await submit(gate, 2 * COUNT)
    for module in ("bot.outbox.digests.maker", "hitl_core.store.redis.queues.digests"):
        monkeypatch.setattr(f"{module}.MAX_DIGEST", COUNT)
    await scene.bot(**FEW)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    texts = [text_of(card) for card in await scene.cards()]
    assert len([one for one in texts if f"{COUNT} reviews wait" in one]) == 2


async def test_a_digest_that_the_channel_refuses_is_no_text_without_a_button(
    scene: Scene,
) -> None:
    """Given a backlog, and a Slack that refuses the blocks of its digest; then each review gets a card."""
    gate = await scene.gate()
    await submit(gate)
    body = '{"ok": false, "error": "invalid_blocks"}'
    refuse = {"mode": "answer", "method": "chat.postMessage", "times": 1, "status": 200}
    await scene.actor.post("fault", {**refuse, "body": body})
    await scene.bot(**FEW)
    await wait_until("a card for each", lambda: has_cards(scene, COUNT))
    for card in await scene.cards():
        assert buttons(card, "approve")


async def test_a_digest_shows_what_would_run_now(scene: Scene) -> None:
    """Given a digest of reviews with two actions each; when one action is edited, and another approved, while
    both reviews still wait; then its message has the new arguments, and what still waits."""
    rule = "reviewers: {channel_members: true, editor_approves: false}"
    gate = await scene.gate(f"default: review\ninterrupt_on:\n  mail: {{{rule}}}")
    ids = [
        await gate.submit([mail(n, "first"), mail(n, "second")], thread_id=f"t-{n}")
        for n in range(COUNT)
    ]
    await scene.bot(**FEW)
    await shown_digest(scene, gate, ids)
    edit = Proposal("edit", 1, args=encode({"to": "edited"}))
    await gate.reviews.apply(Decide(ids[0], "1", edit, person("U0ALICE"), "op-1"))
    await decide(gate, ids[1])

    async def is_shown() -> bool:
        [digest] = await scene.cards()
        text = text_of(digest)
        there = all(word in text for word in ("edited", "second-1", "first-2"))
        return there and not any(word in text for word in ("first-0", "first-1"))

    await wait_until("the lines are those of now", is_shown)


def mail(number: int, to: str) -> ToolCall:
    return ToolCall(f"{to}-{number}", "mail", {"to": f"{to}-{number}"})


@pytest.mark.parametrize("field", ["post", "place", "total", "lane", "agent", "wait"])
async def test_a_digest_that_can_not_be_read_holds_up_nothing(scene: Scene, field: str) -> None:
    """Given a digest of which a field is damaged; when one of its reviews is decided, then the others get
    cards, as further reviews do.
    """
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot(**FEW)
    digest = await shown_digest(scene, gate, ids)
    redis = await scene.redis()
    [key] = await redis.keys("hitl:*:digest:*")
    await redis.hset(key, f"wait:{ids[1]}" if field == "wait" else field, b"\xff{damaged")

    await decide(gate, ids[0])
    await scene.all_shown()
    waiting = scene.ask(gate, email("later"), thread_id="later")

    await wait_until("their cards", lambda: has_cards(scene, COUNT + 1))
    await scene.all_shown()
    cards = [one for one in await scene.cards() if one["ts"] != digest["ts"]]
    assert {review_of(one) for one in cards} >= {*ids[1:]}
    for one in cards:
        if buttons(one, "approve"):
            await scene.alice.press({**one, "channel": APPROVALS}, "approve")
    assert (await waiting).execute
    assert not bot.health.current_problems()


async def test_the_button_of_a_digest_that_can_not_be_read_says_so(scene: Scene) -> None:
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await shown_digest(scene, gate, ids)
    redis = await scene.redis()
    [key] = await redis.keys("hitl:*:digest:*")
    await redis.hset(key, "total", b"\xff{damaged")

    await scene.alice.press({**digest, "channel": APPROVALS}, "review")

    assert "None of these reviews waits" in await scene.alice.last_notice()


async def test_a_step_to_the_place_of_a_digest_gets_a_card(scene: Scene) -> None:
    """Given a digest in #team-ops; when other calls of its reviews escalate there, to Dana; then each review
    has a card, which calls her: the digest only changed, which notifies nobody. No line below the card calls
    her again."""
    gate = await scene.gate(TWO_PLACES.replace("1s", "1h"))
    calls = [email(), sql()]
    ids = [await gate.submit(calls, thread_id=f"t-{n}") for n in range(5)]
    await scene.bot(**FEW)
    await scene.card("5 reviews wait", channel=OPS)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    for review_id in ids:
        await gate.reviews.change(
            review_id, "step", lambda r, now: escalate(r, DEFAULT_PLACE, person("U0ALICE"), now)
        )
    for number in range(5):
        card = await scene.card(f"thread “t-{number}”", "Passed on from", channel=OPS)
        assert len(buttons(card, "approve")) == 2
    await scene.card("none of 5 reviews waits here any more", channel=OPS)
    await scene.all_shown()
    messages = await scene.actor.messages(OPS, user="U0DANA")
    assert not [one for one in messages if "please decide" in text_of(one)]
