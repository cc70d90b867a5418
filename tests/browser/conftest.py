"""One browser for all tests, and for each test a workspace with a page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_asyncio
from aiohttp import web

from slack_sandbox.server import running_sandbox
from tests.support.bots import CLICK

if TYPE_CHECKING:  # without Playwright the tests are skipped, and this file is read anyway
    from playwright.async_api import Browser

    from tests.browser.scenes import Workplace

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def place(browser: Browser) -> AsyncIterator[Workplace]:
    """An empty workspace and a desktop page that is not open yet. A script error, or a script of
    ours that opens a dialog, fails the test."""
    from tests.browser.scenes import DESKTOP, Bot, Workplace

    bot, errors = Bot(), list[str]()
    app = web.Application()
    app.router.add_post("/slack/events", bot.receive)
    app.router.add_post("/ask", bot.hear)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    context = await browser.new_context(
        viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale="en-US", timezone_id="UTC"
    )
    page = await context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a script opened {dialog.message!r}"))
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with running_sandbox(
        f"{url}/slack/events", ask_url=f"{url}/ask", answer_timeout=CLICK
    ) as sandbox:
        yield Workplace(sandbox, bot, page)
        await context.close()
    await runner.cleanup()
    assert errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def phone(place: Workplace) -> Workplace:
    from tests.browser.scenes import PHONE

    await place.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    return place
