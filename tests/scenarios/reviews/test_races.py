"""Two people at once, too late, or not allowed: there is one decision, and everybody else is told why."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import aiohttp
import pytest

from slack_sandbox.sandbox import SIGNING_SECRET
from tests.support.bots import CLICK, POLICY, Scene, email, sql
from tests.support.clicks import freeze_cards
from tests.support.slack import APPROVALS, CARL, review_of, text_of
from tests.support.waiting import wait_until

FAILPOINTS = "HITL_FAILPOINTS"


@asynccontextmanager
async def hold_before_commit(
    scene: Scene, patch: pytest.MonkeyPatch, clicks: int
) -> AsyncIterator[None]:
    """All clicks of the block arrive before any of them is stored."""
    go = scene.folder / f"go-{clicks}"
    patch.setenv(FAILPOINTS, f"bot.before_commit=pause:{go}")
    before = len(scene.sandbox.interactions.deliveries)
    yield
    await scene.wait_deliveries(before + clicks)
    go.touch()


async def test_promise_2_of_two_people_one_wins_and_the_other_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two bots and one card; when Alice and Bob press at the same moment, on a bot each; then one
    decision counts, and the other person is told who made it."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    async with hold_before_commit(scene, monkeypatch, 2):
        first = asyncio.create_task(scene.alice.press(card, "approve"))
        await scene.wait_deliveries(1)
        await scene.bot()
        second = asyncio.create_task(scene.bob.press(card, "approve"))
    assert (await first)["ok"]
    assert (await second)["ok"]

    decision = (await waiting).decision("c1")
    assert decision is not None
    assert decision.by is not None
    winner, loser = (scene.alice, scene.bob)
    if decision.by.id == scene.bob.id:
        winner, loser = loser, winner
    assert await winner.notices() == []
    assert await loser.notices() == [f"{decision.by.label} already approved send_email."]


async def test_promise_2_a_double_click_counts_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given one card; when Alice presses twice at once; then there is one decision, hers, and nobody else's
    name in what she is told."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    async with hold_before_commit(scene, monkeypatch, 2):
        both = [asyncio.create_task(scene.alice.press(card, "approve")) for _ in range(2)]
    assert all([(await press)["ok"] for press in both])

    assert len((await waiting).execute) == 1
    assert await scene.alice.notices() == ["“Alice Ng” (U0ALICE) already approved send_email."]


async def test_promise_2_of_a_click_and_the_deadline_one_wins(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a click that was checked before the deadline but not stored; when the deadline settles the
    review; then the deadline counts, nothing runs, and the person is told."""
    await scene.bot()
    gate = await scene.gate(POLICY + "expire: {after: 1s}")
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    go = scene.folder / "go"
    monkeypatch.setenv(FAILPOINTS, f"bot.before_commit=pause:{go}")
    press = asyncio.create_task(scene.alice.press(card, "approve"))
    outcome = await waiting
    go.touch()
    assert (await press)["ok"]

    assert outcome.execute == ()
    assert "in time" in outcome.answers[0].content
    assert await scene.alice.notices() == ["The deadline already rejected send_email."]
    await scene.card("rejected by", "the policy")


async def test_promise_6_a_stale_button_changes_nothing_and_says_why(scene: Scene) -> None:
    """Given cards that still show the buttons of decided and edited calls; when people press them; then
    nothing changes, and each is told by whom and how it was decided."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email("c1"), email("c2"))
    card = await scene.card("send_email")
    async with freeze_cards(scene.actor):
        await scene.alice.press(card, "edit", 1)
        assert (await scene.alice.submit(copies=5))["ok"]
        for action in ("approve", "edit", "reject"):
            await scene.bob.press(card, action, 1)
            text = await scene.bob.last_notice()
            assert text == "“Alice Ng” (U0ALICE) already edited and approved send_email."
        assert await scene.bob.modal() == ""
        await scene.bob.press(card, "approve", 2)

    outcome = await waiting
    assert [call.args["copies"] for call in outcome.execute] == [5, 1]


async def test_promise_6_a_button_of_an_older_revision_is_refused(scene: Scene) -> None:
    """Given a button whose card showed another revision; when it is pressed; then nothing is decided."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    review_id = review_of(card)

    for revision in (0, 2, 99):
        value = f"approve.{review_id}.1.{revision}"
        await scene.actor.click(scene.alice.id, APPROVALS, card["ts"], "approve", value=value)
        assert "in the meantime" in await scene.alice.last_notice()
    for gone in (f"0-{'f' * 32}.1.1", f"7-{'f' * 32}.1.1", "../../etc.1.1"):
        value = f"approve.{gone}"
        await scene.actor.click(scene.alice.id, APPROVALS, card["ts"], "approve", value=value)
        assert (
            await scene.alice.last_notice()
            == "There is no such review, or it was deleted after its retention time."
        )
    await scene.actor.click(
        scene.alice.id, APPROVALS, card["ts"], "approve", value=f"approve.{review_id}.9.1"
    )
    assert "no such action" in await scene.alice.last_notice()
    assert not waiting.done()


