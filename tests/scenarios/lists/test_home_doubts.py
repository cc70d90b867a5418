"""The Home and /approvals: doubts, short ids, numbers and incomplete lists."""

from __future__ import annotations

import pytest

from hitl_core import Gate, ToolCall
from hitl_core.review import claims
from slack_sandbox.client import read_text
from tests.scenarios.lists.test_home import approvals, home, open_home
from tests.support.bots import POLICY, Scene, email
from tests.support.builders import review_of as made


async def _in_doubt(gate: Gate, call: ToolCall, review_id: str) -> None:
    outcome = await gate.wait(review_id)
    assert await outcome.once(call)
    outcome.release()
    await gate.reviews.change(review_id, "die", lambda r, now: claims.expire_lease(r, now + 100))


@pytest.mark.parametrize("tool", ["send_email", "read_file"])
async def test_a_doubt_waits_in_the_home_of_those_who_may_say(scene: Scene, tool: str) -> None:
    """Given a call in doubt, one that Alice approved or one that nobody was asked about; then it
    is in her Home and in `/approvals`, not in Carl's, and is answered there."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    call = ToolCall("c1", tool, {"path": "x"})
    review_id = await gate.submit([call], thread_id="t")
    if tool == "send_email":
        await scene.alice.press(await scene.card("send_email"), "approve")
    await _in_doubt(gate, call, review_id)
    await scene.card("it may or may not have run")
    await scene.all_shown()

    assert "1 review waits for you" in await approvals(scene, "U0ALICE")
    assert f"did {tool} run?" in await approvals(scene, "U0ALICE")
    assert f"did {tool} run?" in await approvals(scene, "U0ALICE", f"show {review_id}")
    assert "Nothing waits for you" in await approvals(scene, "U0CARL")
    await open_home(scene, "U0ALICE", "1 review waits for you", "it may or may not have run")
    await scene.actor.click_view("U0ALICE", "doubt_skip", home=True)

    await home(scene, "U0ALICE", "Nothing waits for you")
    assert not (await gate.reviews.load(review_id)).review.calls_in_doubt


async def test_a_few_digits_name_a_review_of_ones_own(scene: Scene) -> None:
    """`/approvals show 0-efef` works where it names one review of this person; one that names
    several, none, or no review at all each gets a sentence of its own, and others' reviews are unknown."""
    await scene.bot()
    gate = await scene.gate()
    review_id = await gate.submit([email()], thread_id="t")
    await scene.card("send_email")
    await scene.all_shown()
    short = review_id[:10]

    assert "send_email" in await approvals(scene, "U0ALICE", f"show {short.upper()}")
    assert await approvals(scene, "U0CARL", f"show {short}") == (
        f"No review that waits for you, or that you decided, begins with {short}."
        f" Give the whole id: “hitl reviews show {short}” prints it."
    )
    other = "0-0000" if not short.startswith("0-0000") else "0-1111"
    assert "begins with" in await approvals(scene, "U0ALICE", f"show {other}")
    for wrong in ("0-ef", "the email", "x" * 300):
        assert "is not a review id" in await approvals(scene, "U0ALICE", f"show {wrong}")
    for last in "12":
        review, event = made([email()], agent="crm")
        id = f"0-abcd{last * 28}"
        await gate.reviews.submit(
            review.model_copy(update={"id": id}), event.model_copy(update={"review_id": id})
        )
    assert await approvals(scene, "U0ALICE", "show 0-abcd") == (
        "2 of your reviews begin with 0-abcd: give more characters of the id."
    )


async def test_home_numbers_what_its_card_numbers(scene: Scene) -> None:
    """Given two calls in two channels, each alone on its card; then neither the card
    nor Home numbers them."""
    await scene.bot()
    there = '  two: {notify: "slack:#agent-approvals"}\n  one: {notify: "slack:#team-ops"}\n'
    gate = await scene.gate(POLICY + there)
    calls = [ToolCall("c1", "one", {"x": 1}), ToolCall("c2", "two", {"x": 2})]
    await gate.submit(calls, thread_id="t")
    card = await scene.card("two")
    await scene.all_shown()
    assert "2  two" not in read_text(card["blocks"])
    view = await open_home(scene, "U0ALICE", "1 review waits for you", "two")
    assert "2  two" not in read_text(view["blocks"])


async def test_home_says_that_there_is_more_than_it_counted(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 11: given more reviews than can be counted, then Home shows no total."""
    monkeypatch.setattr("bot.inbox.home.index.MAX_WAITING", 3)
    await scene.bot()
    gate = await scene.gate()
    for number in range(5):
        await gate.submit([email()], thread_id=f"n-{number}")
    await scene.all_shown()
    await open_home(scene, "U0ALICE", "More than 3 reviews wait for you")
    assert "More than 3 reviews wait for you" in await approvals(scene, "U0ALICE")
