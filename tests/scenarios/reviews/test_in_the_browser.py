"""The main flow in browsers: two browsers, one review, an agent that continues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hitl_core import ToolCall
from tests.support.bots import POLICY, Scene, email, sql
from tests.support.waiting import wait_until

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from playwright.async_api import Browser, Locator, Page, Route, async_playwright, expect

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET = ["--disable-background-networking", "--disable-component-update"]
ESCALATING = POLICY + '\nescalate: [{after: 10m, to: "slack:#team-ops"}]\n'


@asynccontextmanager
async def browsing(chromium: Path) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(chromium), args=[*FLAGS, *QUIET]
        )
        try:
            yield browser
        finally:
            await browser.close()


async def open_page(browser: Browser, scene: Scene, user: str, channel: str, **how: Any) -> Page:
    page = await browser.new_page(**how)
    await page.goto(f"{scene.sandbox.url}/?user={user}&channel={channel}")
    return page


async def at_once(*pages: Page) -> None:
    """From now on the pages' clicks are sent together: each waits for the others."""
    all_pressed = asyncio.Barrier(len(pages))

    async def hold(route: Route) -> None:
        await all_pressed.wait()
        await route.continue_()

    for page in pages:
        await page.route("**/sandbox/click", hold)


def button(page: Page, block: str, action: str) -> Locator:
    return page.locator(f"[data-block-id='{block}'] [data-action-id='{action}']")


async def test_two_people_decide_three_calls_in_their_browsers(
    scene: Scene, chromium: Path
) -> None:
    # given an agent that waits for three decisions
    await scene.bot()
    gate = await scene.gate(ESCALATING)
    run = scene.ask(gate, email(), sql(), ToolCall("c3", "tidy", {"room": "attic"}))
    await scene.card("tidy")

    async with browsing(chromium) as browser:
        alice = await open_page(browser, scene, "U0ALICE", "C0APPROVE")
        phone = {"width": 390, "height": 844}
        bob = await open_page(browser, scene, "U0BOB", "C0APPROVE", viewport=phone, has_touch=True)

        # when Bob rejects on his phone, and says why
        await button(bob, "do:2:1", "reject").tap()
        await bob.get_by_role("dialog").get_by_role("textbox").fill("Not on a Friday.")
        await bob.get_by_role("dialog").get_by_role("button", name="Reject").tap()
        await expect(bob.get_by_role("dialog")).to_have_count(0)

        # and Alice edits: a wrong value is marked beside its field, a right one closes the form
        await button(alice, "do:1:1", "edit").click()
        form = alice.get_by_role("dialog")
        await form.get_by_label("copies").fill("99")
        await form.get_by_role("button", name="Approve edited").click()
        await expect(form.get_by_text("at most 9")).to_be_visible()
        await form.get_by_label("copies").fill("5")
        await form.get_by_role("button", name="Approve edited").click()
        await expect(form).to_have_count(0)

        # and, when the card is drawn again, somebody calls the team, whose members see what is still open
        await expect(alice.get_by_text("edited and approved by")).to_be_visible()
        await button(alice, "all", "more").click()
        await alice.get_by_role("menuitem", name="Escalate").click()
        await form.get_by_label("Why?").fill("Nobody here knows the attic.")
        await form.get_by_role("button", name="Escalate").click()
        await expect(form).to_have_count(0)
        dana = await open_page(browser, scene, "U0DANA", "C0OPS")
        await expect(button(dana, "do:3:1", "approve")).to_be_visible()
        await expect(alice.get_by_text("Escalated to #team-ops by")).to_be_visible()

        # and two people press at once (no card changes before both presses have arrived)
        await scene.actor.inject_fault("ratelimited", method="chat.update")
        await at_once(alice, dana)
        await asyncio.gather(
            button(alice, "do:3:1", "approve").click(), button(dana, "do:3:1", "approve").click()
        )
        outcome = await run
        await outcome.finish({call.id: f"{call.name} is done" for call in outcome.execute})

        # then one of them is told privately that the other was faster, and a reload shows the end of it
        words = "already approved tidy"

        async def is_shown_once() -> bool:
            return sum([await page.get_by_text(words).count() for page in (alice, dana)]) == 1

        await wait_until("one of them is told", is_shown_once)
        await scene.actor.inject_fault("ok", method="chat.update")
        await alice.reload()
        await expect(alice.get_by_text("tidy is done")).to_be_visible()
        await expect(alice.get_by_text("Not on a Friday.")).to_be_visible()
        await expect(button(alice, "do:3:1", "approve")).to_have_count(0)

    assert [(call.name, call.args.get("copies")) for call in outcome.execute] == [
        ("send_email", 5),
        ("tidy", None),
    ]
    assert "Not on a Friday." in outcome.answers[0].content
