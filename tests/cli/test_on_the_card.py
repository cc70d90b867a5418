"""A decision on the command line is shown in the chat, and its agent continues."""

from __future__ import annotations

import asyncio

from hitl_core.cli import main
from tests.cli.reviews.deciding import LOGIN
from tests.support.bots import Scene, email, sql
from tests.support.slack import review_of, text_of


async def test_a_decision_of_the_command_line_is_on_the_card(scene: Scene, monkeypatch) -> None:
    """Given two calls on a card; when one is approved and the other rejected on the command line; then the
    agent gets exactly that, and the card says who it was, as nobody of the workspace."""
    monkeypatch.setenv("HITL_REDIS_URL", scene.redis_url)
    monkeypatch.setenv("HITL_CLI_DECIDE", "1")
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email("c1"), sql("c2"))
    card = await scene.card("send_email", "run_sql")

    async def decide(*argv: str) -> None:
        command = ["reviews", "decide", review_of(card), *argv, "--yes"]
        assert await asyncio.to_thread(main, command) == 0

    await decide("1", "approve")
    await scene.card(f"approved by {LOGIN} (command line)", "run_sql")
    await decide("run_sql", "reject", "--reason", "No WHERE clause")

    outcome = await waiting
    assert outcome.execute == (email("c1"),)
    assert "No WHERE clause" in outcome.answers[0].content
    card = await scene.card(f"rejected by {LOGIN} (command line)")
    assert "U0" not in text_of(card).replace("U0MARIA", "")


async def test_a_review_cancelled_on_the_command_line(scene: Scene, monkeypatch) -> None:
    """Given a card; when an operator cancels it; then nothing runs, and the card says so and asks no more."""
    monkeypatch.setenv("HITL_REDIS_URL", scene.redis_url)
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")

    command = ["reviews", "cancel", review_of(card), "--reason", "It runs wild", "--yes"]
    assert await asyncio.to_thread(main, command) == 0

    assert (await waiting).execute == ()
    await scene.card(f"cancelled by {LOGIN} (command line)", "It runs wild")
