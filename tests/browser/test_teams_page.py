"""The page of the local Teams in a real browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from aiohttp import web

from teams_sandbox.connector.file_cards import CONSENT, INFO
from teams_sandbox.page import single_item_url
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.workspace import Message, ids
from tests.support.waiting import wait_until
from tests.teams_sandbox.cards import button, buttons, card, choices, field, mention, text

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from playwright.async_api import Page, expect

if TYPE_CHECKING:
    from playwright.async_api import Browser

Json = dict[str, Any]
pytestmark = pytest.mark.asyncio(loop_scope="session")
FORM = card(
    text("Edit send_email"),
    field("Text", "f_1", value="jo@example.com", isRequired=True, errorMessage="Fill this in."),
    field("Number", "f_2", value=3),
    field("Toggle", "f_3", value="true"),
    {**choices("a", "b", style="expanded"), "id": "f_4"},
    buttons(button("Send", style="positive")),
)


@pytest_asyncio.fixture(loop_scope="session")
async def teams() -> AsyncIterator[Sandbox]:
    async with running_sandbox() as sandbox:
        yield sandbox


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A script error, or a request to another host, fails the test."""
    errors: list[str] = []
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    page = await context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.on("request", lambda one: None if "//127.0.0.1:" in one.url else errors.append(one.url))
    yield page
    await context.close()
    assert errors == []


def post(teams: Sandbox, content: Json, conversation: str = ids.APPROVALS) -> Message:
    """A message of the bot, past the Connector."""
    place = teams.workspace.conversations[conversation]
    message = teams.workspace.add_message(place, teams.app.mri)
    kind = "application/vnd.microsoft.card.adaptive"
    message.attachments = [{"contentType": kind, "content": content}]
    teams.workspace.notify_change()
    return message


async def test_a_card_is_drawn_with_its_inputs_and_buttons(teams: Sandbox, page: Page):
    await page.goto(single_item_url(teams, FORM))
    alone = page.locator("#alone")
    await expect(alone.get_by_text("Edit send_email")).to_be_visible()
    await expect(alone.locator("input[type=text]")).to_have_value("jo@example.com")
    await expect(alone.locator("input[type=number]")).to_have_value("3")
    await expect(alone.get_by_role("checkbox")).to_be_checked()
    await expect(alone.get_by_role("radio")).to_have_count(2)
    await expect(alone.get_by_role("button", name="Send")).to_be_visible()


async def test_text_of_others_is_drawn_as_it_is_written(teams: Sandbox, page: Page):
    """Given HTML, Markdown and a tag in a text run, then the page shows each character of it."""
    nasty = (
        '<img src="https://evil.example/x.png"> **bold** [link](https://evil.example) <at>Ann</at>'
    )
    await page.goto(single_item_url(teams, card(text(nasty))))
    await expect(page.locator("#alone .ac-richTextBlock")).to_have_text(nasty)


async def test_a_mention_is_drawn_as_a_name(teams: Sandbox, page: Page):
    block = {"type": "TextBlock", "text": "<at>Ann</at>"}
    await page.goto(single_item_url(teams, card(block, msteams={"entities": [mention()]})))
    await expect(page.locator("#alone .ac-textBlock")).to_have_text("Ann")


async def test_rare_buttons_are_in_a_menu(teams: Sandbox, page: Page):
    rare = button("Escalate", mode="secondary")
    await page.goto(single_item_url(teams, card(buttons(button("Approve"), rare))))
    await expect(page.get_by_text("Escalate")).to_have_count(0)
    await page.locator(".ac-pushButton").last.click()
    await expect(page.get_by_role("menuitem", name="Escalate")).to_be_visible()


