"""An unexpected error in each handler: the person reads one sentence, and the log has one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.channels.teams.handlers import files
from bot.refusals import FAILED, RESULT_UNKNOWN, STORE_UNAVAILABLE
from hitl_core import ToolCall
from slack_sandbox.client import read_text
from teams_sandbox.workspace.acme import ALICE
from tests.support.bots import CANARY, POLICY, Scene, email
from tests.support.edge_faults import OF_REDIS, UNKNOWN, failing_chat, failing_redis
from tests.support.slack import Message
from tests.support.teams.scene import ask
from tests.support.teams.scene import card as teams_card
from tests.support.teams.users import TeamsUsers, actions
from tests.support.waiting import wait_until

Step = Callable[[Scene, Message], Awaitable[Any]]
SENTENCES = (FAILED, RESULT_UNKNOWN, STORE_UNAVAILABLE)

LONG = f"{CANARY} " + "word " * 4000 + "end"
CALLS = {
    "one": [email()],
    "long": [ToolCall("c1", "note", {"body": LONG})],
    "many": [ToolCall(f"c{n}", "note", {"n": n, "what": f"{CANARY} " * 20}) for n in range(40)],
}


def press(button: str) -> Step:
    return lambda scene, card: scene.alice.press(card, button)


def press_in(button: str, *, home: bool = False) -> Step:
    return lambda scene, _: scene.actor.click_view(scene.alice.id, button, home=home)


def submit(**values: Any) -> Step:
    return lambda scene, _: scene.alice.submit(**values)


def say(text: str) -> Step:
    return lambda scene, card: scene.actor.run_command(scene.alice.id, card["channel"], text)


async def open_home(scene: Scene, _: Message) -> Any:
    delivered = scene.sandbox.app_client.deliveries
    before = len(delivered)
    answer = await scene.actor.open_home(scene.alice.id)
    await wait_until("the bot has answered", lambda: delivered[before:] and delivered[-1]["status"])
    return answer


#: What is on the card, and what a person does; the last of it fails.
SLACK: dict[str, tuple[str, list[Step]]] = {
    "decide": ("one", [press("approve")]),
    "open a form": ("one", [press("edit")]),
    "escalate": ("one", [press("escalate")]),
    "send a form": ("one", [press("edit"), submit(copies=2)]),
    "send a reason": ("one", [press("reject"), submit()]),
    "read all of it": ("long", [press("see")]),
    "the next page": ("long", [press("see"), press_in("see_page:next")]),
    "post a file": ("long", [press("see"), press_in("file")]),
    "the Review": ("many", [press("review")]),
    "its next page": ("many", [press("review"), press_in("review_page:next")]),
    "decide in it": ("many", [press("review"), press_in("approve")]),
    "open the Home": ("one", [open_home]),
    "decide in the Home": ("one", [open_home, press_in("approve", home=True)]),
    "a form in the Home": ("one", [open_home, press_in("edit", home=True)]),
    "list": ("one", [say("/approvals")]),
    "show": ("one", [say("/approvals show 0-1234")]),
}


async def all_that_alice_reads(scene: Scene, answer: Any) -> str:
    home = await scene.actor.home(scene.alice.id)
    seen = [str(answer.get("errors", "")), *await scene.alice.notices(), await scene.alice.modal()]
    return " ".join([*seen, read_text(home["blocks"] if home else [])])


def check_log(caplog: pytest.LogCaptureFixture, raised: list[Exception], error: Exception) -> None:
    """What was unknown is there once, with the lines of code; what Redis says has a line of its own kind."""
    assert raised
    lines = [one for one in caplog.records if one.levelno >= logging.WARNING]
    if error is not UNKNOWN:
        assert lines
        return
    [line] = [one for one in lines if one.name.endswith((".failures", ".answers", ".inbox.inbox"))]
    assert re.search(r"RuntimeError at \S+\.py:\d+ < \S+\.py:\d+", line.getMessage())


@pytest.mark.parametrize("error", [UNKNOWN, OF_REDIS], ids=["unknown", "redis"])
@pytest.mark.parametrize("name", SLACK)
async def test_each_handler_of_slack_says_that_it_failed(
    scene: Scene, caplog: pytest.LogCaptureFixture, name: str, error: Exception
) -> None:
    await scene.bot()
    kind, steps = SLACK[name]
    gate = await scene.gate(POLICY + 'escalate: [{after: 1h, to: "slack:#team-ops"}]')
    waiting = scene.ask(gate, *CALLS[kind])
    card = await scene.card("send_email" if kind == "one" else "note")
    await scene.wait_noted(gate, card)
    *before, last = steps
    for step in before:
        await step(scene, card)
    caplog.clear()
    with failing_redis(error) as raised:
        answer = await last(scene, card)
    seen = await all_that_alice_reads(scene, answer)
    assert sum(seen.count(one) for one in SENTENCES) == 1, seen
    check_log(caplog, raised, error)
    assert not waiting.done()


@pytest.mark.parametrize("name", ["open a form", "read all of it", "the Review", "open the Home"])
async def test_an_error_of_the_client_of_slack(
    scene: Scene, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Given a request to Slack that fails in a way that nobody foresaw; then the next one has a sentence."""
    await scene.bot()
    kind, [step] = SLACK[name]
    gate = await scene.gate()
    scene.ask(gate, *CALLS[kind])
    card = await scene.card("send_email" if kind == "one" else "note")
    await scene.wait_noted(gate, card)
    caplog.clear()
    with failing_chat(UNKNOWN) as raised:
        answer = await step(scene, card)
    assert FAILED in await all_that_alice_reads(scene, answer)
    check_log(caplog, raised, UNKNOWN)


