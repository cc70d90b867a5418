"""An agent and a bot in one process, with a store in memory and a Slack that answers from a table."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from benchmarks.measures.drawing import KINDS, VALUES
from benchmarks.programs.slack import ANSWERS, CHANNEL, PERSON, TEAM
from bot.card import build_card
from bot.channels.registry import Channels
from bot.channels.slack import HomeTab, Listeners, SlackChannel, card_message
from bot.health import Health
from bot.inbox import HomeLoader, Inbox
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import DEFAULT_PLACE, MessageRef, Review
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.validation import initial_state

ARGS = {f"field_{number}": value for number, value in enumerate(VALUES)}
SCHEMA = {"type": "object", "properties": dict(zip(ARGS, KINDS, strict=True))}
POLICY = {"default": "review", "interrupt_on": {"send_email": {"args_schema": SCHEMA}}}
CALL = ToolCall("call-1", "send_email", ARGS)
REQUESTER = "U0MARIA"
#: The timestamp of every card.
TS = "1800000000.000001"


class SlackTable(AsyncWebClient):
    """Answers at once from a table. `views`: the views that the bot opened."""

    def __init__(self) -> None:
        super().__init__()
        self.views: list[dict[str, Any]] = []

    async def api_call(self, api_method: str, **kwargs: Any) -> Any:
        if api_method == "views.open":
            self.views.append(kwargs["json"]["view"])
            return SimpleNamespace(data={"ok": True, "view": {"id": "V1"}})
        return SimpleNamespace(data={"ok": True, **ANSWERS[api_method]})


class Fixture:
    """An agent's gate and a bot on one store in memory."""

    def __init__(self) -> None:
        self.policy = Policy.from_mapping(POLICY)
        self.store = MemoryStore()
        self.gate = Gate(self.store, policy=self.policy, agent="bench")
        self.reviews = Reviews(self.store)
        self.slack = SlackTable()
        self._names = iter(range(1000))
        self._bolt = AsyncApp(
            client=self.slack,
            signing_secret="bench",
            authorize=_authorize,
            process_before_response=True,
        )

    async def start(self) -> None:
        channel = SlackChannel(self.slack, CHANNEL, Health())
        await channel.start()
        channels = Channels(channel)
        directory = Directory(channels)
        inbox = Inbox(self.reviews, directory)
        home = HomeTab(HomeLoader(self.reviews, channels, directory), inbox, channel)
        for handlers in (Listeners(inbox, channel, home), home):
            handlers.register(self._bolt)

    def name(self) -> str:
        """A new name each time."""
        return f"name-{next(self._names)}"

    async def submit(self) -> Review:
        """A new review whose card is shown."""
        review_id = await self.gate.submit([CALL], thread_id=self.name(), requester=REQUESTER)
        ref = MessageRef(channel="slack", conversation=CHANNEL, ts=TS)
        await self.store.record_post(review_id, DEFAULT_PLACE, ref)
        return await self.load(review_id)

    async def load(self, review_id: str) -> Review:
        return (await self.reviews.load(review_id)).review

    async def send(self, payload: Mapping[str, Any]) -> None:
        """Raises RuntimeError if Bolt has no listener for this payload, or if it failed."""
        request = AsyncBoltRequest(body=dict(payload), mode="socket_mode")
        response = await self._bolt.async_dispatch(request)
        if response.status != 200 or response.body:
            raise RuntimeError(f"{payload['type']} was answered with {response.body!r}.")

    def press(self, review: Review, action_id: str) -> dict[str, Any]:
        """The payload of a click on this button of the review's card."""
        blocks = draw(review)["blocks"]
        elements = [one for block in blocks for one in block.get("elements", ())]
        button = next(one for one in elements if one.get("action_id") == action_id)
        return {
            **self._from_alice("block_actions"),
            "container": {"type": "message", "message_ts": TS, "channel_id": CHANNEL},
            "channel": {"id": CHANNEL, "name": "agent-approvals"},
            "response_url": "http://127.0.0.1:9/never",
            "actions": [button],
        }

    def send_form(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """The payload of this modal after one field was changed."""
        values = initial_state(view["blocks"])
        field = next(
            entry for block in values.values() for entry in block.values() if "value" in entry
        )
        field["value"] = f"{field['value']} again"
        sent = {**view, "id": self.name(), "hash": "1", "state": {"values": values}}
        return {**self._from_alice("view_submission"), "view": sent}

    def _from_alice(self, kind: str) -> dict[str, Any]:
        return {
            "type": kind,
            "team": {"id": TEAM, "domain": "bench"},
            "user": {"id": PERSON, "username": "alice", "name": "alice", "team_id": TEAM},
            "trigger_id": self.name(),
        }


def draw(review: Review) -> dict[str, Any]:
    """The Slack message with the review's card."""
    return card_message.message(build_card(review, DEFAULT_PLACE), str)


async def _authorize() -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=None, team_id=TEAM, bot_user_id="U0APPROVER")
