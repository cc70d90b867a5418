"""Modals, with a real bot and a local Slack: click, read, submit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.app import running_bot
from bot.channels.slack.handlers.failures import Failures
from bot.settings import Settings
from hitl_core.gate import Gate
from hitl_core.model import ToolCall
from hitl_core.policy import Policy
from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET, Sandbox
from slack_sandbox.server import running_sandbox
from tests.channels.reading import arguments_on
from tests.support.bots import CLICK
from tests.support.clicks import freeze_cards
from tests.support.slack import Message

HERE = "C0APPROVE"
POLICY = {
    "default": "review",
    "interrupt_on": {
        "wipe": {"must_read": True},
        "run_sql": {"allowed_decisions": ["approve", "reject"], "reject_reason": "required"},
        "pay": {
            "allowed_decisions": ["approve", "edit", "respond"],
            "args_schema": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "maximum": 500, "multipleOf": 10},
                    "iban": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
                },
                "required": ["amount", "iban"],
            },
        },
    },
}


@dataclass
class Scene:
    """One review of one call, and who acts for the people who look at it."""

    actor: Actor
    gate: Gate
    sandbox: Sandbox
    review_id: str = ""
    card: Message = field(default_factory=dict)
    """As it was first shown."""

    async def ask(self, name: str, args: dict[str, Any]) -> None:
        self.review_id = await self.gate.submit([ToolCall("c1", name, args)], thread_id="t")
        [self.card] = await self.actor.wait_for(lambda state: state["messages"][HERE])

    async def click(self, action: str, **more: Any) -> dict[str, Any]:
        await self.actor.click("U0ALICE", HERE, self.card["ts"], action, **more)
        view = await self.actor.view("U0ALICE")
        assert view is not None
        return view

    async def submit(self, **values: Any) -> dict[str, Any]:
        return await self.actor.submit("U0ALICE", values)

    async def executed(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            outcome = await self.gate.wait(self.review_id)
        (call,) = outcome.execute
        return call.args


@pytest.fixture
async def scene(redis_url: str) -> AsyncIterator[Scene]:
    async with running_sandbox(answer_timeout=CLICK) as sandbox:
        env = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": sandbox.api_url,
            "HITL_REDIS_URL": redis_url,
            "HITL_CHANNEL": "#agent-approvals",
            "HITL_PORT": "0",
            "HITL_CLICK_SECONDS": str(CLICK),
        }
        policy = Policy.from_mapping(POLICY)
        async with (
            running_bot(Settings.from_environment(env)) as bot,
            Actor(sandbox.url) as actor,
            Gate.connect(redis_url, policy=policy, agent="billing") as gate,
        ):
            sandbox.bot_url = bot.endpoints["slack"]
            yield Scene(actor, gate, sandbox)


NASTY = {
    "to": "jo\u202emoc@",
    "body": "one\r\ntwo\u200b\n<!channel> & ⟦U+0041⟧",
    "count": "42",
    "n": 1.0,
    "list": [1, "a\u2066"],
    "none": None,
}


async def test_promise_8_an_untouched_edit_changes_nothing(scene: Scene) -> None:
    """Given odd arguments, when Edit is sent untouched, then nothing was changed, and it says so."""
    await scene.ask("tool", NASTY)
    await scene.click("edit")
    await scene.submit()
    view = await scene.actor.view("U0ALICE") or {}
    assert view["blocks"][0]["type"] == "alert"
    assert "Nothing was changed" in view["blocks"][0]["text"]["text"]
    await scene.actor.close("U0ALICE")
    await scene.actor.click("U0ALICE", HERE, scene.card["ts"], "approve")
    assert await scene.executed() == NASTY


async def test_promise_8_an_edit_changes_only_what_was_edited(scene: Scene) -> None:
    """Given odd arguments, when one field is edited, then the others run exactly as they were."""
    await scene.ask("tool", NASTY)
    await scene.click("edit")
    assert (await scene.submit(to="jo@example.com"))["closed"]
    assert await scene.executed() == {**NASTY, "to": "jo@example.com"}


async def test_wrong_values_are_marked_beside_their_fields(scene: Scene) -> None:
    """Given a form with limits, when two values break them, then each is told so, and nothing is decided;
    when they are mended, then the mended ones run."""
    await scene.ask("pay", {"amount": 120, "iban": "DE1"})
    await scene.click("edit")
    answer = await scene.submit(amount=15, iban="nonsense")
    errors = answer["errors"]
    assert "multiple of 10" in errors["f:/amount#1"]
    assert "must match" in errors["f:/iban#1"]
    assert (await scene.submit(amount=20, iban="DE2"))["closed"]
    assert await scene.executed() == {"amount": 20, "iban": "DE2"}


async def test_a_reason_can_be_required(scene: Scene) -> None:
    """Given a policy that wants a reason, then Slack asks for it, and blanks are none."""
    await scene.ask("run_sql", {"query": "DROP TABLE x"})
    view = await scene.click("reject")
    assert [one["optional"] for one in view["blocks"] if one["type"] == "input"] == [False]
    assert "message" in (await scene.submit())["errors"]
    assert "requires a reason" in (await scene.submit(message="   "))["errors"]["message"]
    assert (await scene.submit(message="no <@U0BOB>"))["closed"]
    shown = await scene.actor.wait_for(
        lambda state: state["messages"][HERE] if "rejected by" in str(state) else []
    )
    texts = [one["text"] for one in _texts(shown[0]["blocks"])]
    assert any("Reason: “no <@U0BOB>”" in text for text in texts)


async def test_an_answer_takes_the_tools_place(scene: Scene) -> None:
    await scene.ask("pay", {"amount": 120, "iban": "DE1"})
    view = await scene.click("more", option="Answer instead of running it")
    assert "does not run" in str(view["blocks"][:3])
    assert (await scene.submit(message="Paid last week."))["closed"]
    outcome = await scene.gate.wait(scene.review_id)
    assert [answer.content for answer in outcome.answers] == ["Paid last week."]


async def test_half_a_character_is_told_beside_the_field(scene: Scene) -> None:
    """Given a text that nothing can store, then it says so; when it is mended, then it counts."""
    await scene.ask("pay", {"amount": 120, "iban": "DE1"})
    await scene.click("more", option="Answer instead of running it")
    assert "half a character" in (await scene.submit(message="Paid \ud800"))["errors"]["message"]
    assert (await scene.submit(message="Paid."))["closed"]
    (answer,) = (await scene.gate.wait(scene.review_id)).answers
    assert answer.content == "Paid."


async def test_half_a_character_in_a_reason_or_an_edit_is_told(scene: Scene) -> None:
    await scene.ask("tool", {"to": "jo"})
    await scene.click("reject")
    assert "half a character" in (await scene.submit(message="\ud800"))["errors"]["message"]
    await scene.actor.close("U0ALICE")
    await scene.click("edit")
    assert "half a character" in str((await scene.submit(to="\ud800"))["errors"])
    assert (await scene.submit(to="al"))["closed"]
    assert await scene.executed() == {"to": "al"}


@pytest.mark.parametrize("kind", ["review_page", "see_page", "answer"])
async def test_no_log_quotes_what_a_listener_choked_on(
    scene: Scene, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """Given a button that no drawing of ours has, then the person sees a failure or nothing happens, and the
    log has at most the error's kind."""
    action_id = f"{kind}:canary-77c1"
    button = {"type": "button", "text": {"type": "plain_text", "text": "?"}, "action_id": action_id}
    client: Any = AsyncWebClient(BOT_TOKEN, base_url=scene.sandbox.api_url)
    blocks = [{"type": "actions", "block_id": "b", "elements": [button | {"value": "r.1.1"}]}]
    posted = await client.chat_postMessage(channel=HERE, text="card", blocks=blocks)
    await scene.actor.click("U0ALICE", HERE, posted["ts"], action_id)
    assert "canary-77c1" not in caplog.text


