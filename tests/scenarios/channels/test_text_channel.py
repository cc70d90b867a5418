"""The core with a channel that uses nothing of Slack: people decide by lines of text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hitl_core import Outcome, ToolCall
from tests.support.text_bot import TextScene, text_scene

EMAIL = ToolCall("c1", "send_email", {"to": "jo@example.com", "copies": 1})
SQL = ToolCall("c2", "run_sql", {"query": "DELETE FROM orders"})
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "maximum": 9}},
    "required": ["to", "copies"],
}
EDITABLE: dict[str, Any] = {
    "interrupt_on": {
        "*": {
            "allowed_decisions": ["approve", "edit", "reject", "respond"],
            "args_schema": SCHEMA,
        }
    }
}


@pytest.fixture
async def scene(redis_url: str) -> AsyncIterator[TextScene]:
    async with text_scene(redis_url) as scene:
        yield scene


async def outcome_of(task: asyncio.Task[Outcome]) -> Outcome:
    return await asyncio.wait_for(task, 20)


async def test_an_approval_reaches_the_agent(scene: TextScene) -> None:
    """Given a call that waits; when Ada presses Approve, then the agent gets exactly this call, and the
    message says who decided."""
    waiting = await scene.ask({}, EMAIL)
    message = await scene.message("send_email", "jo@@example.com")

    notice = await scene.network.press("p-ada", "Approve", message)

    assert notice.lines == ()

    outcome = await outcome_of(waiting)
    assert [call.args for call in outcome.execute] == [EMAIL.args]
    decided = await scene.message("approved by @p-ada")
    assert decided.id == message.id
    assert "Approve" not in [button.label for button in decided.content.buttons]


async def test_a_rejection_has_a_reason(scene: TextScene) -> None:
    """Given a policy that requires a reason; when Ada sends none, she is told; when she writes one, then the
    agent and the thread have it."""
    rule = {"interrupt_on": {"*": {"reject_reason": "required"}}}
    waiting = await scene.ask(rule, SQL)
    message = await scene.message("run_sql")

    form = await scene.network.press("p-ada", "Reject", message)
    answer = await scene.network.write("p-ada", "", message, form)
    assert answer.form
    await scene.network.write("p-ada", "Not on a Friday", message, answer)

    outcome = await outcome_of(waiting)
    assert not outcome.execute
    assert "Not on a Friday" in str(outcome.answers)
    await scene.thread(message, "rejected by @p-ada", "Not on a Friday")


async def test_an_edit_by_the_form(scene: TextScene) -> None:
    """Given a form with two inputs; when Ada writes a value that the schema refuses, she reads why beside the
    input; when she writes a good one, then the agent gets the edited arguments, and what she didn't write."""
    waiting = await scene.ask(EDITABLE, EMAIL)
    message = await scene.message("send_email")

    form = await scene.network.press("p-ada", "Edit", message)
    assert any("copies" in line for line in form.lines)
    wrong = await scene.network.write("p-ada", "2: 99", message, form)
    assert wrong.form
    assert any(line.startswith("2: ") for line in wrong.lines)
    stored = await scene.network.write("p-ada", "2: 3", message, wrong)

    assert stored.lines == ()
    outcome = await outcome_of(waiting)
    assert [call.args for call in outcome.execute] == [{"to": "jo@example.com", "copies": 3}]
    await scene.message("edited and approved by @p-ada")


async def test_back_keeps_what_was_written(scene: TextScene) -> None:
    """Given a form of two pages; when Ada goes on and back, then both pages have what she wrote, and the
    agent gets all of it."""
    args = {f"n{at}": at for at in range(7)}
    properties = {name: {"type": "integer"} for name in args}
    rule = {"interrupt_on": {"*": {"args_schema": {"type": "object", "properties": properties}}}}
    waiting = await scene.ask(rule, ToolCall("c1", "seven", args))
    message = await scene.message("seven")
    first = await scene.network.press("p-ada", "Edit", message)

    second = await scene.network.write("p-ada", "1: 11", message, first)
    assert [button.token for button in second.buttons] == ["back", "send"]
    again = await scene.network.write("p-ada", "1: 55", message, second, "back")
    assert any("n0 11" in line for line in again.lines)
    second = await scene.network.write("p-ada", "", message, again)
    assert any("n4 55" in line for line in second.lines)
    assert (await scene.network.write("p-ada", "", message, second)).lines == ()

    outcome = await outcome_of(waiting)
    assert [call.args for call in outcome.execute] == [{**args, "n0": 11, "n4": 55}]


async def test_an_answer_in_the_tools_place(scene: TextScene) -> None:
    waiting = await scene.ask(EDITABLE, EMAIL)
    message = await scene.message("send_email")
    form = await scene.network.press("p-ada", "Answer instead of running it", message)
    await scene.network.write("p-ada", "Sent by hand.", message, form)
    outcome = await outcome_of(waiting)
    assert not outcome.execute
    assert "Sent by hand." in str(outcome.answers)


