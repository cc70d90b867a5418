"""Clicks in messages on the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.scenes import ALICE, CARD, STATUSES, Json, Workplace, actions, button, plain

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


async def test_a_double_click_is_one_click(place: Workplace):
    """Given a slow bot, the button waits, disabled and with the focus, and sends once."""
    message = place.post(*CARD)
    await place.open()
    place.bot.gate.clear()
    approve = place.page.get_by_role("button", name="Approve the refund")

    await approve.dblclick()
    await expect(approve).to_be_disabled()
    place.bot.gate.set()
    await expect(approve).to_be_enabled()

    await expect(approve).to_be_focused()
    assert place.bot.clicks == [(ALICE, "approve")]
    assert place.bot.received[0]["container"]["message_ts"] == message.ts


async def test_a_failed_click_says_why(place: Workplace):
    """Given a bot that fails, a toast says so, and a triangle is beside the button."""
    place.post(*CARD)
    place.bot.status = 500
    await place.open()

    await place.action("reject").click()

    await expect(place.page.locator(".toast")).to_contain_text("status code 500")
    await expect(place.page.locator("[data-action-id=reject] + .trouble")).to_be_visible()
    await place.page.get_by_role("button", name="Dismiss").click()
    await expect(place.page.locator(".toast")).to_have_count(0)


async def test_an_overflow_option_by_keyboard(place: Workplace):
    """Given the three dots, arrows and Enter choose an option, and that one is sent."""
    place.post(*CARD)
    await place.open()
    keyboard = place.page.keyboard

    await place.action("more").focus()
    await keyboard.press("Enter")
    await expect(place.page.get_by_role("menuitem", name="Answer")).to_be_focused()
    await keyboard.press("ArrowDown")
    async with place.page.expect_response("**/sandbox/click"):
        await keyboard.press("Enter")

    await expect(place.page.get_by_role("menu")).to_be_hidden()
    chosen = place.bot.received[0]["actions"][0]["selected_option"]
    assert chosen["text"]["text"] == "Escalate"


async def test_inputs_of_a_message_send_what_was_chosen(place: Workplace):
    """Given a menu, radio buttons, checkboxes and a date in a message, each sends its choice."""
    kinds = ("static_select", "radio_buttons", "checkboxes")
    chosen = [{"type": kind, "action_id": kind, "options": STATUSES} for kind in kinds]
    place.post(actions(*chosen, {"type": "datepicker", "action_id": "day"}))
    await place.open()

    async def send(act: Any) -> Json:
        async with place.page.expect_response("**/sandbox/click") as response:
            await act
        assert (await (await response.value).json())["ok"]
        return place.bot.received[-1]["actions"][0]

    menu = await send(place.action("static_select").select_option("vip"))
    radio = await send(place.action("radio_buttons").get_by_label("vip").check())
    boxes = await send(place.action("checkboxes").get_by_label("new").check())
    day = await send(place.action("day").fill("2026-01-02"))

    assert menu["selected_option"]["value"] == radio["selected_option"]["value"] == "1"
    assert [one["value"] for one in boxes["selected_options"]] == ["0"]
    assert day["selected_date"] == "2026-01-02"


async def test_confirm_asks_first(place: Workplace):
    """Given a button with a confirm dialog, Escape sends nothing, and a yes sends the click."""
    words = {"title": "Sure?", "text": "It runs.", "confirm": "Run it", "deny": "Stop"}
    confirm = {key: plain(text) for key, text in words.items()}
    place.post(actions(button("run", confirm=confirm)))
    await place.open()
    dialog = place.page.get_by_role("alertdialog", name="Sure?")

    await place.action("run").click()
    await expect(dialog).to_be_visible()
    await place.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    assert place.bot.clicks == []

    await place.action("run").click()
    async with place.page.expect_response("**/sandbox/click"):
        await dialog.get_by_role("button", name="Run it").click()
    assert place.bot.clicks == [(ALICE, "run")]


async def test_a_redrawn_message_keeps_the_focus(place: Workplace):
    """Given the focus on Reject, a change of the card leaves it there."""
    message = place.post(*CARD)
    await place.open()
    await place.action("reject").focus()

    message.edited = message.ts
    place.sandbox.workspace.notify_change()

    await expect(place.page.locator(".edited")).to_be_visible()
    await expect(place.action("reject")).to_be_focused()