async def test_an_error_in_a_listener_is_logged_by_its_kind_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await Failures(cast(Any, None), cast(Any, None)).answer(
        KeyError("canary-77c1"), {}, cast(Any, None)
    )
    assert "canary-77c1" not in caplog.text
    assert "an action in Slack could not be handled: KeyError" in caplog.text


async def test_promise_8_all_of_it_can_be_paged_through_both_ways(scene: Scene) -> None:
    """Given arguments that no card holds, when somebody pages on and back, then all of it was there."""
    args = {"script": "".join(f"echo {n}\n" for n in range(20_000)), "last": "rm -rf /"}
    await scene.ask("deploy", args)
    view = await scene.click("see")
    pages = [view]
    while "see_page:next" in str(view["blocks"][-1]):
        await scene.actor.click_view("U0ALICE", "see_page:next")
        view = await scene.actor.view("U0ALICE") or {}
        assert view["blocks"] not in [page["blocks"] for page in pages]
        pages.append(view)
    assert len(pages) > 2
    assert arguments_on(pages) == args
    for page in pages[-2::-1]:
        await scene.actor.click_view("U0ALICE", "see_page:back")
        view = await scene.actor.view("U0ALICE") or {}
        assert view["blocks"] == page["blocks"]


async def test_a_page_that_slack_did_not_show_was_not_read(scene: Scene) -> None:
    """Given a call that must be read, whose last page Slack refuses to show; then it can't be approved. After
    the last page was shown, its Approve counts, and the modal says so."""
    args = {"disk": "x" * 10_000}
    await scene.ask("wipe", args)
    first = await scene.click("see")
    assert "Page 1 of 2" in str(first["blocks"])
    assert "'approve'" not in str(first["blocks"])
    await scene.actor.inject_fault("http_500", method="views.update")
    await scene.actor.click_view("U0ALICE", "see_page:next")
    await scene.actor.inject_fault("ok", method="views.update")
    await scene.actor.close("U0ALICE")
    await scene.click("see")
    await scene.actor.click_view("U0ALICE", "see_page:next")
    await scene.actor.click_view("U0ALICE", "approve")
    assert await scene.executed() == args
    view = await scene.actor.view("U0ALICE")
    assert view is not None
    assert "wipe is approved." in str(view["blocks"])


