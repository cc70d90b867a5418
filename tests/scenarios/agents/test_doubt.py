"""An agent is killed after it started a tool and before it reported: people are asked, and their answer
settles the call.
"""

from __future__ import annotations

import json
from functools import partial
from uuid import uuid4

import pytest

from hitl_core import Gate, ToolCall
from hitl_core.review import Decide, Proposal, claims
from tests.scenarios.lists.test_home import open_home
from tests.support.bots import CANARY, Process, Scene, email
from tests.support.builders import person
from tests.support.slack import MARIA, Message, buttons, text_of
from tests.support.waiting import wait_until

FREE = ToolCall("c9", "read_file", {"path": CANARY})


async def agent(scene: Scene, *calls: ToolCall, failpoints: str = "") -> Process:
    asked = [{"id": call.id, "name": call.name, "args": call.args} for call in calls]
    effects = str(scene.folder / "effects")
    return await scene.process(
        "tests.support.processes.agent", scene.redis_url, effects, json.dumps(asked),
        env={"HITL_FAILPOINTS": failpoints},
    )  # fmt: skip


def effects(scene: Scene) -> list[str]:
    file = scene.folder / "effects"
    return file.read_text().split() if file.exists() else []


def outcome_of(process: Process) -> dict[str, list[dict[str, str]]]:
    return json.loads(process.output.partition("outcome: ")[2].splitlines()[0])


ANSWERS = [
    ("doubt_ran", [], "confirmed"),
    ("doubt_rerun", ["c1"], ""),
    ("doubt_skip", [], "skipped"),
]


@pytest.mark.parametrize(("button", "ran", "text"), ANSWERS, ids=[a[0] for a in ANSWERS])
async def test_promise_5_each_answer_to_a_doubt_ends_it(
    scene: Scene, button: str, ran: list[str], text: str
) -> None:
    """Given an agent killed right after `once`; then the card asks whether the call ran; when Alice answers,
    then a second agent finishes accordingly; Bob, who answers as well, is told that she did."""
    await scene.bot()
    first = await agent(scene, email(), failpoints="gate.after_once=kill")
    await scene.alice.press(await scene.card("send_email"), "approve")
    assert await first.wait_end() == -9
    card = await scene.card("it may or may not have run")
    second = await agent(scene, email())
    await scene.carl.press(card, button)
    assert await scene.carl.notices() == ["Only members of #agent-approvals may decide this."]

    await scene.actor.inject_fault("http_500", method="chat.update")
    await scene.alice.press(card, button)
    for late, _ in [("doubt_ran", 1), ("doubt_rerun", 1), ("doubt_skip", 1)]:
        await scene.bob.press(card, late)
    await scene.actor.inject_fault("ok")

    assert await second.wait_end() == 0, second.output
    assert await scene.bob.notices() == ["“Alice Ng” (U0ALICE) already answered this."] * 3 or ran
    assert effects(scene) == ran
    outcome = outcome_of(second)
    assert outcome["executed"] == ran
    assert all(text in answer["content"] for answer in outcome["answers"])
    done = await scene.card("approved by U0ALICE")
    assert not buttons(done, button)


async def test_promise_5_a_call_that_nobody_reviewed_can_be_in_doubt_too(scene: Scene) -> None:
    """Given a call that the policy allows, and an agent killed after `once`; then a card appears for it,
    asks, and says in the end who answered."""
    await scene.bot()
    first = await agent(scene, FREE, failpoints="gate.after_once=kill")
    assert await first.wait_end() == -9
    card = await scene.card("read_file", "it may or may not have run")
    second = await agent(scene, FREE)

    await scene.alice.press(card, "doubt_skip")

    assert await second.wait_end() == 0, second.output
    assert effects(scene) == []
    assert "U0ALICE" in text_of(await scene.card("The agent goes on without it"))


async def test_who_ordered_a_call_that_nobody_reviewed_to_run_again_has_a_home(
    scene: Scene,
) -> None:
    """Given a call that the policy allows, in doubt; when Alice orders it to run again, and it does, then her
    Home still opens, with this review, and the card says what became of the call: the review had no place any
    more, so her Home and `/approvals` failed as a whole."""
    await scene.bot()
    gate = await scene.gate()
    review_id = await gate.submit([FREE], thread_id="t-1")
    await scene.alice.press(await in_doubt(scene, gate, review_id, FREE), "doubt_rerun")
    outcome = await gate.wait(review_id)
    assert await outcome.once(FREE)
    await open_home(scene, "U0ALICE", "Decided by you", "read_file")
    await outcome.finish({FREE.id: "42"})
    await scene.card("read_file", "It reported: “42”")
    await open_home(scene, "U0ALICE", "Decided by you", "read_file")


async def test_a_call_that_comes_in_doubt_is_told_in_the_thread_of_its_card(
    scene: Scene,
) -> None:
    """Given a card that was decided; when its call comes in doubt, and again after a person ordered another
    run, then a line in its thread asks each time, because a change of a message notifies nobody. A card that
    is posted for a doubt needs no such line."""
    await scene.bot()
    gate = await scene.gate()
    review_id = await gate.submit([email()], thread_id="t-1")
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    for count in (1, 2):
        card = await in_doubt(scene, gate, review_id, email())
        await wait_until("a line", partial(lines_below, scene, card, count))
        await scene.alice.press(card, "doubt_rerun")
    assert "send_email may or may not have run" in (await replies(scene, card))[-1]["text"]

    await in_doubt(scene, gate, await gate.submit([FREE], thread_id="t-2"), FREE)
    free = await scene.card("read_file", "it may or may not have run")
    await scene.all_shown()
    assert await replies(scene, free) == []


