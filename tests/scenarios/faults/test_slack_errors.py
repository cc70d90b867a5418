"""Each error that Slack documents for the methods of a card, and a new one: the review waits, nobody gets a
right, it is told, and all goes on alone when Slack works again.

`tests/bot/people/unknown` has the same for the look-ups.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from bot.app import Bot, Timing
from bot.channels.slack.transport.slack_errors import NO_PLACE
from bot.outbox.lane import failing_jobs
from hitl_core import Gate, Outcome, ToolCall
from hitl_core.model import Action
from tests.support.bots import CANARY, Scene
from tests.support.slack import APPROVALS, OPS, Message, buttons, text_of
from tests.support.waiting import wait_until

#: docs.slack.dev/reference/methods: common to all methods, and of those that a card needs.
ERRORS = [
    *("access_denied", "accesslimited", "account_inactive", "cannot_reply_to_message"),
    *("cant_delete_message", "cant_update_message", "channel_not_found", "deprecated_endpoint"),
    *("edit_window_closed", "ekm_access_denied", "enterprise_is_restricted", "expired_trigger_id"),
    *("external_channel_migrating", "fatal_error", "hash_conflict", "internal_error"),
    *("invalid_arguments", "invalid_auth", "invalid_blocks", "invalid_metadata_format"),
    *("is_archived", "is_inactive", "message_limit_exceeded", "message_not_found"),
    *("messages_tab_disabled", "method_deprecated", "missing_scope", "msg_blocks_too_long"),
    *("msg_too_long", "no_permission", "not_allowed_token_type", "not_authed", "not_found"),
    *("not_in_channel", "org_login_required", "rate_limited", "request_timeout"),
    *("restricted_action", "restricted_action_read_only_channel", "service_unavailable"),
    *("restricted_action_thread_only_channel", "some_new_error", "team_access_not_granted"),
    *("team_added_to_org", "team_not_found", "thread_not_found", "token_expired"),
    *("token_revoked", "two_factor_setup_required", "update_failed", "user_not_found"),
    *("users_not_found", "view_too_large"),
]
LIMITS = {"rate_limited", "message_limit_exceeded"}
RETRYING = Timing(
    pace=0.0, lane_lease=0.4, requeue_interval=0.2, timers_interval=0.05, late_window=0.1
)
POLICY = """
default: review
notify: "slack:#agent-approvals"
reviewers: {users: [U0ALICE]}
fallback: "slack:#team-ops"
"""


@pytest.fixture(autouse=True)
def report_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing_jobs, "REPORT_AFTER", 0.0)


def ask(scene: Scene, gate: Gate, error: str) -> asyncio.Task[Outcome]:
    call = ToolCall("c1", "note", {"about": f"«{error}»", "canary": CANARY})
    return scene.ask(gate, call, thread_id=error)


async def fail(scene: Scene, method: str, error: str) -> None:
    body = json.dumps({"ok": False, "error": error})
    await scene.actor.inject_fault("answer", method=method, body=body)


async def card_of(scene: Scene, error: str, *having: str) -> Message:
    """The newest card about it, in the channel or at the fallback."""

    def find() -> Message | None:
        for place in (APPROVALS, OPS):
            for one in reversed(scene.sandbox.workspace.channels[place].messages.values()):
                card = {"channel": place, "ts": one.ts, "blocks": one.blocks, "text": one.text}
                if all(words in text_of(card) for words in (f"«{error}»", *having)):
                    return card
        return None

    return await wait_until(f"{error}: the card {having}", find)


async def card_with_buttons(scene: Scene, error: str) -> Message:
    async def find() -> Message | None:
        card = await card_of(scene, error)
        return card if buttons(card, "approve") else None

    return await wait_until(f"{error}: its buttons", find)


async def approve(scene: Scene, waiting: asyncio.Task[Outcome], card: Message) -> None:
    await scene.alice.press_until(waiting.done, card, "approve")
    assert len((await waiting).execute) == 1


async def action_of(gate: Gate, error: str) -> Action:
    [review_id] = await wait_until(
        f"{error}: it is stored", lambda: gate.reviews.store.thread_ids(error)
    )
    return (await gate.reviews.load(review_id)).review.actions[0]


async def check_told(bot: Bot, error: str) -> None:
    words = "rate" if error in LIMITS else error

    def is_told() -> bool:
        return any(words in problem.text for problem in bot.health.current_problems())

    await wait_until(f"{error}: it is told", is_told)


async def check_over(bot: Bot, error: str) -> None:
    await wait_until(f"{error}: it is over", lambda: not bot.health.current_problems())


async def test_a_card_that_slack_does_not_take_waits(scene: Scene) -> None:
    """Only where the error says that the place takes no card, it is shown at the fallback too. That gives
    nobody a right."""
    bot = await scene.bot(RETRYING)
    gate = await scene.gate(POLICY)
    for error in ERRORS:
        await fail(scene, "chat.postMessage", error)
        waiting = ask(scene, gate, error)
        await check_told(bot, error)
        action = await action_of(gate, error)
        assert [(one.reviewers.users, one.includes_members) for one in action.grants] == [
            (("U0ALICE",), False)
        ], error
        assert len(action.places) == 1 + (error in NO_PLACE), error
        await scene.actor.inject_fault("ok")
        card = await card_with_buttons(scene, error)
        await approve(scene, waiting, card)
        await check_over(bot, error)


async def test_a_card_that_can_not_be_updated_shows_the_decision_later(scene: Scene) -> None:
    """One that can never be changed again is replaced at once. For a deleted one nothing waits."""
    bot = await scene.bot(RETRYING)
    gate = await scene.gate(POLICY)
    for error in ERRORS:
        waiting = ask(scene, gate, error)
        card = await card_of(scene, error)
        await scene.wait_noted(gate, {**card, "metadata": _metadata(scene, card)})
        await fail(scene, "chat.update", error)
        await approve(scene, waiting, card)
        if error in ("cant_update_message", "edit_window_closed"):
            await card_of(scene, error, "approved by")
        elif error != "message_not_found":
            await check_told(bot, error)
        await scene.actor.inject_fault("ok")
        if error != "message_not_found":
            await card_of(scene, error, "approved by")
        await check_over(bot, error)


def _metadata(scene: Scene, card: Message) -> object:
    return scene.sandbox.workspace.channels[card["channel"]].messages[card["ts"]].metadata


async def test_a_post_whose_answer_was_lost_is_not_repeated_while_it_can_not_be_searched_for(
    scene: Scene,
) -> None:
    bot = await scene.bot(RETRYING)
    gate = await scene.gate(POLICY)
    for error in sorted(
        {*ERRORS} - {*NO_PLACE, "thread_not_found"}
    ):  # these say that it is not there
        await fail(scene, "conversations.history", error)
        await scene.actor.inject_fault("ok_but_reset", method="chat.postMessage", times=1)
        waiting = ask(scene, gate, error)
        await check_told(bot, error)
        await scene.actor.inject_fault("ok")
        await approve(scene, waiting, await card_of(scene, error))
        await check_over(bot, error)


async def test_a_form_that_slack_does_not_open_is_told_and_opens_later(scene: Scene) -> None:
    await scene.bot(RETRYING)
    gate = await scene.gate(POLICY)
    waiting = ask(scene, gate, "form")
    card = await card_of(scene, "form")
    for error in ERRORS:
        await fail(scene, "views.open", error)
        before = len(await scene.alice.notices())
        assert (await scene.alice.press(card, "edit"))["ok"]
        [sentence] = (await scene.alice.notices())[before:]
        assert sentence == "Slack didn't open the form. Press again.", error
        await scene.actor.inject_fault("ok")
    await scene.alice.press(card, "edit")
    assert "note" in await scene.alice.modal()
    await approve(scene, waiting, card)
