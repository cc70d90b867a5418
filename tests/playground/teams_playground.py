"""Reviews in the Microsoft 365 Agents Playground: `make test-teams-playground`.

The Playground is Microsoft's program for evaluation, and this project may not distribute it. So this is not
part of `make test`: pytest doesn't collect a file with this name by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, async_playwright, expect

from bot.app import running_bot
from bot.settings import Settings
from hitl_core import Gate, Outcome, Policy, ToolCall
from teams_sandbox.workspace.acme import APPROVALS, ESCALATIONS
from tests.browser.conftest import FLAGS
from tests.playground.playground import Playground, running_playground
from tests.support.bots import QUICK

HERE, THERE = "Agent approvals - General", "Agent approvals - Escalations"
POLICY = f"""
default: review
notify: ["teams:{APPROVALS}"]
escalate: [{{after: 1h, to: "teams:{ESCALATIONS}"}}]
interrupt_on:
  refund:
    allowed_decisions: [approve, edit, reject]
    args_schema:
      type: object
      properties:
        amount: {{type: integer, minimum: 1, maximum: 200}}
        currency: {{enum: [EUR, USD]}}
        note: {{type: string}}
      required: [amount, currency]
"""
CALL = ToolCall("c1", "refund", {"amount": 120, "currency": "EUR", "note": "*Late* delivery"})

Ask = Callable[[], asyncio.Task[Outcome]]


@pytest.fixture
async def playground(redis_url: str, tmp_path: Path) -> AsyncIterator[Playground]:
    """The Playground, and a bot that is installed in its team."""
    async with running_playground(tmp_path) as playground:
        settings = Settings.from_environment(
            {
                **playground.settings,
                "HITL_CHANNEL": f"teams:{APPROVALS}",
                "HITL_REDIS_URL": redis_url,
                "HITL_PORT": "0",
            }
        )
        async with running_bot(settings, QUICK) as bot:
            playground.bot_url = bot.endpoints["teams"]
            yield playground


@pytest.fixture
async def page(playground: Playground, chromium: Path, tmp_path: Path) -> AsyncIterator[Page]:
    """Alice's screen."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(30_000)
        await page.goto(playground.url)
        await open_conversation(page, "Personal Chat")
        await open_conversation(page, THERE)  # opened for the first time: the app is installed
        await open_conversation(page, HERE)
        try:
            yield page
        finally:
            await page.screenshot(path=tmp_path / "screen.png")
            await browser.close()


@pytest.fixture
async def ask(redis_url: str) -> AsyncIterator[Ask]:
    """Starts an agent that waits for a decision on CALL."""
    policy = Policy.from_yaml(POLICY)
    async with (
        Gate.connect(redis_url, policy=policy, agent="crm") as gate,
        asyncio.TaskGroup() as tasks,
    ):
        waiting = list[asyncio.Task[Outcome]]()

        def start() -> asyncio.Task[Outcome]:
            waiting.append(tasks.create_task(gate.review([CALL], thread_id="t1")))
            return waiting[-1]

        yield start
        for one in waiting:
            one.cancel()


async def open_conversation(page: Page, name: str) -> None:
    await page.get_by_role("treeitem", name=name).first.click()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True).last


async def test_approve_in_the_playground(page: Page, ask: Ask) -> None:
    """Given a card; then others' words have no format; when Alice approves, then everybody sees it, and the
    agent goes on."""
    waiting = ask()
    await expect(page.get_by_text("crm asks to run refund")).to_be_visible()
    await expect(page.get_by_text("*Late* delivery")).to_be_visible()
    await expect(page.get_by_text("Members of Agent approvals may decide.")).to_be_visible()
    await button(page, "Approve").click()
    await expect(page.get_by_text("approved by “Alice Ng”").first).to_be_visible()
    [call] = (await asyncio.wait_for(waiting, 30)).execute
    assert call.args == CALL.args


async def test_edit_with_an_error_in_the_playground(page: Page, ask: Ask) -> None:
    """Given the form; when Alice enters what the schema refuses, then it stays open with the error; when she
    corrects it, then her edit runs."""
    waiting = ask()
    await button(page, "Edit").click()
    amount = page.get_by_label("amount").last
    await amount.fill("0")
    await page.get_by_role("radio", name="USD").last.check(force=True)
    await button(page, "Approve edited").click()
    await expect(page.get_by_text("✖").last).to_be_visible()
    await page.get_by_label("amount").last.fill("80")
    await button(page, "Approve edited").click()
    await expect(page.get_by_text("edited and approved by “Alice Ng”").first).to_be_visible()
    [call] = (await asyncio.wait_for(waiting, 30)).execute
    assert call.args == {**CALL.args, "amount": 80, "currency": "USD"}


async def test_reject_with_a_reason_in_the_playground(page: Page, ask: Ask) -> None:
    """Given a card; when Alice rejects it with a reason, then the agent reads it."""
    waiting = ask()
    await button(page, "Reject").click()
    await page.get_by_label("Why?").last.fill("He was refunded yesterday")
    await button(page, "Reject").click()
    await expect(page.get_by_text("rejected by “Alice Ng”").first).to_be_visible()
    done = await asyncio.wait_for(waiting, 30)
    assert not done.execute
    assert "He was refunded yesterday" in done.answers[0].content


async def test_escalate_in_the_playground(page: Page, ask: Ask) -> None:
    """Given a card; when Alice escalates it, then the other channel has it, and her approval there is shown
    on both."""
    waiting = ask()
    await page.get_by_text("...", exact=True).last.click()
    await page.get_by_role("menuitem", name="Escalate").last.click()
    await button(page, "Escalate").click()
    await open_conversation(page, THERE)
    await expect(page.get_by_text("crm asks to run refund")).to_be_visible()
    await button(page, "Approve").click()
    assert len((await asyncio.wait_for(waiting, 30)).execute) == 1
    await open_conversation(page, HERE)
    await expect(page.get_by_text("approved by “Alice Ng”").first).to_be_visible()


async def test_approvals_in_the_playground(page: Page, ask: Ask) -> None:
    """Given a review; when Alice writes `approvals` to the bot, then it lists what waits for her."""
    ask()
    await expect(page.get_by_text("crm asks to run refund")).to_be_visible()
    await open_conversation(page, "Personal Chat")
    await page.locator("[role=textbox][contenteditable]").last.click()
    await page.keyboard.type("approvals")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 review waits for you")).to_be_visible()
