"""Where things are on the page: threads and their files, tabs, direct messages, the Home tab."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from slack_sandbox.page.single_item import single_item_url
from slack_sandbox.workspace.objects import Message
from tests.browser.scenes import (
    ALICE,
    APPROVE,
    BUTTONS,
    CARD,
    NAME,
    Workplace,
    header,
    mrkdwn,
    rich,
    view,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


async def test_a_thread_shows_its_replies_and_files(place: Workplace):
    """Given a card with a file in its thread, the count leads there, and a link opens its text."""
    workspace = place.sandbox.workspace
    card = place.post(*CARD)
    stored = {"id": "F1", "name": "args.json", "title": "All arguments", "size": 9}
    workspace.files["F1"] = {**stored, "content": b"<b>all</b>", "shared_in": [APPROVE]}
    reply = Message(APPROVE, workspace.next_ts(), "U0APPROVER", "in full", thread_ts=card.ts)
    reply.files = [stored]
    workspace.add(reply)
    await place.open()
    await expect(place.page.locator("#messages .message")).to_have_count(1)

    await place.page.get_by_role("button", name="1 reply").click()
    async with place.page.expect_popup() as popup:
        await place.page.locator("#replies").get_by_role("link", name="All arguments").click()

    opened = await popup.value
    await expect(opened.locator("body")).to_have_text("<b>all</b>")


async def test_a_modal_opens_in_the_tab_of_the_click(place: Workplace):
    """Given two tabs of one person, the modal that answers a click is seen where it was made."""
    place.post(*CARD)
    await place.open()
    other = await place.page.context.new_page()
    await other.goto(place.sandbox.url)
    await expect(other.locator("[data-action-id=approve]")).to_be_visible()

    async with other.expect_response("**/sandbox/click"):
        await other.locator("[data-action-id=approve]").click()
    trigger = place.bot.received[-1]["trigger_id"]
    tab = place.sandbox.triggers.tab(trigger)
    place.sandbox.modals.open(ALICE, view(NAME), tab)

    await expect(other.get_by_role("dialog")).to_be_visible()
    place.post(header("news"))
    await expect(place.page.get_by_text("news")).to_be_visible()
    await expect(place.page.get_by_role("dialog")).to_have_count(0)
    await other.reload()
    await expect(other.get_by_role("dialog")).to_be_visible()


async def test_the_home_tab_tells_the_app_and_its_buttons_work(place: Workplace):
    home = {"type": "home", "blocks": [header("Waiting for you"), BUTTONS]}
    shown = place.sandbox.homes.publish(ALICE, home, None)
    await place.open()

    await place.page.locator("#apps a").click()
    await expect(place.page.get_by_text("Waiting for you")).to_be_visible()
    async with place.page.expect_response("**/sandbox/click"):
        await place.action("approve").click()

    assert [event["type"] for event in place.bot.events] == ["app_home_opened"]
    assert place.bot.received[-1]["container"] == {"type": "view", "view_id": shown["id"]}


async def test_the_home_tab_is_read_from_its_top_and_stays_where_it_was(
    place: Workplace,
):
    """Given a long Home, it opens at its top; scrolled down, a new drawing leaves the
    reader there."""

    def publish(count: int) -> None:
        blocks = [mrkdwn(f"waits: number {n}") for n in range(count)]
        place.sandbox.homes.publish(ALICE, {"type": "home", "blocks": blocks}, None)

    page = place.page.locator("#messages")
    await place.open()
    await place.page.locator("#apps a").click()
    await expect(place.page.get_by_text("Waiting for the app.")).to_be_visible()

    publish(80)
    await expect(place.page.get_by_text("number 79")).to_be_attached()
    assert await page.evaluate("node => node.scrollTop") == 0

    await page.evaluate("node => node.scrollTop = 300")
    publish(81)
    await expect(place.page.get_by_text("number 80")).to_be_attached()
    assert await page.evaluate("node => node.scrollTop") == 300


async def test_direct_messages_groups_and_commands(place: Workplace):
    dm = place.sandbox.workspace.open_direct_channel(ALICE, "U0APPROVER")
    place.post(mrkdwn("<!subteam^S0OPS> waits"), channel=dm.id)
    await place.open()

    await place.page.locator("#direct").get_by_role("link", name="approver").click()
    await expect(place.page.locator("#title")).to_have_text("approver")
    await expect(place.page.locator(".mention")).to_have_text("@ops")
    await expect(place.page.locator("#composer")).to_be_hidden()

    place.sandbox.app.commands = frozenset({"/approvals"})
    await place.page.get_by_role("link", name="agent-approvals").click()
    box = place.page.locator("#composer textarea")
    await box.fill("/approvals list")
    async with place.page.expect_response("**/sandbox/command"):
        await box.press("Enter")
    assert place.bot.commands == ["/approvals list"]


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_one_thing_alone_for_a_picture(place: Workplace, theme: str):
    """Given a message with a reply, a modal and a home, each is shown alone, in the chosen colours."""
    message = {"text": "x", "blocks": list(CARD)}
    home = {"type": "home", "blocks": [header("Waiting for you")]}
    modal = {key: value for key, value in view(NAME).items() if key != "notify_on_close"}
    page, sandbox = place.page, place.sandbox
    background = {"light": "rgb(255, 255, 255)", "dark": "rgb(26, 29, 33)"}[theme]
    for what, replies, words in (
        (message, (), "asks to run"),
        (message, [{"text": "edited"}], "edited"),
        (modal, (), "Approve edited"),
        (home, (), "Waiting for you"),
    ):
        await page.goto(single_item_url(sandbox, what, replies=replies, theme=theme))  # pyright: ignore[reportArgumentType] light or dark
        shown = page.locator("#alone")
        await expect(shown).to_contain_text(words)
        await expect(shown).to_have_css("background-color", background)
        await expect(page.locator("#app")).to_be_hidden()
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_an_id_stays_on_one_line(phone: Workplace):
    """Given ids with hyphens in a narrow text, none is broken after its hyphen."""
    phone.post(rich("and the other one: 0-5f2a9c1d77e04b " * 4))
    await phone.open()
    ids = phone.page.locator(".rich .id")
    await expect(ids).to_have_count(4)

    lines = await ids.evaluate_all("all => all.map(one => one.getClientRects().length)")

    assert lines == [1, 1, 1, 1]
