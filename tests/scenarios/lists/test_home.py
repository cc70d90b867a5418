"""App Home and `/approvals`: what waits for a person, with its buttons, always up to date."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any, cast

import pytest

from bot.app import running_bot
from bot.channels.slack.handlers import commands as command_handler
from bot.channels.slack.handlers import home as home_handler
from bot.outbox import HomeRefresher
from bot.settings import Settings
from hitl_core import ToolCall
from slack_sandbox.client import read_text
from tests.support.aging import age
from tests.support.bots import POLICY, QUICK, Scene, email, sql
from tests.support.slack import APPROVALS, OPS, buttons, review_of
from tests.support.waiting import wait_until

View = dict[str, Any]

PARTS = """
  mine: {reviewers: {users: [U0ALICE]}}
  carls: {reviewers: {users: [U0CARL]}}
  both: {reviewers: {users: [U0ALICE, U0BOB], quorum: 2}}
  no: {reviewers: {users: [U0ALICE, U0BOB], reject_quorum: 2}}
  done: {reviewers: {users: [U0ALICE]}}
"""


async def home(scene: Scene, user: str, *having: str) -> View:
    """This person's Home, once it has all of these texts."""

    def find_view(state: dict[str, Any]) -> View | None:
        view = state["home"]
        return view if view and all(each in text(view) for each in having) else None

    return cast(View, await scene.actor.wait_for(find_view, user=user, timeout=30))


def text(view: View) -> str:
    return " ".join(read_text(view["blocks"]).split())


def part(view: View, title: str) -> str:
    """The blocks below one of its headlines."""
    return text(view).partition(title)[2]


async def open_home(scene: Scene, user: str, *having: str) -> View:
    await scene.actor.open_home(user)
    return await home(scene, user, *having)


async def approvals(scene: Scene, user: str, text_: str = "", channel: str = "C0ASK") -> str:
    answer = await scene.actor.run_command(user, channel, f"/approvals {text_}".strip())
    assert answer["ok"], answer
    [notice] = answer["notices"]
    return " ".join((read_text(notice["blocks"]) or notice["text"]).split())


async def test_an_empty_home_says_so(scene: Scene) -> None:
    await scene.bot()
    view = await open_home(scene, "U0ALICE", "Nothing waits for you")
    assert "it appears here" in text(view)


