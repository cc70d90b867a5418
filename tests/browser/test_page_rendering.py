"""The page of the local workspace in a real browser, against the real server and a stand-in for the
bot, which records what it is sent and answers what a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from bot.sandbox.server import Sandbox, running_sandbox
from bot.sandbox.workspace import Ephemeral, Message

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from playwright.async_api import Browser, Locator, Page, async_playwright, expect

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.browser]

Json = dict[str, Any]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, PHONE = (1280, 800), (390, 844)
ALICE, BOB = "U0ALICE", "U0BOB"
APPROVE, OPS, ASK = "C0APPROVE", "C0OPS", "C0ASK"


class Bot:
    """What stands at the other end of a click. It answers with `answer` once its gate is open."""

    def __init__(self) -> None:
        self.received: list[Json] = []
        self.asked: list[Json] = []
        self.status, self.answer = 200, {}
        self.gate = asyncio.Event()
        self.gate.set()

    async def receive(self, request: web.Request) -> web.Response:
        self.received.append(json.loads((await request.post())["payload"]))  # pyright: ignore[reportArgumentType] a form's text field
        await self.gate.wait()
        return web.json_response(self.answer, status=self.status)

    async def hear(self, request: web.Request) -> web.Response:
        """The agent's ear."""
        self.asked.append(await request.json())
        return web.Response()

    @property
    def clicks(self) -> list[tuple[str, str]]:
        """Who clicked what."""
        return [
            (one["user"]["id"], one["actions"][0]["action_id"])
            for one in self.received
            if one["type"] == "block_actions"
        ]


class Workplace:
    """A workspace of its own for each test, its bot, and one page."""

    def __init__(self, sandbox: Sandbox, bot: Bot, page: Page) -> None:
        self.sandbox, self.bot, self.page = sandbox, bot, page

    async def open(self, query: str = "") -> None:
        await self.page.goto(f"{self.sandbox.url}/{query}")
        await expect(self.page.locator("#title")).not_to_be_empty()

    def post(self, *blocks: Json, channel: str = APPROVE, text: str = "") -> Message:
        """A message of the bot, past the checks of the Web API."""
        workspace = self.sandbox.workspace
        ts = workspace.next_ts()
        message = Message(channel, ts, "U0APPROVER", text, list(blocks), "B0APPROVER")
        return workspace.add(message)

    def show(self, *blocks: Json) -> Json:
        """A modal for Alice."""
        return self.sandbox.modals.open(ALICE, view(*blocks))

    def block(self, block_id: str) -> Locator:
        return self.page.locator(f'[data-block-id="{block_id}"]')

    def action(self, action_id: str) -> Locator:
        return self.page.locator(f'[data-action-id="{action_id}"]')


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def place(browser: Browser) -> AsyncIterator[Workplace]:
    """An empty workspace and a desktop page that is not open yet. A script error, or a script of
    ours that opens a dialog, fails the test."""
    bot, errors = Bot(), list[str]()
    app = web.Application()
    app.router.add_post("/slack/events", bot.receive)
    app.router.add_post("/ask", bot.hear)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    context = await browser.new_context(
        viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale="en-US", timezone_id="UTC"
    )
    page = await context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a script opened {dialog.message!r}"))
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with running_sandbox(f"{url}/slack/events", ask_url=f"{url}/ask") as sandbox:
        yield Workplace(sandbox, bot, page)
        await context.close()
    await runner.cleanup()
    assert errors == []


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Json:
    return {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": text}}


def rich(text: str, block_id: str = "args") -> Json:
    shapes = ("rich_text_section", "rich_text_preformatted")
    elements = [{"type": one, "elements": [{"type": "text", "text": text}]} for one in shapes]
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def header(text: str, *, emoji: bool = False) -> Json:
    return {"type": "header", "block_id": "h", "text": {**plain(text), "emoji": emoji}}


def button(action_id: str, **more: Any) -> Json:
    label = action_id.title()
    named = {"text": plain(label), "accessibility_label": f"{label} the refund"}
    return {"type": "button", "action_id": action_id, "value": "r1", **named, **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "block_id": "b", "elements": list(elements)}


def options(*labels: str) -> list[Json]:
    return [{"text": plain(label), "value": str(i)} for i, label in enumerate(labels)]


MORE = {"type": "overflow", "action_id": "more", "options": options("Answer", "Escalate")}
BUTTONS = actions(button("approve", style="primary"), button("reject", style="danger"), MORE)
CARD = (header("support-agent asks to run 1 tool"), rich("order 1042"), BUTTONS)
STATUSES = options("new", "vip")


def field(block_id: str, kind: str, *, optional: bool = False, **element: Any) -> Json:
    """An input block; its label is the id up to #."""
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(block_id.partition("#")[0]),
        "optional": optional,
        "element": {"type": kind, "action_id": "v", **element},
    }