async def test_promise_6_a_modal_sent_after_the_decision_says_so(scene: Scene) -> None:
    """Given Edit's and Reject's modals, open; when somebody else decides first; then sending them changes
    nothing, and a notice in the modal's place says who decided."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")
    await scene.bob.press(card, "reject")
    assert (await scene.bob.submit(message="not today"))["ok"]

    answer = await scene.alice.submit(copies=4)

    assert answer == {"ok": True, "closed": False}
    assert "“Bob Reyes” (U0BOB) already rejected send_email." in await scene.alice.modal()
    assert (await waiting).execute == ()


async def test_promise_6_a_click_after_the_deadline_is_told_so(scene: Scene) -> None:
    """Given a review whose deadline has passed while no bot could settle it; when a click comes first; then
    it is refused, because silence and lateness never approve."""
    slow = scene.folder / "never"
    gate = await scene.gate(POLICY + "expire: {after: 1s}")
    bot = await scene.bot_process(f"timers.after_peek=pause:{slow}")
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    review = review_of(card)

    async def late() -> bool:
        snapshot = await gate.reviews.load(review)
        return snapshot.now > snapshot.review.created_at + 1

    await wait_until("the deadline has passed", late)
    await scene.alice.press(card, "approve")

    assert await scene.alice.notices() == ["The time to decide on send_email is over."]
    assert not waiting.done()
    await bot.kill()
    await scene.bot()
    assert (await waiting).execute == ()


async def test_promise_7_who_is_not_a_member_is_told_privately(scene: Scene) -> None:
    """Given a card in a public channel; when Carl, who reads along but is no member, or somebody of another
    workspace presses anything, then nothing changes and only they are told."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    before = text_of(card)

    for button in ("approve", "edit", "reject"):
        await scene.carl.press(card, button)
        assert await scene.carl.last_notice() == "Only members of #agent-approvals may decide this."
        await scene.stranger.press(card, button)
        assert (
            await scene.stranger.last_notice()
            == "Only people of this workspace or organization may decide."
        )
    for option in ("Skip it", "Answer instead of running it"):
        await scene.carl.press(card, "more", option=option)
    assert len(await scene.carl.notices()) == 5
    assert await scene.carl.modal() == ""
    assert not waiting.done()
    assert await scene.alice.notices() == []
    assert text_of((await scene.cards())[0]) == before


async def test_promise_7_a_member_of_here_can_be_an_impostor_of_elsewhere(scene: Scene) -> None:
    """Given Slack Connect, where another workspace's user may have any id; when one with Alice's id but
    another team presses, then it is refused."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    scene.alice.team = "T0OTHER"

    await scene.alice.press(card, "approve")

    assert await scene.alice.notices() == [
        "Only people of this workspace or organization may decide."
    ]
    assert not waiting.done()


async def test_promise_7_a_modal_does_not_outlive_the_right_to_decide(scene: Scene) -> None:
    """Given a modal that a member opened; when its ids are sent by somebody who is no member, then it
    changes nothing."""
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    await scene.alice.press(await scene.card("send_email"), "edit")
    assert not (await scene.alice.submit())["closed"]  # its request can be sent again, changed
    [*_, sent] = await scene.actor.deliveries()
    payload = json.loads(parse_qs(sent["body"])["payload"][0])
    payload["user"] = {**payload["user"], "id": CARL}
    values = payload["view"]["state"]["values"]
    next(v for k, v in values.items() if "copies" in k)["value"]["value"] = "7"
    next(v for k, v in values.items() if "/to" in k)["value"]["value"] = "carl@example.com"

    status, answer = await scene.actor.send_payload(bot.endpoints["slack"], payload, SIGNING_SECRET)

    assert status == 200
    assert "Only members of #agent-approvals may decide this." in answer
    assert not waiting.done()


async def test_promise_7_somebody_who_joins_may_decide_at_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given Carl, who was refused; when he is invited to the channel, then within seconds he may decide."""
    monkeypatch.setattr("bot.people.lookups.MIN_AGE", 0.2)
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.carl.press(card, "approve")
    scene.sandbox.workspace.channels[APPROVALS].members.append(CARL)

    async def let_in() -> bool:
        await scene.carl.press(card, "approve")
        return waiting.done()

    await wait_until("Carl may decide", let_in)
    assert len((await waiting).execute) == 1


async def test_promise_7_nobody_decides_by_following_a_link(scene: Scene) -> None:
    """T38: given everything in a card that could be made into an address; when it is fetched with GET or
    HEAD, then there is no such page, and nothing changes."""
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    review = review_of(card)
    site = bot.url

    async with aiohttp.ClientSession() as session:
        for path in ("/slack/events", f"/reviews/{review}", f"/slack/events?value={review}.1.1"):
            for method in ("GET", "HEAD", "PUT", "DELETE"):
                async with session.request(method, site + path) as answer:
                    assert answer.status in (404, 405)
    assert not waiting.done()


async def test_promise_3_a_click_that_was_stored_but_not_acknowledged_counts_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that stores a click and never answers; when Slack's user presses again, then the first
    click counts, and the person is told whose it was."""
    never = scene.folder / "never"
    bot = await scene.bot_process(f"bot.after_commit=pause:{never}")
    scene.patience(0.5)
    gate = await scene.gate()
    waiting = scene.ask(gate, email(), sql())
    card = await scene.card("send_email")

    async with freeze_cards(scene.actor):
        first = await scene.alice.press(card, "approve")
        assert "did not respond" in first["error"]
        await bot.kill()
        await scene.bot()
        scene.patience(CLICK)
        await scene.alice.press(card, "approve")

    assert await scene.alice.notices() == ["“Alice Ng” (U0ALICE) already approved send_email."]
    assert not waiting.done()


async def test_a_frozen_bot_stores_a_late_click_once(scene: Scene) -> None:
    """Fault B4: given a bot that is stopped for a while; when Alice presses, sees it fail, and the bot
    continues; then her click counts once."""
    bot = await scene.bot_process()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    scene.patience(0.3)
    bot.signal(signal.SIGSTOP)
    assert not (await scene.alice.press(card, "approve"))["ok"]
    bot.signal(signal.SIGCONT)

    assert len((await waiting).execute) == 1