async def test_reviews_are_decided_in_the_home(scene: Scene) -> None:
    """Given two reviews; when Alice opens her Home; then both are shown there, with who asks and for whom; a
    click decides one, and her Home says so at once."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, requester="U0CARL", thread_id="one")
    scene.ask(gate, sql(), thread_id="two")
    await scene.card("thread “one”")
    await scene.card("thread “two”")
    await scene.all_shown()

    view = await open_home(scene, "U0ALICE", "2 reviews wait for you")
    assert "send_email" in text(view)
    assert "U0CARL" in str(view["blocks"])
    await scene.actor.click_view("U0ALICE", "approve", home=True, block_id=_block(view, "send"))

    assert (await waiting).execute
    after = await home(scene, "U0ALICE", "1 review waits for you", "Decided by you")
    assert "send_email" in part(after, "Decided by you")


def _block(view: View, tool: str) -> str:
    """The buttons of the first action of this tool."""
    ids = [block["block_id"] for block in view["blocks"]]
    at = next(
        n for n, b in enumerate(view["blocks"]) if ":call:" in ids[n] and tool in read_text(b)
    )
    return next(each for each in ids[at:] if ":do:" in each)


async def test_a_reason_is_asked_for_in_the_home_as_on_the_card(scene: Scene) -> None:
    await scene.bot()
    waiting = scene.ask(await scene.gate(), sql())
    await scene.card("run_sql")
    await scene.all_shown()
    await open_home(scene, "U0ALICE", "1 review waits")
    await scene.actor.click_view("U0ALICE", "reject", home=True)
    assert (await scene.alice.submit(message="Not today"))["ok"]
    assert not (await waiting).execute


async def test_each_review_is_in_its_part_of_the_home(scene: Scene) -> None:
    """Given reviews of which Alice may decide one, asked for another herself, has approved and rejected
    two that need others too, and decided a fifth; then each is in its part of her Home, and in no other."""
    await scene.bot()
    gate = await scene.gate(POLICY + PARTS)
    for name in ("mine", "carls", "both", "no", "done"):
        who = "U0ALICE" if name == "carls" else "U0DANA"
        scene.ask(gate, ToolCall("c1", name, {"x": 1}), thread_id=name, requester=who)
        await scene.card(f"thread “{name}”")
    for name in ("both", "done"):
        await scene.alice.press(await scene.card(f"thread “{name}”"), "approve")
    await scene.alice.press(await scene.card("thread “no”"), "reject")
    assert (await scene.alice.submit())["ok"]

    view = await open_home(scene, "U0ALICE", "1 review waits for you", "Decided by you")
    first, others = text(view).split("Waiting for others")
    others, decided = others.split("Decided by you")
    assert "mine" in first
    assert "carls" in others
    assert "both" in others
    assert "run no “x: 1” 1 of 2 rejections" in others
    assert "done" in decided
    assert "carls" not in first + decided


async def test_many_are_paged(scene: Scene) -> None:
    """Given twelve reviews; then a page has five, the next one is one click away, and drawing it again
    stays there."""
    await scene.bot()
    gate = await scene.gate()
    for number in range(12):
        await gate.submit([email()], thread_id=f"n-{number}")
    await scene.all_shown()
    view = await open_home(scene, "U0ALICE", "12 reviews wait for you", "Page 1 of 3")
    assert text(view).count("open its card") == 5
    await scene.actor.click_view("U0ALICE", "home_page:next", home=True)
    await home(scene, "U0ALICE", "Page 2 of 3")
    second = _block(await home(scene, "U0ALICE"), "send")
    await scene.actor.click_view("U0ALICE", "approve", home=True, block_id=second)
    await home(scene, "U0ALICE", "11 reviews wait for you", "Page 2 of 3")
    ids = [block["block_id"] for block in view["blocks"]]
    assert len(set(ids)) == len(ids) <= 100


async def test_large_reviews_fit_into_one_view(scene: Scene) -> None:
    """Given reviews of many calls with long arguments that must all be read; then the view is one that
    Slack takes, and each review can be reached from it."""
    await scene.bot()
    gate = await scene.gate(POLICY + "  write: {must_read: true}\n")
    for number in range(5):
        args = {f"k{k}": "long " * 900 for k in range(12)}
        calls = [ToolCall(f"c{n}", "write", args) for n in range(8)]
        await gate.submit(calls, thread_id=f"n-{number}")
    await scene.all_shown()
    view = await open_home(scene, "U0ALICE", "5 reviews wait for you")
    assert len(view["blocks"]) <= 100
    assert text(view).count("open its card") == 5
    assert {call["error"] for call in await scene.calls("views.publish")} == {None}


async def test_a_guest_sees_only_what_names_them(scene: Scene) -> None:
    """Given a guest of a channel; then reviews for the channel's members are not listed for the guest, and
    those that name the guest are."""
    await scene.bot()
    gate = await scene.gate(
        POLICY + '  named: {reviewers: {users: [U0GINA]}}\nnotify: "slack:#guests"\n'
    )
    for number in range(6):
        await gate.submit([email()], thread_id=f"members-{number}")
    await scene.all_shown()
    await open_home(scene, "U0GINA", "Nothing waits for you")
    scene.ask(gate, ToolCall("c1", "named", {}), thread_id="guest")
    await scene.card("thread “guest”", channel="C0GUESTS", viewer="U0GINA")
    await open_home(scene, "U0GINA", "1 review waits for you", "named")


@pytest.mark.every_reply
async def test_an_open_home_is_drawn_again_by_one_of_the_bots(scene: Scene) -> None:
    """Given three bots and a Home that was opened a minute ago; when something new waits and all of them
    look; then one draws it, once; what has not changed is not drawn, nor is a Home that nobody opened for ten
    minutes."""
    bots = [await scene.bot() for _ in range(3)]
    gate = await scene.gate()
    await open_home(scene, "U0ALICE", "Nothing waits")
    scene.ask(gate)
    await scene.card("send_email")
    await scene.all_shown()
    before = len(await scene.calls("views.publish"))
    for bot in bots:
        await _keeper(bot).tick()
    await home(scene, "U0ALICE", "1 review waits for you")
    assert len(await scene.calls("views.publish")) == before + 1

    scene.ask(gate, thread_id="soon-after")
    await scene.card("thread “soon-after”")
    for bot in bots:
        await _keeper(bot).tick()
    assert len(await scene.calls("views.publish")) == before + 1  # not twice within half a minute

    redis = await scene.redis()
    for _ in range(2):
        for key in await redis.keys("hitl:lock:*"):
            await redis.delete(key)
        for bot in bots:
            await _keeper(bot).tick()
        await home(scene, "U0ALICE", "2 reviews wait for you")
        assert len(await scene.calls("views.publish")) == before + 2

    seen = dict(await redis.zrange("hitl:homes", 0, -1, withscores=True))
    await redis.zadd("hitl:homes", {user: at - 601 for user, at in seen.items()})
    assert await bots[0].store.home_viewers(await bots[0].store.now() - 600) == []


def _keeper(bot: Any) -> HomeRefresher:
    return next(each for each in bot.workers.others if isinstance(each, HomeRefresher))


@pytest.mark.every_reply
async def test_the_workers_half_draws_what_the_http_half_opened(scene: Scene) -> None:
    """Given an HTTP bot and a worker bot; when a Home that was opened at the first changes; then the second
    draws it."""
    settings = Settings.from_environment(scene.environment())
    workers = await scene.stack.enter_async_context(running_bot(settings, QUICK, "workers"))
    http = await scene.stack.enter_async_context(running_bot(settings, QUICK, "http"))
    assert http.workers is None
    scene.sandbox.bot_url = http.endpoints["slack"]
    gate = await scene.gate()
    await open_home(scene, "U0ALICE", "Nothing waits")
    scene.ask(gate)
    await scene.card("send_email")
    await scene.all_shown()
    await _keeper(workers).tick()
    await home(scene, "U0ALICE", "1 review waits for you")


async def test_the_home_works_over_sockets(scene: Scene) -> None:
    scene.sandbox.socket_mode.enabled = True
    await scene.bot(QUICK, SLACK_APP_TOKEN="xapp-sandbox", SLACK_SIGNING_SECRET="")
    await wait_until(
        "its sockets are open", lambda: len(scene.sandbox.socket_mode.connections) == 2
    )
    waiting = scene.ask(await scene.gate())
    await scene.card("send_email")
    await scene.all_shown()
    await open_home(scene, "U0ALICE", "1 review waits for you")
    assert "1 review waits for you" in await approvals(scene, "U0ALICE")
    await scene.actor.click_view("U0ALICE", "approve", home=True)
    assert (await waiting).execute


async def test_approvals_lists_and_shows(scene: Scene) -> None:
    """Given a review; then /approvals lists it anywhere, also between two people, and /approvals show
    draws its card with buttons that work, and the card says so; others learn who may decide, and a wrong id
    is told."""
    await scene.bot()
    waiting = scene.ask(await scene.gate(POLICY + 'escalate: [{after: 1h, to: "slack:#team-ops"}]'))
    card = await scene.card("send_email")
    await scene.all_shown()
    review_id = review_of(card)
    for channel in ("C0ASK", "D0PAIR"):
        listed = await approvals(scene, "U0ALICE", channel=channel)
        assert "1 review waits for you" in listed
        assert "open its card" in listed

    assert "may decide this" in await approvals(scene, "U0CARL", f"show {review_id}")
    assert "There is no such review" in await approvals(scene, "U0ALICE", "show 0-" + "0" * 32)
    assert "is not a review id" in await approvals(scene, "U0ALICE", "show nonsense")
    assert "/approvals show ID" in await approvals(scene, "U0ALICE", "help me")

    shown = await approvals(scene, "U0ALICE", f"show {review_id}")
    assert "send_email" in shown
    assert "Escalate" not in shown
    notice = (await scene.actor.ephemerals("U0ALICE"))[-1]
    await scene.actor.click("U0ALICE", "C0ASK", notice["ts"], "approve")
    assert (await waiting).execute
    [after] = [n for n in await scene.actor.ephemerals("U0ALICE") if n["ts"] == notice["ts"]]
    assert "approved by" in read_text(after["blocks"])
    assert not buttons(after, "approve")


async def test_a_stale_private_card_is_drawn_again(scene: Scene) -> None:
    """Given the answer to /approvals show; when the action is approved elsewhere, and its button is pressed;
    then Alice is told so, and the card has no such button any more."""
    await scene.bot()
    waiting = scene.ask(await scene.gate())
    card = await scene.card("send_email")
    await scene.all_shown()
    await approvals(scene, "U0ALICE", f"show {review_of(card)}")
    notice = (await scene.actor.ephemerals("U0ALICE"))[-1]
    await scene.bob.press(card, "approve")
    assert (await waiting).execute
    await scene.actor.click("U0ALICE", "C0ASK", notice["ts"], "approve")
    assert "already approved" in await scene.alice.last_notice()
    [after] = [n for n in await scene.actor.ephemerals("U0ALICE") if n["ts"] == notice["ts"]]
    assert not buttons(after, "approve")


async def test_where_slack_hangs_approvals_answers_in_time(scene: Scene) -> None:
    """Given a Slack that doesn't say which channels somebody is in; then /approvals answers in time."""
    await scene.bot(HITL_CLICK_SECONDS="3")
    await scene.actor.inject_fault("hang", method="users.conversations")
    assert "Slack or the store took too long" in await approvals(scene, "U0ALICE")