NAME = field("name#1", "plain_text_input", initial_value="cus_88")
STATUS = field("status#1", "static_select", options=STATUSES, initial_option=STATUSES[1])
CREDIT = field("credit#1", "number_input", is_decimal_allowed=True, optional=True)


def view(*blocks: Json) -> Json:
    named = {"title": plain("Edit"), "submit": plain("Approve edited"), "close": plain("Cancel")}
    return {"type": "modal", **named, "blocks": list(blocks), "notify_on_close": True}


# ---------------------------------------------------------------- text stays inert

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


# ---------------------------------------------------------------- clicks


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
    """Given a bot that fails, a toast says so, and a triangle stands beside the button."""
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

    async def sent(act: Any) -> Json:
        async with place.page.expect_response("**/sandbox/click") as response:
            await act
        assert (await (await response.value).json())["ok"]
        return place.bot.received[-1]["actions"][0]

    menu = await sent(place.action("static_select").select_option("vip"))
    radio = await sent(place.action("radio_buttons").get_by_label("vip").check())
    boxes = await sent(place.action("checkboxes").get_by_label("new").check())
    day = await sent(place.action("day").fill("2026-01-02"))

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
    place.sandbox.workspace.changed()

    await expect(place.page.locator(".edited")).to_be_visible()
    await expect(place.action("reject")).to_be_focused()


# ---------------------------------------------------------------- modals


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
    place.sandbox.workspace.changed()
    await expect(place.page.locator(".edited")).to_be_attached()
    async with place.page.expect_response("**/sandbox/close"):
        await place.page.keyboard.press("Escape")

    await expect(place.page.get_by_role("dialog")).to_have_count(0)
    await expect(place.action("approve")).to_be_focused()
    assert [one["type"] for one in place.bot.received] == ["block_actions", "view_closed"]


# ---------------------------------------------------------------- the workspace around it


async def test_acting_as_somebody_else(place: Workplace):
    """Given the switcher, choosing Bob makes every later click Bob's, in the same channel."""
    place.post(*CARD, channel=ASK)
    await place.open(f"?channel={ASK}")

    await place.page.get_by_label("Acting as").select_option("Bob Reyes")
    await place.page.wait_for_url(f"**/?user={BOB}&channel={ASK}")
    async with place.page.expect_response("**/sandbox/click"):
        await place.action("approve").click()

    assert place.bot.clicks == [(BOB, "approve")]


async def test_somebody_unknown_becomes_the_first_user(place: Workplace):
    """Given an address with a user who is not there, the page acts as Alice."""
    await place.open("?user=U0NOBODY")

    await expect(place.page.get_by_label("Acting as")).to_have_value(ALICE)


async def test_reload_keeps_the_place(place: Workplace):
    """Given Bob in a thread, a reload shows the same; Back leads to where he was before."""
    card = place.post(*CARD, channel=ASK)
    workspace = place.sandbox.workspace
    workspace.add(Message(ASK, workspace.next_ts(), ALICE, "on it", thread_ts=card.ts))
    await place.open(f"?user={BOB}")
    thread = place.page.get_by_role("complementary", name="Thread")
    await place.page.get_by_role("link", name="ask-agent").click()
    await place.page.get_by_role("button", name="1 reply").click()

    await place.page.reload()

    await expect(place.page.get_by_role("heading", name="ask-agent")).to_be_visible()
    await expect(thread).to_contain_text("on it")
    await expect(place.page.get_by_label("Acting as")).to_have_value(BOB)
    await place.page.go_back()
    await expect(thread).to_be_hidden()