async def test_promise_7_a_person_who_may_not_decide_is_told_privately(scene: TextScene) -> None:
    """Given a card for the people of #orders; when Cy, who is not there, presses; then he is told, and
    nothing changes."""
    await scene.ask({}, EMAIL)
    message = await scene.message("send_email")
    notice = await scene.network.press("p-cy", "Approve", message)
    assert "may decide" in " ".join(notice.lines)
    assert scene.messages() == [message]


async def test_promise_2_of_two_presses_one_counts(scene: TextScene) -> None:
    """Given two people who press at once; then one decision counts, and the other person reads whose."""
    waiting = await scene.ask({}, EMAIL)
    message = await scene.message("send_email")
    notices = await asyncio.gather(
        scene.network.press("p-ada", "Approve", message),
        scene.network.press("p-bea", "Approve", message),
    )
    assert len((await outcome_of(waiting)).execute) == 1
    (text,) = [" ".join(one.lines) for one in notices if one.lines]
    assert "already approved" in text


async def test_promise_6_a_stale_button_changes_nothing(scene: TextScene) -> None:
    """Given two people who must approve, and an edit after the message was read; when Bea presses the old
    button, then it doesn't count for the new arguments."""
    policy = {
        **EDITABLE,
        "reviewers": {"channel_members": True, "quorum": 2, "editor_approves": True},
    }
    waiting = await scene.ask(policy, EMAIL)
    old = await scene.message("send_email")
    form = await scene.network.press("p-ada", "Edit", old)
    await scene.network.write("p-ada", "1: x@example.com", old, form)
    new = await scene.message("x@@example.com", "1 of 2 approvals")

    notice = await scene.network.press("p-bea", "Approve", old)
    assert notice.lines
    await scene.network.press("p-bea", "Approve", new)

    outcome = await outcome_of(waiting)
    assert [call.args["to"] for call in outcome.execute] == ["x@example.com"]


async def test_an_escalation_by_a_person(scene: TextScene) -> None:
    """Given a step to #ops; when Ada escalates with a reason, then #ops has the card with the reason, and Cy
    decides there; both messages say so."""
    waiting = await scene.ask({"escalate": [{"after": "1h", "to": "text:#ops"}]}, EMAIL)
    first = await scene.message("send_email")
    form = await scene.network.press("p-ada", "Escalate to #ops", first)
    await scene.network.write("p-ada", "Not my customer", first, form)

    second = await scene.message("send_email", "Not my customer", room="r-ops")
    await scene.network.press("p-cy", "Approve", second)

    assert len((await outcome_of(waiting)).execute) == 1
    await scene.message("approved by @p-cy")
    await scene.message("approved by @p-cy", room="r-ops")


async def test_promise_8_what_is_cut_must_be_read_first(scene: TextScene) -> None:
    """Given a long argument; then Ada can only approve where all of it is shown: below the last page."""
    rule = {"interrupt_on": {"*": {"must_read": True}}}
    script = "".join(f"echo {number}\n" for number in range(3_000))
    waiting = await scene.ask(rule, ToolCall("c1", "deploy", {"script": script}))
    message = await scene.message("deploy", "Not shown here")

    page = await scene.network.press("p-ada", "Read all, then approve", message)
    read = [*page.lines]
    while "Next ▶" in [button.label for button in page.buttons]:
        page = await scene.network.press("p-ada", "Next ▶", message, page)
        read += page.lines
    assert all(f"echo {number}" in " ".join(read) for number in range(0, 3_000, 111))
    assert not waiting.done()

    await scene.network.press("p-ada", "Approve", message, page)
    assert len((await outcome_of(waiting)).execute) == 1


async def test_promise_4_a_lost_answer_leaves_one_message(scene: TextScene) -> None:
    """Given a post whose answer is lost; then there is one message, and it is decided as always."""
    scene.network.faults.append(["lost", 1])
    waiting = await scene.ask({}, EMAIL)
    message = await scene.message("send_email")
    await scene.network.press("p-ada", "Approve", message)
    await outcome_of(waiting)
    await scene.message("approved by @p-ada")
    assert len(scene.messages()) == 1


async def test_promise_11_while_the_network_is_down_messages_wait(scene: TextScene) -> None:
    scene.network.faults.append(["down", None])
    waiting = await scene.ask({}, EMAIL)
    await asyncio.sleep(0)
    scene.network.faults.clear()
    message = await scene.message("send_email")
    await scene.network.press("p-ada", "Approve", message)
    await outcome_of(waiting)


async def test_a_group_has_a_message_each(scene: TextScene) -> None:
    waiting = await scene.ask({"notify": ["text:g-ops"]}, EMAIL)
    message = await scene.message("send_email", room="d-p-cy")
    await scene.network.press("p-cy", "Approve", message)
    await outcome_of(waiting)