async def test_what_failed_is_named(scene: Scene) -> None:
    """Given a Slack whose usergroups.list fails; then /approvals and Home name
    it, and not the store; when it works again, Home is drawn."""
    await scene.bot()
    await scene.actor.inject_fault("http_500", method="usergroups.list")
    assert "usergroups.list" in await approvals(scene, "U0ALICE")
    view = await open_home(scene, "U0ALICE", "Your reviews could not be loaded")
    assert "usergroups.list" in text(view)
    assert "store" not in text(view)

    await scene.actor.inject_fault("ok")
    await open_home(scene, "U0ALICE", "Nothing waits for you")


async def test_what_escalated_to_a_channel_waits_for_its_members(scene: Scene) -> None:
    """Given a review that continues to #team-ops; then it waits in Dana's Home as well, and no more when it
    is decided."""
    await scene.bot()
    gate = await scene.gate(POLICY + 'escalate: [{after: 10m, to: "slack:#team-ops"}]')
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await open_home(scene, "U0DANA", "Nothing waits for you")
    await age(gate.reviews, review_of(card), 600)
    await scene.card("send_email", channel=OPS)
    await open_home(scene, "U0DANA", "1 review waits for you")
    await scene.alice.press(card, "approve")
    await scene.card("approved by", channel=OPS)
    await open_home(scene, "U0DANA", "Nothing waits for you")


