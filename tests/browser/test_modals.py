"""Modals on the page."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.scenes import CARD, CREDIT, NAME, STATUS, STATUSES, Workplace, field, view

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


async def test_a_push_keeps_what_was_typed(place: Workplace):
    """Given typed text, an updated view keeps it where the ids stay, and only there."""
    shown = place.show(NAME, STATUS)
    await place.open()
    name = place.page.get_by_label("name")
    await name.fill("cus_99")

    place.post(*CARD)
    await expect(place.page.locator("[data-ts]")).to_have_count(1)
    await expect(name).to_have_value("cus_99")

    other = field("name#1", "plain_text_input", initial_value="cus_1")
    fresh = field("status#2", "static_select", options=STATUSES, initial_option=STATUSES[0])
    place.sandbox.modals.update(shown, view(other, fresh, CREDIT))
    await expect(place.page.get_by_label("credit")).to_be_visible()
    await expect(name).to_have_value("cus_99")
    await expect(name).to_be_focused()
    await expect(place.page.get_by_label("status")).to_have_value("0")

    place.sandbox.modals.update(shown, view({**other, "block_id": "name#2"}))
    await expect(name).to_have_value("cus_1")


async def test_enter_submits_every_value(place: Workplace):
    """Given touched and untouched inputs, Enter sends them all, as Slack's state has them."""
    place.show(
        *(NAME, STATUS, CREDIT),
        field("day", "datepicker", initial_date="2026-01-02"),
        field("tags", "checkboxes", options=STATUSES, optional=True),
        field("yes", "radio_buttons", options=STATUSES, initial_option=STATUSES[0]),
        field("note", "plain_text_input", multiline=True, optional=True),
    )
    await place.open()
    await place.page.get_by_role("checkbox", name="vip").check()
    await place.page.get_by_label("credit").fill("12.50")

    await place.page.get_by_label("credit").press("Enter")
    await expect(place.page.get_by_role("dialog")).to_have_count(0)

    values = place.bot.received[-1]["view"]["state"]["values"]
    entered = {block: entry["v"] for block, entry in values.items()}
    assert entered["name#1"] == {"type": "plain_text_input", "value": "cus_88"}
    assert entered["status#1"]["selected_option"]["value"] == "1"
    assert entered["credit#1"] == {"type": "number_input", "value": "12.50"}
    assert entered["day"] == {"type": "datepicker", "selected_date": "2026-01-02"}
    assert [one["value"] for one in entered["tags"]["selected_options"]] == ["1"]
    assert entered["yes"]["selected_option"]["value"] == "0"
    assert entered["note"] == {"type": "plain_text_input", "value": None}


async def test_an_error_stands_beside_its_field(place: Workplace):
    """Given a refused submission, the field says why and has the focus; the rest stays as typed."""
    place.show(NAME, STATUS, CREDIT)
    place.bot.answer = {"response_action": "errors", "errors": {"credit#1": "At most 500."}}
    await place.open()
    name, credit = place.page.get_by_label("name"), place.page.get_by_label("credit")
    await name.fill("cus_99")
    await credit.fill("900")

    await place.page.get_by_role("button", name="Approve edited").click()

    await expect(place.block("credit#1").get_by_role("alert")).to_have_text("At most 500.")
    await expect(place.page.locator(".error:not(:empty)")).to_have_count(1)
    await expect(credit).to_be_focused()
    await expect(credit).to_have_attribute("aria-invalid", "true")
    await expect(credit).to_have_value("900")
    await expect(name).to_have_value("cus_99")


async def test_a_failed_submission_is_said_inside_the_modal(place: Workplace):
    """Given a bot that fails, the sentence can be read and dismissed in front of the modal."""
    place.show(NAME)
    place.bot.status = 500
    await place.open()

    await place.page.get_by_label("name").press("Enter")

    toast = place.page.get_by_role("dialog").locator(".toast")
    await expect(toast).to_contain_text("We had some trouble connecting. Try again?")
    await toast.get_by_role("button").click()
    await expect(place.page.locator(".toast")).to_have_count(0)


async def test_focus_goes_into_the_modal_and_back(place: Workplace):
    """Given a modal opened by a button, its first field has the focus; Escape gives it back, also
    when the card was redrawn meanwhile, and the bot is told."""
    message = place.post(*CARD)
    await place.open()
    async with place.page.expect_response("**/sandbox/click"):
        await place.action("approve").click()
    place.show(NAME)
    await expect(place.page.get_by_role("dialog", name="Edit")).to_be_visible()
    await expect(place.page.get_by_label("name")).to_be_focused()

    message.edited = message.ts
    place.sandbox.workspace.notify_change()
    await expect(place.page.locator(".edited")).to_be_attached()
    async with place.page.expect_response("**/sandbox/close"):
        await place.page.keyboard.press("Escape")

    await expect(place.page.get_by_role("dialog")).to_have_count(0)
    await expect(place.action("approve")).to_be_focused()
    assert [one["type"] for one in place.bot.received] == ["block_actions", "view_closed"]
