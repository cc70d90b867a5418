"""An edit is judged again, from Slack's modal to what runs."""

from __future__ import annotations

from typing import Any

from hitl_core import ToolCall
from hitl_core.model import Action
from tests.support.bots import Scene
from tests.support.clicks import forge_click, refusals, send
from tests.support.slack import buttons, review_of, text_of
from tests.support.waiting import wait_until

OPS, FINANCE = "C0OPS", "G0FINANCE"
POLICY = """
default: deny
interrupt_on:
  refund:
    when:
      properties: {amount: {type: integer, minimum: 1001, maximum: 10000}}
      required: [amount]
    notify: slack:#finance
    reviewers: {groups: [S0FINANCE], quorum: 2}
  refun*:
    when:
      properties: {amount: {type: integer, minimum: 0, maximum: 1000}}
      required: [amount]
    notify: slack:#agent-approvals
    escalate: [{after: 10m, to: "slack:#team-ops"}]
  give_back: {notify: "slack:#agent-approvals"}
"""


async def ask_refund(scene: Scene) -> tuple[Any, Any, Any]:
    """The gate, who waits for it, and the card of a refund of 5 in #agent-approvals."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    call = ToolCall("c1", "refund", {"amount": 5, "to": "jo"})
    waiting = scene.ask(gate, call, tools={"refund": None, "give_back": None})
    return gate, waiting, await scene.card("refund")


async def action_of(gate: Any, card: Any) -> Action:
    return (await gate.reviews.load(review_of(card))).review.actions[0]


async def test_a_reviewer_of_5_can_not_edit_to_5000(scene: Scene) -> None:
    """Given a refund of 5 that was escalated to Carl; when Carl edits it to 5,000,
    then the finance group gets a card, nobody else may decide, its old card has no buttons and says where the
    review is now, and after two approvals of theirs it runs once, with 5,000."""
    _, waiting, card = await ask_refund(scene)
    await scene.alice.press(card, "escalate")
    await scene.alice.submit()
    passed = await scene.card("refund", channel=OPS, viewer="U0CARL")
    await scene.carl.press(passed, "edit")
    assert (await scene.carl.submit(amount="5000"))["ok"]

    there = await scene.card("5000", channel=FINANCE, viewer="U0ALICE")
    assert "The edit falls under the rule `refund`: 2 people must approve." in text_of(there)
    assert "Needs 2 approvals" in text_of(there)

    async def is_closed() -> bool:
        old = await scene.card("now decided by others", channel=OPS, viewer="U0CARL")
        return not any(buttons(old, answer) for answer in ("approve", "edit", "reject"))

    await wait_until("the old card has no buttons", is_closed)
    old = await scene.card("now decided by others")
    assert "falls under the rule `refund`" in text_of(old)
    await send(scene, await forge_click(scene, there, "approve", "U0CARL"))
    assert await refusals(scene) == [("U0CARL", "not_permitted")]
    assert not waiting.done()

    await scene.alice.press(there, "approve")
    half = await scene.card("1 of 2", channel=FINANCE, viewer="U0ALICE")
    await scene.bob.press(half, "approve")
    outcome = await waiting
    [call] = outcome.execute
    assert call.args == {"amount": 5000, "to": "jo"}
    assert await outcome.once(call)
    assert not await outcome.once(call)


async def test_what_the_policy_denies_is_refused_in_the_modal(scene: Scene) -> None:
    gate, waiting, card = await ask_refund(scene)
    await scene.alice.press(card, "edit")
    await scene.alice.submit(amount="50000")
    assert "The policy denies refund with these arguments" in await scene.alice.modal()
    action = await action_of(gate, card)
    assert (action.revision, action.is_pending, waiting.done()) == (1, True, False)


async def test_a_small_edit_of_a_reviewer_runs(scene: Scene) -> None:
    _, waiting, card = await ask_refund(scene)
    await scene.alice.press(card, "edit")
    assert (await scene.alice.submit(amount="7"))["ok"]
    assert [call.args["amount"] for call in (await waiting).execute] == [7]


async def test_a_person_of_an_escalation_can_not_rename_the_call_to_run_it(
    scene: Scene,
) -> None:
    """Given Carl, to whom a refund was passed on, and a tool with the same place and
    people that is never passed on; when he edits the call into that tool, then this is not his approval."""
    gate, waiting, card = await ask_refund(scene)
    await scene.alice.press(card, "escalate")
    await scene.alice.submit()
    passed = await scene.card("refund", channel=OPS, viewer="U0CARL")
    await scene.carl.press(passed, "edit")
    await scene.actor.click_view(
        "U0CARL", "value", block_id="tool", option="give_back", values={"amount": 6}
    )
    await scene.carl.submit(amount="6")

    async def is_renamed() -> bool:
        return (await action_of(gate, card)).name == "give_back"

    await wait_until("it is another tool's call", is_renamed)
    action = await action_of(gate, card)
    assert (action.is_pending, action.places) == (True, ("slack:#agent-approvals",))
    assert not waiting.done()
    here = await scene.card("give_back")
    await scene.alice.press(here, "approve")
    assert [call.name for call in (await waiting).execute] == ["give_back"]


async def test_a_reviewer_of_the_new_rule_approves_by_the_edit(
    scene: Scene,
) -> None:
    """Given a rule for large amounts whose group Alice is in, when she writes 5,000,
    it takes one more."""
    await scene.bot()
    rules = POLICY.replace("quorum: 2}", "quorum: 2, editor_approves: true}")
    gate = await scene.gate(rules)
    waiting = scene.ask(gate, ToolCall("c1", "refund", {"amount": 5, "to": "jo"}))
    await scene.alice.press(await scene.card("refund"), "edit")
    assert (await scene.alice.submit(amount="5000"))["ok"]
    await scene.bob.press(await scene.card("1 of 2", channel=FINANCE, viewer="U0ALICE"), "approve")
    assert [call.args["amount"] for call in (await waiting).execute] == [5000]