async def test_a_long_name_stands_whole_in_every_modal(scene: Scene) -> None:
    """Given a name that a title of 24 characters can't hold, then the modal says it in its first line."""
    name = "mcp__filesystem__write_file_to_disk"
    await scene.ask(name, {"path": "/x" * 1000})
    for action in ("edit", "reject", "see"):
        view = await scene.click(action)
        assert len(view["title"]["text"]) <= 24
        assert name in str(view["blocks"][:2])
        await scene.actor.close("U0ALICE")


async def test_a_long_value_is_locked_and_kept(scene: Scene) -> None:
    args = {"body": "long " * 1000, "to": "jo"}
    await scene.ask("tool", args)
    await scene.click("see")  # what is cut can't be approved unread, nor by an edit
    await scene.actor.close("U0ALICE")
    view = await scene.click("edit")
    assert "can't be changed here" in str(view["blocks"])
    assert (await scene.submit(to="al"))["closed"]
    assert await scene.executed() == {**args, "to": "al"}


async def test_promise_8_a_name_in_a_private_notice_is_silent(scene: Scene) -> None:
    """Given a person whose name would mention and format, when somebody comes second, then the notice
    that names the first one only names."""
    scene.sandbox.workspace.users["U0BOB"].real_name = "<!channel> *Bob* \u202e:tada:"
    await scene.ask("tool", {"a": 1})
    async with freeze_cards(scene.actor):
        for person in ("U0BOB", "U0ALICE"):
            await scene.actor.click(person, HERE, scene.card["ts"], "approve")
    (notice,) = await scene.actor.ephemerals("U0ALICE")
    assert [block["text"]["type"] for block in notice["blocks"]] == ["plain_text"]
    assert notice["text"] == (
        "“&lt;!channel&gt; *Bob* ⟦U+202E⟧:tada:” (U0BOB) already approved tool."
    )


async def test_promise_8_no_address_in_a_card_is_fetched(scene: Scene) -> None:
    """Given an address in the arguments, then Slack is told not to unfold it."""
    await scene.ask("fetch", {"url": "https://evil.example/pixel.png"})
    (posted,) = await scene.actor.calls("chat.postMessage")
    assert posted["args"]["unfurl_links"] is False
    assert posted["args"]["unfurl_media"] is False
    assert (posted["args"]["parse"], posted["args"]["mrkdwn"]) == ("none", False)


def _texts(value: Any) -> list[Any]:
    """All text elements of some blocks."""
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if isinstance(value, dict):
        own = [value] if value.get("type") == "text" else []
        return own + [text for part in value.values() for text in _texts(part)]
    return []