async def replies(scene: Scene, card: Message) -> list[Message]:
    state = await scene.actor.state("U0ALICE")
    messages = state["messages"][card["channel"]]
    return [m for m in messages if m["thread_ts"] == card["ts"] and m["ts"] != card["ts"]]


async def lines_below(scene: Scene, card: Message, count: int) -> bool:
    return len(await replies(scene, card)) == count


async def test_promise_5_killed_before_once_it_runs_by_itself(scene: Scene) -> None:
    """Given an agent killed after its claim, before `once`; then the next one runs the call, once, and nobody
    is asked anything."""
    await scene.bot()
    first = await agent(scene, email(), failpoints="gate.after_claim=kill")
    await scene.alice.press(await scene.card("send_email"), "approve")
    assert await first.wait_end() == -9

    second = await agent(scene, email())

    assert await second.wait_end() == 0, second.output
    assert effects(scene) == ["c1"]
    assert "it may or may not have run" not in text_of(await scene.card("send_email ran"))


PAY = """
default: review
interrupt_on:
  send_email:
    allowed_decisions: [approve, reject, respond]
    reviewers: {channel_members: true, quorum: 2}
  read_*: false
"""


MUST_READ = "    must_read: true"


async def in_doubt(scene: Scene, gate: Gate, review_id: str, call: ToolCall) -> Message:
    """The call began, and its process is gone."""
    outcome = await gate.wait(review_id)
    assert await outcome.once(call)
    outcome.release()
    die = f"die:{uuid4().hex}"
    await gate.reviews.change(review_id, die, lambda r, now: claims.expire_lease(r, now + 100))
    return await scene.card("it may or may not have run")


async def test_run_again_takes_the_people_that_the_call_took(scene: Scene) -> None:
    """Security M2: given a payment that two approved for Maria, and that is in doubt; then Maria's press is
    refused, Alice's is one vote of two that the card shows, and with Bob's it may run again."""
    await scene.bot()
    gate = await scene.gate(PAY)
    waiting = await gate.submit([email()], thread_id="t", requester=MARIA)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    await scene.bob.press(card, "approve")
    card = await in_doubt(scene, gate, waiting, email())
    assert "2 people must say that it ran, or to run it again" in text_of(card)

    maria = scene.person(MARIA)
    for action in ("doubt_rerun", "doubt_ran"):
        await maria.press(card, action)
    assert all("another person must decide this" in texts for texts in await maria.notices())
    assert len(await maria.notices()) == 2
    await scene.alice.press(card, "doubt_rerun")
    card = await scene.card("1 of 2 want to run it again: <@U0ALICE>")
    assert (await gate.reviews.load(waiting)).review.calls_in_doubt
    await scene.bob.press(card, "doubt_rerun")

    again = await gate.wait(waiting)
    assert [call.id for call in again.execute] == ["c1"]
    again.release()


async def test_an_answer_instead_takes_the_people_that_the_call_takes(scene: Scene) -> None:
    """Security M2: Maria's answer in place of the tool is refused; Alice's is in the form that Bob opens,
    and counts when he sends the same."""
    await scene.bot()
    gate = await scene.gate(PAY)
    waiting = scene.ask(gate, requester=MARIA)
    card = await scene.card("send_email")
    maria = scene.person(MARIA)
    await maria.press(card, "more", option="Answer instead of running it")
    assert "another person must answer this" in await maria.last_notice()

    await scene.alice.press(card, "more", option="Answer instead of running it")
    assert (await scene.alice.submit(message="Paid by hand."))["ok"]
    card = await scene.card(
        "1 of 2 want to answer instead of running it: <@U0ALICE>", "Paid by hand."
    )
    await scene.bob.press(card, "more", option="Answer instead of running it")
    view = await scene.actor.view(scene.bob.id)
    assert view is not None
    assert "Paid by hand." in json.dumps(view)
    assert (await scene.bob.submit(message="Paid by hand."))["ok"]

    outcome = await waiting
    assert not outcome.execute
    assert [answer.content for answer in outcome.answers] == ["Paid by hand."]


async def test_who_runs_a_call_again_has_read_all_of_it(scene: Scene) -> None:
    """Given a call that must be read, in doubt, whose card shows only a part of it; when Bob presses "Run
    again", then all of it is opened, and nothing runs; after that his press counts."""
    await scene.bot()
    gate = await scene.gate(
        PAY.replace("    reviewers: {channel_members: true, quorum: 2}", MUST_READ)
    )
    call = ToolCall("c1", "send_email", {"body": "line\n" * 300 + "to MALLORY\n" + "line\n" * 300})
    waiting = await gate.submit([call], thread_id="t")
    approval = Decide(waiting, "1", Proposal("approve", 1), person("Alice"), "op-1")
    await gate.reviews.apply(approval)
    card = await in_doubt(scene, gate, waiting, call)
    assert "MALLORY" not in text_of(card)

    await scene.bob.press(card, "doubt_rerun")
    modal = await scene.bob.modal()
    assert "MALLORY" in modal
    assert "then press “Run again” on the card" in modal
    assert (await gate.reviews.load(waiting)).review.calls_in_doubt
    await scene.bob.press(card, "doubt_rerun")

    again = await gate.wait(waiting)
    assert [call.id for call in again.execute] == ["c1"]
    again.release()