async def test_a_permalink_leads_to_the_message(place: Workplace):
    """Given a link to a reply elsewhere, it opens the thread there, from the page or from outside."""
    card = place.post(*CARD, channel=ASK)
    workspace = place.sandbox.workspace
    reply = workspace.add(Message(ASK, workspace.next_ts(), ALICE, "on it", thread_ts=card.ts))
    path = f"/archives/{ASK}/p{reply.ts.replace('.', '')}"
    place.post(mrkdwn(f"see <{place.sandbox.url}{path}|the reply>"))
    await place.open()
    linked = place.page.locator(f'#replies [data-ts="{reply.ts}"]')

    await place.page.get_by_role("link", name="the reply").click()
    await expect(linked).to_be_focused()

    await place.open(path.removeprefix("/"))
    await expect(linked).to_be_focused()


async def test_unread_until_looked_at(place: Workplace):
    """Given a message elsewhere, its channel has a dot until it is opened, also after a reload."""
    place.post(*CARD, channel=OPS)
    await place.open()
    dot = place.page.locator(f"[data-channel={OPS}] .dot")
    await expect(dot).to_be_visible()

    await place.page.get_by_role("link", name="team-ops").click()
    await place.page.get_by_role("link", name="agent-approvals").click()
    await place.page.reload()

    await expect(place.page.locator("#title")).to_contain_text("agent-approvals")
    await expect(dot).to_have_count(0)


async def test_asking_the_agent_from_another_channel(place: Workplace):
    """Given an empty #agent-approvals, the ask box speaks in the agent's channel and leads there."""
    await place.open()
    hint = place.page.get_by_text("No messages yet. Ask the agent something below.")
    await expect(hint).to_be_visible()

    await place.page.get_by_role("textbox", name="Ask the agent").fill("refund order 1042")
    await place.page.keyboard.press("Enter")
    await place.page.get_by_role("link", name="Open the conversation").click()

    await expect(place.page.locator("#title")).to_contain_text("ask-agent")
    await expect(place.page.locator(".message")).to_contain_text("refund order 1042")
    assert [(one["user"], one["text"]) for one in place.bot.asked] == [(ALICE, "refund order 1042")]


async def test_only_members_can_write(place: Workplace):
    """Given a channel that Alice is not in, there is no composer, and the page says why."""
    await place.open(f"?channel={OPS}")

    await expect(place.page.locator("#topic")).to_contain_text("Alice Ng is not a member")
    await expect(place.page.locator("#composer")).to_be_hidden()


async def test_an_ephemeral_is_private_and_can_be_dismissed(place: Workplace):
    """Given a notice for Alice, it says that only she sees it, and goes when dismissed."""
    workspace = place.sandbox.workspace
    workspace.whisper(Ephemeral(ALICE, APPROVE, workspace.next_ts(), "*Bob* was first.", []))
    await place.open()
    notice = place.page.locator(".ephemeral")
    await expect(notice).to_contain_text("Only visible to you")
    await expect(notice).to_contain_text("Bob was first.")

    await notice.get_by_role("button", name="Dismiss").click()

    await expect(notice).to_have_count(0)
    assert workspace.ephemerals == {}


async def test_a_lost_connection_comes_back_by_itself(place: Workplace):
    """Given a server that goes and comes back, the page says so, and then shows what is new."""
    async with running_sandbox() as first:
        await place.page.goto(first.url)
        await expect(place.page.locator("#title")).not_to_be_empty()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_visible()

    async with running_sandbox(port=int(first.url.rpartition(":")[2])) as second:
        message = Message(APPROVE, second.workspace.next_ts(), BOB, "hello again")
        second.workspace.add(message)
        await expect(place.page.get_by_text("hello again")).to_be_visible(timeout=15_000)
        await expect(place.page.get_by_text("Reconnecting…")).to_be_hidden()
        await place.page.close()


async def test_a_server_in_trouble_is_asked_again(place: Workplace):
    """Given a stream that answers with an error, after which browsers give up, the page goes on."""
    await place.page.route("**/sandbox/stream*", lambda route: route.fulfill(status=503), times=1)
    await place.open()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_visible()

    place.post(*CARD)

    await expect(place.action("approve")).to_be_visible()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_hidden()


# ---------------------------------------------------------------- on a phone

SIDEWAYS = (
    "[...document.querySelectorAll('html, body, #messages, .modal, .modal .content')]"
    ".filter(node => node.scrollWidth > node.clientWidth).map(node => node.outerHTML.slice(0, 60))"
)
LOW_BUTTONS = "all => all.filter(one => one.offsetHeight < 44).map(one => one.outerHTML)"


@pytest_asyncio.fixture(loop_scope="module")
async def phone(place: Workplace) -> Workplace:
    await place.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    return place


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
