"""The renderer of Adaptive Cards in a browser shows an agent's words as plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

import teams_sandbox
from bot.card import build_card
from bot.channels.teams.render import card_message, form_card
from tests.channels.scenes import POSTED, link_to, name_of
from tests.channels.teams.filling import PEN, edit_form
from tests.channels.teams.nasty import NASTY
from tests.channels.teams.reading import KEY
from tests.channels.teams.test_injection import OUR_LINKS, evil_review
from tests.channels.test_injection import reviews_in_all_states
from tests.gallery.pictures import camera

Json = dict[str, Any]

RENDERER = Path(teams_sandbox.__file__).parent / "page" / "static" / "adaptivecards.min.js"
#: What their macros would become.
EXPANDED = ("1/1/2026", "Jan 1, 2026", "12:00 AM")
DRAW = """card => {
    const adaptive = new AdaptiveCards.AdaptiveCard();
    adaptive.parse(card);
    document.body.replaceChildren(adaptive.render());
    return {
        links: [...document.querySelectorAll("a[href]")].map(one => one.href),
        alive: document.body.querySelectorAll("img, script, iframe, em, strong, code").length,
        text: document.body.textContent,
    };
}"""


def cards(words: str) -> list[Json]:
    key = f"k{words[:30]}"
    states = reviews_in_all_states("tool", words, {key: words})
    form = edit_form(evil_review(words, key))
    pages = [form.at_page(at, draft="").page() for at in range(min(3, form.session.page_count))]
    drawn = [
        card_message(build_card(one, place, POSTED), name_of, KEY, link_to) for one, place in states
    ]
    return [*drawn, *(form_card(page, "s1", PEN) for page in pages)]


async def test_promise_8_nothing_comes_alive_in_a_browser(chromium: Path) -> None:
    """Given all words that mean something to a client; then its page has no link, image or date of theirs,
    and asks for nothing.
    """
    asked: list[str] = []
    async with camera(chromium) as page:
        page.on("request", lambda request: asked.append(request.url))
        await page.add_script_tag(path=RENDERER)
        for card in [card for words in (*NASTY, "".join(NASTY)) for card in cards(words)]:
            found = await page.evaluate(DRAW, card)
            assert [link for link in found["links"] if not link.startswith(OUR_LINKS)] == []
            assert not found["alive"]
            assert not [date for date in EXPANDED if date in found["text"]]
    assert [url for url in asked if url.startswith("http")] == []
