"""A workspace with its page in a real browser, and short ways to post what the page shows."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from slack_sandbox.sandbox import Sandbox
from slack_sandbox.workspace.objects import Message

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from playwright.async_api import Locator, Page, expect

Json = dict[str, Any]
DESKTOP, PHONE = (1280, 800), (390, 844)
ALICE, BOB = "U0ALICE", "U0BOB"
APPROVE, OPS, ASK = "C0APPROVE", "C0OPS", "C0ASK"


class Bot:
    """The receiver of a click. It answers with `answer` once its gate is open."""

    def __init__(self) -> None:
        self.received: list[Json] = []
        self.events: list[Json] = []
        self.commands: list[str] = []
        self.asked: list[Json] = []
        self.status, self.answer = 200, {}
        self.gate = asyncio.Event()
        self.gate.set()

    async def receive(self, request: web.Request) -> web.Response:
        if request.content_type == "application/json":
            self.events.append((await request.json())["event"])
            return web.Response()
        form = {name: str(value) for name, value in (await request.post()).items()}
        if "payload" not in form:
            self.commands.append(f"{form['command']} {form['text']}")
            return web.Response()
        self.received.append(json.loads(form["payload"]))
        await self.gate.wait()
        return web.json_response(self.answer, status=self.status)

    async def hear(self, request: web.Request) -> web.Response:
        """Receives what the agent posts."""
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
