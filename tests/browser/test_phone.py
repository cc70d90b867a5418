"""The page on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.scenes import BUTTONS, NAME, PHONE, STATUS, Workplace, field, header, rich

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


SIDEWAYS = (
    "[...document.querySelectorAll('html, body, #messages, .modal, .modal .content')]"
    ".filter(node => node.scrollWidth > node.clientWidth).map(node => node.outerHTML.slice(0, 60))"
)
LOW_BUTTONS = "all => all.filter(one => one.offsetHeight < 44).map(one => one.outerHTML)"


async def test_a_message_fits_a_phone(phone: Workplace):
    """Given long words, nothing scrolls sideways; every button is high enough for a thumb."""
    phone.post(rich("x" * 400), header("y" * 140), BUTTONS)
    await phone.open()
    await expect(phone.action("approve")).to_be_visible()

    assert await phone.page.evaluate(SIDEWAYS) == []
    assert await phone.page.locator("button:visible").evaluate_all(LOW_BUTTONS) == []


async def test_a_modal_fills_a_phone(phone: Workplace):
    """Given a modal with long words, it is as large as the screen, and nothing scrolls sideways."""
    phone.show(NAME, STATUS, field("z" * 200, "plain_text_input"), rich("x" * 400))
    await phone.open()

    box = await phone.page.get_by_role("dialog").bounding_box()

    assert box is not None
    assert (box["width"], box["height"]) == PHONE
    assert await phone.page.evaluate(SIDEWAYS) == []
    assert await phone.page.locator("dialog button:visible").evaluate_all(LOW_BUTTONS) == []


async def test_the_menu_of_a_phone(phone: Workplace):
    """Given a phone, the sidebar hides behind the menu button, and goes when a channel is chosen."""
    await phone.open()
    sidebar = phone.page.get_by_role("navigation")
    await expect(sidebar).to_be_hidden()

    await phone.page.get_by_role("button", name="Channels and users").click()
    await phone.page.get_by_role("link", name="team-ops").click()

    await expect(sidebar).to_be_hidden()
    await expect(phone.page.locator("#title")).to_contain_text("team-ops")
