"""The page shows an agent's text as it is written, and interprets no Slack markup in it."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.scenes import (
    ALICE,
    ASK,
    CARD,
    OPS,
    Workplace,
    header,
    mrkdwn,
    options,
    plain,
    rich,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


HOSTILE = (
    '<img src=x onerror="alert(1)"><script>alert(2)</script> <!channel> <@U0BOB> '
    "<http://evil.example|click> *bold* `code` :tada: &lt;b&gt;"
)
ALIVE = "img, script, a, strong, code, .mention"


async def test_rich_text_is_shown_letter_by_letter(place: Workplace):
    """Given an argument full of markup, its rich_text shows exactly those letters."""
    place.post(rich(HOSTILE))
    await place.open()

    await expect(place.block("args").locator(".rich")).to_have_text(HOSTILE)
    await expect(place.block("args").locator("pre")).to_have_text(HOSTILE)
    await expect(place.block("args").locator(ALIVE)).to_have_count(0)


async def test_plain_text_is_literal(place: Workplace):
    """Given plain_text without emoji, nothing in it comes alive, in a menu neither."""
    menu = {"type": "overflow", "action_id": "more", "options": options(HOSTILE)}
    place.post({"type": "section", "block_id": "s", "text": plain(HOSTILE), "accessory": menu})
    await place.open()

    await expect(place.block("s").locator(".rich")).to_have_text(HOSTILE)
    await place.action("more").click()
    await expect(place.page.get_by_role("menuitem")).to_have_text(HOSTILE)
    await expect(place.block("s").locator(ALIVE)).to_have_count(0)


async def test_what_people_write_is_inert(place: Workplace):
    """Given HTML typed into the composer, the message shows it as it was typed."""
    await place.open(f"?channel={ASK}")
    box = place.page.locator("#composer textarea")

    await box.fill("<img src=x onerror=alert(1)> & <b>")
    await box.press("Enter")

    await expect(place.page.locator(".message .rich")).to_have_text(
        "<img src=x onerror=alert(1)> & <b>"
    )
    await expect(place.page.locator(".message img")).to_have_count(0)


async def test_emoji_only_where_asked_for(place: Workplace):
    """Given plain_text with emoji, a known shortcode is drawn, and an unknown one stays."""
    place.post(header(":tada: :nope:", emoji=True))
    await place.open()

    await expect(place.block("h")).to_have_text("🎉 :nope:")


async def test_mrkdwn_is_read_as_slack_reads_it(place: Workplace):
    """Given mrkdwn, marks, mentions, dates and links are drawn; HTML and script links are not."""
    place.post(
        mrkdwn(
            "*bold* _it_ ~no~ `a*b*c` snake_case_name 2*3*4 <@U0BOB> <#C0OPS> <!subteam^S1|ops> "
            "<!here> <https://example.com/a?b=1&amp;c=2|docs> <javascript:alert(1)|bad> "
            "&lt;b&gt; <!date^1795268700^{date_num}|soon>"
        )
    )
    await place.open()
    text = place.block("s").locator(".rich")

    await expect(text).to_have_text(
        "bold it no a*b*c snake_case_name 2*3*4 @Bob Reyes #team-ops @ops @here docs bad <b> "
        "2026-11-21"
    )
    marks = await text.locator("strong, em, s, code").all_inner_texts()
    links = [await link.get_attribute("href") for link in await text.locator("a").all()]
    assert marks == ["bold", "it", "no", "a*b*c"]
    assert links == [f"?user={ALICE}&channel={OPS}", "https://example.com/a?b=1&c=2"]


async def test_an_unknown_block_says_so(place: Workplace):
    """Given blocks that the page can't draw, each is a visible box; its neighbours are drawn."""
    place.post({"type": "constructor", "block_id": "x"}, {"type": "video", "block_id": "y"}, *CARD)
    await place.open()

    await expect(place.block("x")).to_have_text("unsupported block: constructor")
    await expect(place.block("y")).to_have_text("unsupported block: video")
    await expect(place.block("args").locator(".rich")).to_have_text("order 1042")