async def test_a_review_waits_in_the_home_after_its_channel_was_renamed(scene: Scene) -> None:
    """Given a review in #team-ops, as the policy names it; when the channel is renamed, and another one takes
    its name; then it still waits in the Home of its members, and of nobody else (attack H3)."""
    await scene.bot()
    gate = await scene.gate(POLICY + 'notify: "slack:#team-ops"')
    scene.ask(gate)
    await scene.wait_noted(gate, await scene.card("send_email", channel=OPS))
    scene.sandbox.channels.rename("C0OPS", "ops-2")
    scene.sandbox.channels.rename("C0GUESTS", "team-ops")
    await scene.sandbox.events.wait_delivered()
    await open_home(scene, "U0DANA", "1 review waits for you")
    await open_home(scene, "U0ALICE", "Nothing waits for you")


async def test_a_review_waits_in_the_home_after_its_channel_was_archived(scene: Scene) -> None:
    """Given a card in a channel that is archived, where nobody can press a button any more; then its members,
    who alone may decide, have the review in their Home and decide there, also where a fallback shows it."""
    await scene.bot()
    gate = await scene.gate(POLICY + 'fallback: "slack:#team-ops"')
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    scene.sandbox.channels.archive(APPROVALS)
    await scene.sandbox.events.wait_delivered()

    await open_home(scene, "U0ALICE", "1 review waits for you", "send_email")
    assert "crm asks to run send_email" in await approvals(scene, "U0ALICE")
    await scene.actor.click_view("U0ALICE", "approve", home=True)
    assert (await waiting).execute


async def test_a_home_is_drawn_in_a_thread(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a review, when Alice's Home and `/approvals` are drawn, then not on the bot's event loop."""
    drawn_in = list[threading.Thread]()

    def record_threads(handler: ModuleType, name: str) -> None:
        draw = getattr(handler, name)

        def record_thread(*args: Any) -> Any:
            drawn_in.append(threading.current_thread())
            return draw(*args)

        monkeypatch.setattr(handler, name, record_thread)

    record_threads(home_handler, "view_blocks")
    record_threads(command_handler, "list_blocks")
    await scene.bot()
    scene.ask(await scene.gate())
    await scene.card("send_email")
    await open_home(scene, "U0ALICE", "1 review waits for you", "send_email")
    assert drawn_in
    await approvals(scene, "U0ALICE")
    assert len(drawn_in) >= 2
    assert threading.main_thread() not in drawn_in
