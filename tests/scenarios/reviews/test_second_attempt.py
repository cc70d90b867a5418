"""An agent tries again after a rejection: people read that it is another attempt, what changed, and both
reasons.
"""

from __future__ import annotations

from dataclasses import replace

from tests.support.bots import CANARY, Scene, email
from tests.support.slack import text_of


async def test_the_card_of_a_second_attempt_has_the_agents_reason_and_the_persons(
    scene: Scene,
) -> None:
    """Given a call with a reason that Alice rejected with one; when the agent asks again in the same thread
    with other arguments; then the new card says that it is the second attempt, what changed, why Alice
    rejected the first one, and why the agent wants it now."""
    await scene.bot()
    gate = await scene.gate()
    first = replace(email(), reason="Jo asked for it.")
    waiting = scene.ask(gate, first, thread_id="t-again", turn="m1")
    card = await scene.card("send_email", "Jo asked for it.")
    await scene.alice.press(card, "reject")
    await scene.alice.submit(message="Only two copies, please.")
    await (await waiting).finish()

    args = {**email().args, "copies": 2}
    second = replace(email("c2"), args=args, reason="Now with two copies.")
    scene.ask(gate, second, thread_id="t-again", turn="m2")

    text = text_of(await scene.card("send_email", CANARY, "2nd attempt", "changed: copies"))
    assert "(U0ALICE) rejected the one before: “Only two copies, please.”" in text
    assert "says: “Now with two copies.”" in text
    assert "Jo asked for it." not in text