async def test_an_input_that_the_client_refuses_says_why(teams: Sandbox, page: Page):
    """Given a required input that is empty, when the form is sent, then nothing reaches the server."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    await page.goto(single_item_url(teams, FORM))
    await page.locator("#alone input[type=text]").fill("")
    sent.clear()
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_text("Fill this in.")).to_be_visible()
    assert sent == []


async def test_a_message_appears_and_changes_at_once(teams: Sandbox, page: Page):
    """Given an open page, when the bot posts and edits, then the page follows, and what was typed into
    another card stays."""
    form = post(teams, FORM)
    await page.goto(f"{teams.url}/?conversation={ids.APPROVALS}")
    typed = page.locator(f'[data-id="{form.id}"] input[type=text]')
    await typed.fill("ann@example.com")
    message = post(teams, card(text("Bob is asked")))
    await expect(page.get_by_text("Bob is asked")).to_be_visible()
    message.attachments[0]["content"] = card(text("Bob approved"))
    teams.workspace.notify_change()
    await expect(page.get_by_text("Bob approved")).to_be_visible()
    await expect(page.get_by_text("Bob is asked")).to_have_count(0)
    await expect(typed).to_have_value("ann@example.com")


async def test_each_person_sees_their_own_conversations_and_cards(teams: Sandbox, page: Page):
    """Given a card that was replaced for Alice, when the page becomes Carl's and Bob's, then Carl is not in
    the channel, and Bob sees the card of everybody."""
    message = post(teams, card(text("for everybody")))
    message.cards[ids.ALICE] = card(text("for Alice"))
    await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={ids.APPROVALS}")
    await expect(page.get_by_text("for Alice")).to_be_visible()
    await expect(page.get_by_text("Only you see it like this")).to_be_visible()
    await page.get_by_label("Who am I").select_option(label="Carl Weiss")
    await expect(page.locator("#channels")).not_to_contain_text("Agent approvals > General")
    await page.goto(f"{teams.url}/?user={ids.BOB}&conversation={ids.APPROVALS}")
    await expect(page.get_by_text("for everybody")).to_be_visible()
    await expect(page.get_by_text("for Alice")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_the_page_fits_a_phone_and_a_laptop(
    teams: Sandbox, page: Page, width: int, theme: str
):
    """Given a long word and many buttons, then nothing is wider than the window."""
    many = [button(f"Approve the tool number {n}") for n in range(6)]
    post(teams, card(text("x" * 400), field("Text", value="y" * 400), buttons(*many)))
    await page.set_viewport_size({"width": width, "height": 800})
    await page.goto(f"{teams.url}/?conversation={ids.APPROVALS}&theme={theme}")
    await expect(page.get_by_text("Approve the tool number 5")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = (
        "[...document.querySelectorAll('.card *')].map(one => one.getBoundingClientRect().right)"
    )
    assert max(await page.evaluate(sizes)) <= width


class Answers:
    """A bot that answers each press with the next of these, and keeps what it was sent."""

    def __init__(self, *bodies: Json) -> None:
        self.bodies, self.received = list(bodies), list[Json]()

    async def receive(self, request: web.Request) -> web.Response:
        self.received.append(await request.json())
        return web.json_response(self.bodies.pop(0) if self.bodies else {})


@asynccontextmanager
async def bot(teams: Sandbox, *bodies: Json) -> AsyncGenerator[Answers]:
    answers = Answers(*bodies)
    app = web.Application()
    app.router.add_post("/api/messages", answers.receive)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    teams.bot_url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
    try:
        yield answers
    finally:
        await runner.cleanup()


def card_answer(content: Json) -> Json:
    kind = "application/vnd.microsoft.card.adaptive"
    return {"statusCode": 200, "type": kind, "value": content}


NOTICE: Json = {
    "statusCode": 200,
    "type": "application/vnd.microsoft.activity.message",
    "value": "Only Finance leads may decide this.",
}
ERROR: Json = {
    "statusCode": 400,
    "type": "application/vnd.microsoft.error",
    "value": {"code": "BadRequest", "message": "This review has ended."},
}


async def test_a_press_sends_the_inputs_and_replaces_the_card_for_this_person(
    teams: Sandbox, page: Page
):
    """Given a form, when Alice fills it in and sends it, then the bot gets what she entered, and only she
    sees the card of the answer."""
    message = post(teams, FORM)
    async with bot(teams, card_answer(card(text("Thanks, Alice")))) as answers:
        await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={ids.APPROVALS}")
        form = page.locator(f'[data-id="{message.id}"]')
        await form.locator("input[type=text]").fill("ann@example.com")
        await form.locator("input[type=number]").fill("12")
        await form.get_by_role("checkbox").uncheck()
        await form.get_by_role("radio").nth(1).check()
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_text("Thanks, Alice")).to_be_visible()
    (invoke,) = answers.received
    assert invoke["from"]["aadObjectId"] == ids.ALICE
    expected = {"f_1": "ann@example.com", "f_2": "12", "f_3": "false", "f_4": "b"}
    assert invoke["value"]["action"]["data"] == {"hitl": "press", **expected}
    assert message.card_for(ids.BOB) == FORM


@pytest.mark.parametrize(
    ("answer", "sentence", "role"),
    [
        (NOTICE, "Only Finance leads may decide this.", "status"),
        (ERROR, "This review has ended.", "alert"),
        ({}, "Unable to reach app. Please try again.", "alert"),
    ],
    ids=["notice", "error", "nothing"],
)
async def test_an_answer_in_words_is_below_the_card(
    teams: Sandbox, page: Page, answer: Json, sentence: str, role: Any
):
    message = post(teams, card(text("Refund 120.00 EUR"), buttons(button("Approve"))))
    async with bot(teams, answer, answer):
        await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={ids.APPROVALS}")
        shown = page.locator(f'[data-id="{message.id}"]')
        await shown.get_by_role("button", name="Approve").click()
        await expect(shown.get_by_role(role)).to_contain_text(sentence)
        await shown.get_by_role("button", name="Dismiss").click()
        await expect(shown.get_by_text(sentence)).to_have_count(0)


async def test_a_button_that_asks_first_is_pressed_by_the_answer(teams: Sandbox, page: Page):
    """Given a button with a card of its own, then only the button in that card reaches the bot."""
    yes = {"type": "AdaptiveCard", "body": [text("Sure?")], "actions": [button("Yes")]}
    asking = {"type": "Action.ShowCard", "title": "Run again", "card": yes}
    message = post(teams, card(text("In doubt"), buttons(asking)))
    async with bot(teams, NOTICE) as answers:
        await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={ids.APPROVALS}")
        shown = page.locator(f'[data-id="{message.id}"]')
        await shown.get_by_role("button", name="Run again").click()
        await expect(shown.get_by_text("Sure?")).to_be_visible()
        assert answers.received == []
        await shown.get_by_role("button", name="Yes").click()
        await expect(shown.get_by_role("status")).to_be_visible()
    assert len(answers.received) == 1


async def test_a_message_is_written_to_the_bot(teams: Sandbox, page: Page):
    """Given the chat with the bot, when Alice writes `approvals`, then the bot gets it, and the page shows
    it."""
    async with bot(teams) as answers:
        chat = teams.workspace.open_personal_chat(teams.workspace.users[ids.ALICE])
        await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={chat.id}")
        await page.get_by_label("Type a message").fill("approvals")
        await page.keyboard.press("Enter")
        await expect(page.locator(".mine .text")).to_have_text("approvals")
        await expect(page.get_by_label("Type a message")).to_have_value("")
    assert [one["text"] for one in answers.received] == ["approvals"]


async def test_only_people_in_a_conversation_can_act_there(teams: Sandbox, page: Page):
    """Given Carl, who is not in the channel, then the server takes neither his press nor his words."""
    message = post(teams, card(buttons(button())))
    where = {"user": ids.CARL, "conversation": ids.APPROVALS}
    pressed = {**where, "message": message.id, "action": "/body/0/actions/0"}
    for path, params in (("press", pressed), ("say", {**where, "text": "Hi"})):
        answer = await page.request.post(f"{teams.url}/sandbox/{path}", data=params)
        assert await answer.json() == {"ok": False, "error": "You are not in this conversation."}


async def test_a_person_accepts_a_file_or_declines_it(teams: Sandbox, page: Page):
    """Given a bot that asks Alice about two files; when she allows one and declines the other, then the bot
    gets both answers; a file that is there is named."""
    async with bot(teams, NOTICE) as answers:
        chat = teams.workspace.open_personal_chat(teams.workspace.users[ids.ALICE])
        messages = [teams.workspace.add_message(chat, teams.app.mri) for _ in range(3)]
        for message in messages[:2]:
            context = {"context": message.id}
            content = {"description": "All of it", "sizeInBytes": 1234}
            content |= {"acceptContext": context, "declineContext": context}
            message.attachments = [{"contentType": CONSENT, "name": "note.txt", "content": content}]
        messages[2].attachments = [{"contentType": INFO, "name": "there.txt", "content": {}}]
        teams.workspace.notify_change()
        await page.goto(f"{teams.url}/?user={ids.ALICE}&conversation={chat.id}")
        first, second = (page.locator(f'[data-id="{one.id}"]') for one in messages[:2])
        await expect(first).to_contain_text("note.txt 1,234 bytes")
        await expect(page.locator("#messages")).to_contain_text("there.txt is in your OneDrive")
        await first.get_by_role("button", name="Allow").click()
        await wait_until("the first answer", lambda: len(answers.received) == 1)
        await second.get_by_role("button", name="Decline").click()
        await wait_until("the second answer", lambda: len(answers.received) == 2)
    values = [one["value"] for one in answers.received]
    assert [one["action"] for one in values] == ["accept", "decline"]
    assert values[0]["uploadInfo"]["name"] == "note.txt"
