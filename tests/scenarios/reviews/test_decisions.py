"""An agent asks, people decide in Slack, the agent continues: the effect of each kind of decision."""

from __future__ import annotations

import pytest

from hitl_core import ToolCall
from hitl_core.errors import Refused
from tests.support.bots import CANARY, Scene, email, sql
from tests.support.slack import APPROVALS, buttons, review_of, text_of


async def test_an_approved_call_runs_as_it_was_asked(scene: Scene) -> None:
    """Given a call that waits; when Alice approves it; then the agent gets it as it was, and its result
    appears on the card."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email", CANARY)

    assert (await scene.alice.press(card, "approve"))["ok"]

    outcome = await waiting
    assert outcome.execute == (email(),)
    assert outcome.answers == ()
    assert await outcome.once(email())
    await outcome.finish({"c1": "sent as m-1"})
    await scene.card("approved by U0ALICE", "sent as m-1")


async def test_a_wrong_value_is_marked_and_a_right_one_runs(scene: Scene) -> None:
    """Given Edit's modal; when a wrong value is sent, it is marked beside its field and nothing is decided;
    when a right one is sent, then exactly that runs and the card shows what changed."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")

    await scene.alice.submit(to="")
    assert not waiting.done()
    wrong = await scene.alice.submit(to=email().args["to"], copies=12)
    assert not wrong["ok"]
    assert "copies" in next(iter(wrong["errors"]))
    await scene.alice.submit(copies=1)
    assert "Nothing was changed" in await scene.alice.modal()
    assert (await scene.alice.submit(copies=3))["ok"]

    outcome = await waiting
    assert outcome.execute == (ToolCall("c1", "send_email", {**email().args, "copies": 3}),)
    await scene.card("edited and approved by U0ALICE", "copies", "→ 3")


async def test_a_cancelled_review_asks_nobody_and_runs_nothing(scene: Scene) -> None:
    """Given two calls of which one is approved; when the agent withdraws the review; then its card says so,
    it has no buttons, an open form says so, and the agent gets nothing to run."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email(), sql("c2"))
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    card = await scene.card("approved by U0ALICE")
    await scene.bob.press(card, "reject")

    await gate.cancel(review_of(card), "The user wrote again.")

    outcome = await waiting
    assert outcome.jump_to_model
    assert [answer.tool_call_id for answer in outcome.answers] == ["c1", "c2"]
    assert all("cancelled" in answer.content for answer in outcome.answers)
    closed = await scene.card(
        "2 tools cancelled", "cancelled by the agent", "The user wrote again."
    )
    assert buttons(closed, "approve") == []
    await scene.bob.submit(message="No WHERE clause")
    assert "The agent cancelled this" in await scene.bob.modal()
    with pytest.raises(Refused, match="cancelled this"):
        await gate.cancel(review_of(card))
    await outcome.finish()
    await scene.card("2 tools cancelled")


async def test_a_rejection_gives_its_reason_to_the_agent(scene: Scene) -> None:
    """Given a rule that wants a reason; when Bob rejects without one, he is told so; when he gives one, then
    the call does not run and the model reads why."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, sql())
    await scene.bob.press(await scene.card("run_sql"), "reject")

    assert not (await scene.bob.submit())["ok"]
    assert (await scene.bob.submit(message="No WHERE clause"))["ok"]

    outcome = await waiting
    assert outcome.jump_to_model
    assert [(a.tool_call_id, a.status) for a in outcome.answers] == [("c2", "error")]
    assert "No WHERE clause" in outcome.answers[0].content
    await outcome.finish()
    await scene.card("rejected by U0BOB", "No WHERE clause")


async def test_an_answer_stands_in_for_the_tool(scene: Scene) -> None:
    """Given a call that may be answered; when Alice answers it, then her text is the tool's result."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    await scene.alice.press(
        await scene.card("send_email"), "more", option="Answer instead of running it"
    )

    assert (await scene.alice.submit(message="I called them"))["ok"]

    outcome = await waiting
    assert [(a.content, a.status) for a in outcome.answers] == [("I called them", "success")]
    await scene.card("answered by U0ALICE")


async def test_a_skipped_call_does_not_run(scene: Scene) -> None:
    """Given a call that may be skipped; when Alice skips it, then it does not run."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())

    await scene.alice.press(await scene.card("send_email"), "more", option="Skip it")

    assert (await waiting).execute == ()
    await scene.card("skipped by U0ALICE")


