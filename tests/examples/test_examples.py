"""The examples as users run them: real processes, a real Redis, a bot, and people who click."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from hitl_core.integrations.langgraph import Run
from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from tests.support.bots import CLICK, Process, Scene, duplicate_cards
from tests.support.waiting import wait_until

EXAMPLES = ["loop", "script", "worker", "python_policy"]


@pytest.fixture
async def scene(redis_url: str, tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_sandbox(answer_timeout=CLICK) as sandbox, Actor(sandbox.url) as actor:
        scene = Scene(sandbox, actor, redis_url, tmp_path)
        try:
            await scene.bot()
            yield scene
        finally:
            await scene.close()
        assert duplicate_cards(sandbox) == []


async def start(scene: Scene, example: str, *args: str, failpoints: str = "") -> Process:
    env = {
        "HITL_REDIS_URL": scene.redis_url,
        "HITL_FAILPOINTS": failpoints,
        "PYTHONUNBUFFERED": "1",
    }
    return await scene.process(f"examples.{example}", *args, env=env)


async def output_lines(process: Process) -> list[str]:
    assert await process.wait_end() == 0, process.output
    return process.output.splitlines()


async def test_the_loop_runs_what_was_approved_and_tells_the_model_the_rest(scene: Scene) -> None:
    """Given a turn of two calls, one described by a function; when Alice approves that one and
    Bob rejects the other; then one ran, and the model has both answers."""
    loop = await start(scene, "loop", "Refund order 1042")
    card = await scene.card("Pay back 80.00 EUR for order 1042?", "send_email")

    await scene.alice.press(card, "approve", 1)
    await scene.bob.press(await scene.card("approved by U0ALICE"), "reject", 1)
    await scene.bob.submit(message="He knows")

    assert await output_lines(loop) == [
        "refund: paid back 80.00 EUR for order 1042",
        'refund ran with {"amount": 80, "order_id": 1042}: paid back 80.00 EUR for order 1042',
        "User rejected the tool call for `send_email` with reason: He knows",
    ]
    await scene.card("approved by U0ALICE", "paid back 80.00 EUR")


async def test_the_loop_runs_an_edit_and_tells_the_model_of_it(scene: Scene) -> None:
    loop = await start(scene, "loop", "Refund order 1042")
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit", 2)
    assert (await scene.alice.submit(body="Hi Jo"))["ok"]
    await scene.alice.press(await scene.card("edited and approved by U0ALICE"), "approve", 1)

    text = await output_lines(loop)

    assert "send_email: sent to jo@example.com: Hi Jo" in text
    assert 'send_email ran with {"body": "Hi Jo", "to": "jo@example.com"}' in text[-1]


async def test_the_loop_goes_back_to_the_model_where_nothing_may_run(scene: Scene) -> None:
    loop = await start(scene, "loop", "Refund order 1042")
    for left in (2, 1):
        card = await scene.card("send_email" if left == 2 else "rejected by U0BOB")
        await scene.bob.press(card, "reject", left)
        await scene.bob.submit()

    first, *rest = await output_lines(loop)
    assert first == "No call may run: the model gets the answers."
    assert [line.split(" for ")[0] for line in rest] == ["User rejected the tool call"] * 2


async def test_a_loop_that_was_killed_starts_again_with_its_review(scene: Scene) -> None:
    """Given a loop killed before it waits; when Alice approves all of it, and it starts again in the same
    thread; then it runs what she approved, and a third start runs nothing but knows what was done."""
    asked = ("loop", "Refund order 1042", "--thread", "t-1")
    first = await start(scene, *asked, failpoints="gate.after_submit=kill")
    assert await first.wait_end() == -9
    await scene.alice.press(await scene.card("send_email"), "approve", 1)
    await scene.alice.press(await scene.card("approved by U0ALICE"), "approve", 1)

    second, third = [await output_lines(await start(scene, *asked)) for _ in range(2)]

    assert [line.partition(":")[0] for line in second[:2]] == ["refund", "send_email"]
    assert third[0] == "No call may run: the model gets the answers."
    assert third[1].startswith("Result of `refund`: refund ran with")
    assert len(await scene.cards()) == 1


async def test_a_deep_agent_sends_what_was_approved(scene: Scene) -> None:
    """dialects 1: given deepagents, which adds middlewares and a sub-agent of its own."""
    pytest.importorskip("deepagents")
    env = {"HITL_REDIS_URL": scene.redis_url, "AGENT_DATA": str(scene.folder / "deep")}
    words = "Email jo@example.com Your parcel is on its way"
    agent = await scene.process("examples.deep_agent", words, env=env)
    await scene.alice.press(await scene.card("jo@example.com", "send_email"), "approve")
    assert await output_lines(agent)
    async with await scene.gate() as gate:
        assert await gate.reviews.store.live_ids(9) == []
    assert len(list((scene.folder / "deep" / "outbox").glob("*.eml"))) == 1


def test_a_deep_agent_says_why_it_can_not_go_on() -> None:
    """Given a run that stops for another reason than its end, then its user reads it, and doesn't wait."""
    pytest.importorskip("deepagents")
    from examples.deep_agent import result_text

    state = {"messages": [AIMessage("Sent.")]}
    question = Interrupt(value="Which one?", id="1")
    assert result_text(Run("t", state, finished=True)) == "Sent."
    assert "It has no `to`" in result_text(
        Run("t", state, finished=False, refusal="It has no `to`")
    )
    assert "Which one?" in result_text(Run("t", state, finished=False, unknown=(question,)))


