"""One review in Slack and in Teams: edited in Slack, approved in Teams."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import aiohttp

from hitl_core import Gate, Policy, ToolCall

from ...client import Actor
from ..services import APPROVALS, Services
from ..teams import TeamsError, TeamsPeople
from .reviewers import CheckFailed

TEAM = "Agent approvals > General"
POLICY: dict[str, Any] = {
    "default": "review",
    "notify": ["slack:#agent-approvals", "teams:Agent approvals"],
    "reviewers": {"channel_members": True, "editor_approves": False},
}
ASKED = {"order": 1042, "amount": 120.5}
EDITED = {"order": 1042, "amount": 77.5}
#: How long each step may take, in seconds.
TIMEOUT = 30.0


async def check_both(services: Services, actor: Actor) -> list[str]:
    """Returns a sentence for each step. Raises CheckFailed."""
    assert services.teams_page
    async with (
        aiohttp.ClientSession() as session,
        Gate.connect(
            services.redis_url, policy=Policy.from_mapping(POLICY), agent="check-both"
        ) as gate,
    ):
        teams = TeamsPeople(services.teams_page, session)
        call = ToolCall("c1", "refund_order", dict(ASKED))
        review_id = await gate.submit([call], thread_id=f"both-{uuid4().hex[:6]}")
        try:
            asked = await teams.wait_for_button("Bob Reyes", TEAM, "Approve", beside="120.5")
            steps = [f"refund_order of {ASKED['amount']} is shown in Slack and in Teams"]
            await _edit_in_slack(actor)
            steps.append(
                f"in Slack Alice changes it to {EDITED['amount']}, which somebody else must approve"
            )
            edited = await teams.wait_for_button("Bob Reyes", TEAM, "Approve", beside="77.5")
            if edited["id"] != asked["id"]:
                raise CheckFailed("Teams shows the edit in another message")
            await _refuse_own_edit(teams)
            steps.append("in Teams Alice can't approve it, because she changed it")
            await teams.press("Bob Reyes", edited, "Approve")
            steps.append("in Teams Bob approves that")
            async with asyncio.timeout(TIMEOUT):
                outcome = await gate.wait(review_id)
        except (TeamsError, TimeoutError) as error:
            raise CheckFailed(str(error) or "the review was not decided in time") from error
        ran = [call.args for call in outcome.execute]
        if ran != [EDITED]:
            raise CheckFailed(f"this should have run: {EDITED}, not {ran}")
        return steps


async def _refuse_own_edit(teams: TeamsPeople) -> None:
    """Checks that Alice can't approve her own edit in Teams: her two accounts are one human."""
    card = await teams.wait_for_button("Alice Ng", TEAM, "Approve", beside="77.5")
    try:
        await teams.press("Alice Ng", card, "Approve")
    except TeamsError:
        return
    raise CheckFailed("in Teams Alice approved what she changed in Slack")


async def _edit_in_slack(actor: Actor) -> None:
    def find_cards(state: dict[str, Any]) -> list[dict[str, Any]]:
        cards = [one for one in state["messages"][APPROVALS] if one["bot"]]
        return [one for one in cards if "refund_order" in one["text"]]

    try:
        *_, card = await actor.wait_for(find_cards, timeout=TIMEOUT)
    except TimeoutError as error:
        raise CheckFailed("no message came to #agent-approvals") from error
    pressed = await actor.click("U0ALICE", APPROVALS, card["ts"], "edit")
    sent = await actor.submit("U0ALICE", {"amount": EDITED["amount"]})
    if not pressed["ok"] or not sent["ok"]:
        raise CheckFailed(f"the edit in Slack was refused: {pressed} {sent}")
