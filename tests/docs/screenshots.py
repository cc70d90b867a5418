"""The pictures of the pages, taken of the real local Slack: `python -m tests.docs.screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from bot.sandbox.hands import Hands
from bot.sandbox.server import running_sandbox
from hitl_core import ToolCall
from hitl_core.embedded_redis import EmbeddedRedis
from tests.docs.pages import ROOT
from tests.support.bots import Scene
from tests.support.slack import APPROVALS

IMAGES = ROOT / "docs" / "images"
PHONE, LAPTOP = {"width": 390, "height": 780}, {"width": 1000, "height": 720}
SMALL = {"width": 760, "height": 400}
POLICY = """
default: review
escalate: [{after: 10m, to: "slack:#team-ops"}]
interrupt_on:
  refund_order:
    description: Pays money back to the customer.
    args_schema:
      type: object
      properties:
        order_id: {type: integer, readOnly: true}
        amount: {type: number, minimum: 0, maximum: 200}
        reason: {enum: [damaged, late, asked by the customer]}
      required: [order_id, amount, reason]
  run_sql: {allowed_decisions: [approve, reject], reject_reason: required}
"""
REFUND = {"order_id": 1042, "amount": 120.0, "reason": "asked by the customer"}
SQL = {"query": "UPDATE orders SET status = 'refunded' WHERE id = 1042"}


def calls(*names: str) -> list[ToolCall]:
    args = {"refund_order": REFUND, "run_sql": SQL}
    return [ToolCall(f"c{n}", name, args[name]) for n, name in enumerate(names)]


async def look(browser: Any, scene: Scene, size: Any, words: str) -> Page:
    page = await browser.new_page(viewport=size, device_scale_factor=1)
    await page.goto(f"{scene.sandbox.url}/?user=U0ALICE&channel={APPROVALS}")
    await page.get_by_text(words).last.wait_for()
    return page


async def shoot(page: Page, name: str) -> None:
    await page.wait_for_timeout(300)  # what moves has come to rest
    await page.screenshot(path=str(IMAGES / name))
    await page.close()


async def take(browser: Any, scene: Scene) -> None:
    await scene.bot()
    gate = await scene.gate(POLICY, lease=1.0)
    asked = scene.ask(gate, *calls("refund_order", "run_sql"), requester="U0MARIA")
    await scene.card("run_sql")
    await shoot(await look(browser, scene, PHONE, "Members of"), "pending-phone.png")

    page = await look(browser, scene, LAPTOP, "Members of")
    await page.get_by_role("button", name="Edit").first.click()
    await page.get_by_label("amount").fill("500")
    await page.get_by_role("button", name="Approve edited").click()
    await page.get_by_text("is at most 200").wait_for()
    await shoot(page, "edit.png")

    await scene.alice.submit(amount="80")
    card = await scene.card("edited and approved")
    await scene.bob.press(card, "reject")
    await scene.bob.submit(message="The order is set by the refund itself.")
    outcome = await asked
    await outcome.once(outcome.execute[0])
    await outcome.done({"c0": "80.00 EUR paid back"})
    await scene.card("80.00 EUR paid back")
    await shoot(await look(browser, scene, SMALL, "paid back"), "decided.png")

    asked = scene.ask(gate, *calls("refund_order"), requester="U0MARIA")
    await scene.alice.press(await scene.card("asks to run 1 tool"), "approve")
    crashed = await asked
    await crashed.once(crashed.execute[0])
    crashed.release()
    await shoot(await look(browser, scene, SMALL | {"height": 460}, "It ran"), "in-doubt.png")


async def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, EmbeddedRedis(Path(folder) / "redis") as redis:
        async with running_sandbox() as sandbox, Hands(sandbox.url) as hands:
            scene = Scene(sandbox, hands, redis.url, Path(folder))
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                try:
                    await take(browser, scene)
                finally:
                    await browser.close()
            await scene.close()


if __name__ == "__main__":
    asyncio.run(main())
