"""What people enter on the page: every kind of input sends what Slack would send."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.scenes import STATUSES, Json, Workplace, field, options, plain

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]

GROUPS = [
    {"label": plain("Known"), "options": STATUSES},
    {"label": plain("Others"), "options": [{"text": plain("lapsed"), "value": "2"}]},
]
TO_THE_SECOND = 1_795_268_712  # 2026-11-21 13:45:12 UTC


async def submit(place: Workplace) -> dict[str, Json]:
    """What the bot gets, by block."""
    await place.page.get_by_role("button", name="Approve edited").click()
    await expect(place.page.get_by_role("dialog")).to_have_count(0)
    values = place.bot.received[-1]["view"]["state"]["values"]
    return {block: entry["v"] for block, entry in values.items()}


UNTOUCHED: list[tuple[Json, Any]] = [
    (field("multi", "multi_static_select", option_groups=GROUPS), []),
    (field("date and time", "datetimepicker", initial_date_time=TO_THE_SECOND), TO_THE_SECOND),
    (field("person", "users_select", initial_user="U0BOB"), "U0BOB"),
    (field("people", "multi_users_select", initial_users=["U0BOB", "U0CARL"]), ["U0BOB", "U0CARL"]),
    (field("channel", "channels_select", initial_channel="C0OPS"), "C0OPS"),
    (field("somebody unknown", "users_select", initial_user="U0STRANGER"), "U0STRANGER"),
    (field("place", "conversations_select"), None),
    (field("e-mail", "email_text_input", initial_value="jo@example.com"), "jo@example.com"),
    (field("web", "url_text_input", initial_value="https://example.com/"), "https://example.com/"),
    (field("text", "plain_text_input", multiline=True, initial_value="a\n\nb"), "a\n\nb"),
]


async def test_untouched_inputs_send_their_initial_values(place: Workplace):
    """Given inputs that nobody touches, each sends what it began with, a time to the second."""
    place.show(*({**block, "optional": True} for block, _ in UNTOUCHED))
    await place.open()
    await expect(place.page.locator(".unsupported")).to_have_count(0)

    values = await submit(place)

    for block, expected in UNTOUCHED:
        entry = values[block["block_id"]]
        assert entry["type"] == block["element"]["type"]
        assert [value for key, value in entry.items() if key != "type"] == [expected]


async def test_a_choice_of_several_in_groups_up_to_its_limit(place: Workplace):
    """Given a limit of two, a third box can't be ticked before another is cleared."""
    several = field("tags", "multi_static_select", option_groups=GROUPS, max_selected_items=2)
    place.show(several)
    await place.open()
    box = place.page.get_by_role("checkbox")
    await expect(place.block("tags")).to_contain_text("Others")

    await box.nth(0).check()
    await box.nth(2).check()
    await expect(box.nth(1)).to_be_disabled()
    await box.nth(0).uncheck()
    await expect(box.nth(1)).to_be_enabled()

    chosen = (await submit(place))["tags"]["selected_options"]
    assert [one["value"] for one in chosen] == ["2"]


async def test_pickers_and_people_send_what_was_chosen(place: Workplace):
    """Given a browser in UTC, a date and time is sent as seconds since 1970."""
    place.show(
        field("when", "datetimepicker"),
        field("who", "users_select"),
        field("all", "multi_users_select"),
    )
    await place.open()

    await place.page.get_by_label("when").fill("2026-11-21T13:45")
    await place.page.get_by_label("who").select_option("Dana Okoye")
    await place.block("all").get_by_label("Carl Weiss").check()

    values = await submit(place)
    assert values["when"]["selected_date_time"] == TO_THE_SECOND - 12
    assert values["who"]["selected_user"] == "U0DANA"
    assert values["all"]["selected_users"] == ["U0CARL"]


async def test_an_input_with_dispatch_action_is_sent_at_once(place: Workplace):
    """Given a menu that draws the form again, what was typed elsewhere goes along, and stays."""
    branch = field("branch", "static_select", options=options("card", "bank"))
    name = field("name", "plain_text_input")
    view = place.show(name, {**branch, "dispatch_action": True})
    await place.open()
    await place.page.get_by_label("name").fill("Jo")

    async with place.page.expect_response("**/sandbox/click"):
        await place.page.get_by_label("branch").select_option("bank")

    payload = place.bot.received[-1]
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert payload["actions"][0]["selected_option"]["value"] == "1"
    assert payload["view"]["state"]["values"]["name"]["v"]["value"] == "Jo"

    await place.page.reload()
    await expect(place.page.get_by_label("name")).to_have_value("Jo")
    await expect(place.page.get_by_label("branch")).to_have_value("1")