#: What is on the card, and which buttons are pressed; the last of them fails.
TEAMS: dict[str, tuple[str, list[str]]] = {
    "decide": ("one", ["Approve"]),
    "open a form": ("one", ["Edit"]),
    "leave a form": ("one", ["Edit", "Cancel"]),
    "send a form": ("one", ["Edit", "Approve edited"]),
    "send a reason": ("one", ["Reject", "Reject"]),
    "read all of it": ("long", ["Read all"]),
    "the next page": ("long", ["Read all", "Next"]),
    "ask for a file": ("long", ["Read all", "Send it as a file"]),
    "the Review": ("many", ["Review one by one"]),
    "its next page": ("many", ["Review one by one", "Next"]),
    "decide in it": ("many", ["Review one by one", "Approve"]),
}


@pytest.mark.parametrize("error", [UNKNOWN, OF_REDIS], ids=["unknown", "redis"])
@pytest.mark.parametrize("name", TEAMS)
async def test_each_button_in_teams_says_that_it_failed(
    scene: Scene, users: TeamsUsers, caplog: pytest.LogCaptureFixture, name: str, error: Exception
) -> None:
    kind, labels = TEAMS[name]
    waiting = await ask(scene, *CALLS[kind])
    message = await teams_card(users, "send_email" if kind == "one" else "note")
    *before, last = labels

    async def press_label(start: str) -> str:
        shown = [*actions(message.card_for(ALICE))]
        label = next((one for one in shown if one.startswith(start)), None)
        assert label is not None, shown
        return await users.press(ALICE, label, message)

    for label in before:
        await press_label(label)
    caplog.clear()
    with failing_redis(error) as raised:
        seen = await press_label(last)
    assert sum(seen.count(one) for one in SENTENCES) == 1, seen
    check_log(caplog, raised, error)
    assert not waiting.done()


@pytest.mark.parametrize("error", [UNKNOWN, OF_REDIS], ids=["unknown", "redis"])
@pytest.mark.parametrize("text", ["approvals", "approvals show 0-1234"])
async def test_each_command_in_teams_says_that_it_failed(
    scene: Scene, users: TeamsUsers, caplog: pytest.LogCaptureFixture, text: str, error: Exception
) -> None:
    caplog.clear()
    with failing_redis(error) as raised:
        await users.write(ALICE, text)
    expected = FAILED if error is UNKNOWN else STORE_UNAVAILABLE
    await users.message(expected, conversation=users.chat(ALICE))
    check_log(caplog, raised, error)


@pytest.mark.parametrize("error", [UNKNOWN, OF_REDIS], ids=["unknown", "redis"])
async def test_an_answer_about_a_file_in_teams_says_that_it_failed(
    scene: Scene, users: TeamsUsers, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    await ask(scene, *CALLS["long"])
    message = await teams_card(users, "note")
    await users.press(ALICE, next(iter(actions(message.card))), message)
    assert await users.press(ALICE, "Send it as a file", message) == files.OFFERED
    question = [*users.conversation(users.chat(ALICE)).messages.values()][-1]
    caplog.clear()
    with failing_redis(error) as raised:
        await users.sandbox.consents.answer(users.user(ALICE), question, "accept")
        expected = FAILED if error is UNKNOWN else STORE_UNAVAILABLE
        await users.message(expected, conversation=users.chat(ALICE))
    check_log(caplog, raised, error)


async def test_an_error_of_the_client_of_teams(
    scene: Scene, users: TeamsUsers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    with failing_chat(UNKNOWN) as raised:
        await users.write(ALICE, "approvals")
    await users.message(FAILED, conversation=users.chat(ALICE))
    check_log(caplog, raised, UNKNOWN)