async def test_three_calls_decided_by_two_people(scene: Scene) -> None:
    """Given a turn of an allowed, a denied and three reviewed calls; when two people decide them out of
    order, then the agent waits for the last one, and runs what may run in the model's order."""
    await scene.bot()
    gate = await scene.gate()
    asked = [email("c1"), ToolCall("c2", "read_file", {}), sql("c3"), ToolCall("c4", "drop_x", {}),
             ToolCall("c5", "update", {"name": CANARY})]  # fmt: skip
    waiting = scene.ask(gate, *asked)
    card = await scene.card("send_email", "run_sql", "update")
    assert "read_file" not in text_of(card)

    await scene.bob.press(card, "approve", 3)
    await scene.bob.press(card, "reject", 2)
    await scene.bob.submit(message="no")
    assert not waiting.done()
    await scene.alice.press(card, "approve", 1)

    outcome = await waiting
    assert [call.id for call in outcome.execute] == ["c1", "c2", "c5"]
    assert [answer.tool_call_id for answer in outcome.answers] == ["c3", "c4"]
    await outcome.finish({"c1": "mail gone", "c5": "row changed"})
    done = text_of(await scene.card("mail gone", "row changed"))
    assert "approved by U0ALICE" in done
    assert "rejected by U0BOB" in done


async def test_two_reviews_of_one_thread_have_a_card_each(scene: Scene) -> None:
    """Given two turns of one thread that wait together; when only the second is decided, then only it
    continues; the same call id in a later turn is asked again and finds its own decision."""
    await scene.bot()
    gate = await scene.gate()
    first = scene.ask(gate, email(), thread_id="t-1", turn="m1")
    one = await scene.card("send_email")
    second = scene.ask(gate, email(), thread_id="t-1", turn="m2")
    [two] = await scene.actor.wait_for(lambda state: state["messages"][APPROVALS][1:])

    await scene.alice.press({**two, "channel": APPROVALS}, "approve")
    await (await second).finish()
    assert not first.done()
    await scene.bob.press(one, "reject")
    await scene.bob.submit()

    outcome = await first
    assert outcome.execute == ()
    await outcome.finish()
    assert len(await scene.cards()) == 2


async def test_a_call_id_used_again_in_a_later_turn_is_asked_again(scene: Scene) -> None:
    """Given a model that uses call ids again and an agent that names no turns; when the first review is
    done, then the next one with the same id is a new question with its own answer."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email(), thread_id="t-1")
    await scene.alice.press(await scene.card("send_email"), "approve")
    outcome = await waiting
    assert await outcome.once(email())
    await outcome.finish({"c1": "first"})
    await scene.card("first")

    other = ToolCall("c1", "send_email", {"to": "other@example.com", "copies": 2})
    again = scene.ask(gate, other, thread_id="t-1")
    await scene.alice.press(await scene.card("other@example.com"), "approve")

    outcome = await again
    assert outcome.execute == (other,)
    assert await outcome.once(other)
    await outcome.finish({"c1": "second"})


async def test_a_turn_that_needs_nobody_posts_nothing(scene: Scene) -> None:
    """Given a turn of allowed and denied calls; when the agent asks, then it continues at once and nothing is
    sent to Slack, not even when it is done."""
    await scene.bot()
    gate = await scene.gate()
    free = ToolCall("r", "read_file", {"path": CANARY})

    outcome = await gate.review([free, ToolCall("d", "drop_x", {})], thread_id="t-1")
    assert outcome.execute == (free,)
    assert [a.tool_call_id for a in outcome.answers] == ["d"]
    await outcome.finish({"r": "read"})

    scene.ask(gate, email())  # when its card is shown, the earlier events have been handled
    await scene.card("send_email")
    assert len(await scene.cards()) == 1


async def test_promise_7_who_may_not_decide_is_not_shown_the_arguments(scene: Scene) -> None:
    """Given a card, when a non-member or a stranger asks to see all of it, then they are told who may."""
    await scene.bot()
    gate = await scene.gate()
    scene.ask(gate, ToolCall("c1", "note", {"text": f"{CANARY} " * 300}))
    card = await scene.card("note")
    await scene.wait_noted(gate, card)
    (block_id, _) = buttons(card, "see")[0]
    for person, text in [(scene.carl, "Only members"), (scene.stranger, "Only people of this")]:
        await scene.actor.click(
            person.id,
            APPROVALS,
            card["ts"],
            "see",
            block_id=block_id,
            team=person.team,
        )
        assert text in (await person.notices())[-1]
        assert await scene.actor.view(person.id) is None
