"""App Home and `/approvals`, made by the bot's own listeners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from bot.channels.slack.home import HomeTab
from bot.directory import Directory
from bot.home import Homes
from bot.inbox import Inbox
from hitl_core.gate.request import Turn, build
from hitl_core.model import MessageRef, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store.memory import MemoryStore
from tests.channels.scenes import ALICE, DEFAULT, NOW, POLICY, THREE
from tests.gallery.showing import ASKED_IN, Json, Scene, Shown, Slack
from tests.gallery.waiting import REFUND, REFUND_RULE

Calls = Sequence[tuple[str, Json]]
WAITING: tuple[Calls, ...] = (
    (("refund_order", REFUND),),
    THREE,
    (("update_customer", {"customerId": "cus_12", "status": "blocked"}),),
)


class _Desk:
    """The part of a bot that draws Homes, with what is in its store."""

    def __init__(self, to: Slack) -> None:
        self._slack, self._count = to, 0
        self.store = MemoryStore(lambda: NOW + 600)
        self.reviews = Reviews(self.store)
        directory = Directory(to.channel, to.channel.team)
        inbox = Inbox(self.reviews, directory, to.channel.cut)
        homes = Homes(self.reviews, to.channel, directory)
        self.tab = HomeTab(homes, inbox, to.channel, self.store)

    async def ask(self, calls: Calls, policy: Json | None = None, requester: str = "U0MARIA") -> str:
        """A review with its card; its id."""
        self._count += 1
        rules = {**POLICY["interrupt_on"], "refund_order": REFUND_RULE}
        judge = Policy.from_mapping({**POLICY, "interrupt_on": rules, **(policy or {})}).judge
        made = [ToolCall(f"c{n}", name, args) for n, (name, args) in enumerate(calls)]
        turn = Turn("support-agent", f"thread-{self._count}", "turn-1", requester, ASKED_IN)
        asked_at = NOW + 60 * self._count
        review, event = build(turn, made, [judge(call) for call in made], 1, asked_at)
        await self.reviews.submit(review, event)
        ts = f"{int(asked_at)}.000100"
        ref = MessageRef(channel="slack", conversation="C0APPROVE", ts=ts)
        await self.store.record_post(review.id, review.places[0], ref)
        return review.id

    async def decide(self, review_id: str, kind: Any, message: str | None = None) -> None:
        proposal = Proposal(kind, 1, message)
        await self.reviews.decide(review_id, "1", proposal, ALICE, f"{review_id}:1")

    async def home(self) -> Shown:
        """As published for Alice."""
        await self.tab.publish(ALICE.id)
        calls = self._slack.sandbox.api.calls
        args = next(one["args"] for one in reversed(calls) if one["method"] == "views.publish")
        return Shown("home", args["view"])

    async def command(self, text: str) -> Shown:
        """As answered to Alice, who typed `/approvals`."""
        said: Json = {}

        async def ack(**answer: Any) -> None:
            said.update(answer)

        body = {"text": text, "user_id": ALICE.id, "team_id": ALICE.team}
        await self.tab.command(cast(Any, ack), body)
        return Shown("private", {"text": said["text"], "blocks": said["blocks"]})


async def _filled(to: Slack) -> _Desk:
    desk = _Desk(to)
    for kind, message in (("approve", None), ("reject", "Not on a Friday.")):
        await desk.decide(await desk.ask(THREE[1:2]), kind, message)
    for calls in WAITING:
        await desk.ask(calls)
    to_others = {"reviewers": {"users": ["U0CARL", "U0DANA"]}, "notify": "slack:#team-ops"}
    await desk.ask(THREE[:1], to_others, requester=ALICE.id)
    return desk


async def _full(to: Slack) -> Shown:
    return await (await _filled(to)).home()


async def _empty(to: Slack) -> Shown:
    return await _Desk(to).home()


async def _paged(to: Slack) -> Shown:
    desk = _Desk(to)
    for n in range(12):
        await desk.ask((("update_customer", {"customerId": f"cus_{n}", "status": "vip"}),))
    return await desk.home()


async def _command(to: Slack) -> Shown:
    return await (await _filled(to)).command("")


async def _show(to: Slack) -> Shown:
    desk = _Desk(to)
    return await desk.command(f"show {await desk.ask(WAITING[0])}")


SCENES = (
    Scene("home", "What waits for you, for others, and what you decided", _full),
    Scene("home-empty", "Nothing waits", _empty),
    Scene("home-paged", "More than a page", _paged),
    Scene("approvals", "/approvals, seen by who typed it", _command),
    Scene("approvals-show", "/approvals show ID", _show),
)

__all__ = ["DEFAULT", "SCENES"]