async def test_the_script_reminds_and_leaves_as_people_say(scene: Scene) -> None:
    """Given two invoices; when the first reminder is edited and the second rejected; then one went out as
    edited, both are recorded, and the next run asks nothing."""
    script = await start(scene, "script", "--data", str(scene.folder / "shop.db"))
    await scene.alice.press(await scene.card("R-17"), "edit")
    await scene.alice.submit(text="Dear Jo, please pay R-17.")
    await scene.alice.press(await scene.card("R-18"), "reject")
    await scene.alice.submit(message="Paid today")

    assert await output_lines(script) == [
        "to jo@example.com: Dear Jo, please pay R-17.",
        "R-18: User rejected the tool call for `send_reminder` with reason: Paid today",
    ]
    assert states(scene) == {"R-17": "reminded", "R-18": "left"}
    again = await start(scene, "script", "--data", str(scene.folder / "shop.db"))
    assert await output_lines(again) == []


async def test_a_script_killed_while_it_waits_finds_its_decision(scene: Scene) -> None:
    """Given a script killed while it waits for its second reminder; when Alice approves that and it runs
    again; then each reminder went out once, and nobody was asked twice."""
    data = ("--data", str(scene.folder / "shop.db"))
    first = await start(scene, "script", *data)
    await scene.alice.press(await scene.card("R-17"), "approve")
    card = await scene.card("R-18")
    await first.kill()
    await scene.alice.press(card, "approve")

    again = await start(scene, "script", *data)

    assert await output_lines(again) == ["to kim@example.com: R-18: 120 EUR are overdue."]
    assert first.output.splitlines() == ["to jo@example.com: R-17: 80 EUR are overdue."]
    assert states(scene) == {"R-17": "reminded", "R-18": "reminded"}
    assert len(await scene.cards()) == 2


async def test_the_worker_runs_what_was_asked_for_before_it_lived(scene: Scene) -> None:
    """Given a worker killed between the asking and the decision; when Alice approves while none runs, and two
    others are started; then it runs once, and was asked for once, although the button was pressed twice."""
    first = await serving(scene)
    asked = [
        await output_lines(await start(scene, "worker", "ask", "1042", "80")) for _ in range(2)
    ]
    assert asked[0] == asked[1]
    card = await scene.card("Pay back 80.00 EUR for order 1042?")
    await first.kill()
    await scene.alice.press(card, "approve")

    second, third = await serving(scene), await serving(scene)

    await scene.card("approved by U0ALICE", "80.00 EUR")
    workers = "".join(process.output for process in (first, second, third))
    assert workers.count("paid back 80.00 EUR for order 1042") == 1
    assert len(await scene.cards()) == 1


async def test_the_worker_runs_small_refunds_unasked_edits_as_edited_and_tells_of_rejections(
    scene: Scene,
) -> None:
    worker = await serving(scene)
    for order, amount in (("1", "20"), ("2", "80"), ("3", "90")):
        await output_lines(await start(scene, "worker", "ask", order, amount))

    await scene.alice.press(await scene.card("for order 2?"), "edit")
    await scene.alice.submit(amount=60)
    await scene.bob.press(await scene.card("for order 3?"), "reject")
    await scene.bob.submit(message="Not ours")

    message = {
        "paid back 20.00 EUR for order 1",
        "paid back 60.00 EUR for order 2",
        "order-3: User rejected the tool call for `refund` with reason: Not ours",
    }
    await wait_until("all are done", lambda: message <= set(worker.output.splitlines()))


async def test_the_policy_says_what_it_would_do(scene: Scene) -> None:
    reason = await output_lines(await start(scene, "python_policy"))
    assert [line.split()[0] for line in reason] == ["allow", "allow", "review", "review", "deny"]
    assert "Its `when` failed (KeyError) and counts as true." in reason[3]


@pytest.mark.parametrize("example", EXAMPLES)
async def test_every_example_explains_itself(scene: Scene, example: str) -> None:
    assert (await output_lines(await start(scene, example, "--help")))[0].startswith("usage: ")


@pytest.mark.parametrize(
    ("example", "args"), [("loop", ["hi"]), ("script", []), ("worker", ["ask", "1", "2"])]
)
async def test_without_redis_an_example_says_so_in_one_sentence(
    scene: Scene, example: str, args: list[str]
) -> None:
    process = await start(scene, example, "--redis", "redis://127.0.0.1:1/0", *args)
    assert await process.wait_end() == 1
    (output,) = process.output.splitlines()
    assert output.startswith(f"{example}: Redis at redis://127.0.0.1:1/0 can't be reached: ")
    assert not Path("shop.db").exists()


async def serving(scene: Scene) -> Process:
    worker = await start(scene, "worker", "serve")
    await wait_until("the worker serves", lambda: "serving" in worker.output)
    return worker


def states(scene: Scene) -> dict[str, str]:
    with closing(sqlite3.connect(scene.folder / "shop.db")) as db:
        return dict(db.execute("SELECT id, state FROM invoices"))
