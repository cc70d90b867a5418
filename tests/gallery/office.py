"""A complete bot with its own Redis and local Slack, in which a person presses a button."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import redis

from hitl_core import Gate, Policy, ToolCall
from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from tests.gallery.calls import ASKED_IN, RULES
from tests.gallery.showing import Json, Scene, Shown, Slack
from tests.support.bots import Scene as Workplace
from tests.support.slack import ALICE, APPROVALS, MARIA, buttons, options_for

_VIEWS = ("views.open", "views.push", "views.update")
Calls = tuple[tuple[str, Json], ...]


class Office:
    """`policy` is a mapping, as everywhere in the gallery. Alice looks and presses, unless another does."""

    def __init__(self, workplace: Workplace) -> None:
        self.workplace, self.actor = workplace, workplace.actor
        self._count = 0

    async def ask(self, calls: Calls, policy: Json | None = None, requester: str = MARIA) -> Json:
        """The card of a new review, once it is shown in #agent-approvals."""
        self._count += 1
        made = [ToolCall(f"c{n}", name, args) for n, (name, args) in enumerate(calls)]
        judge = Policy.from_mapping({"default": "review", "interrupt_on": RULES, **(policy or {})})
        connected = Gate.connect(self.workplace.redis_url, policy=judge, agent="support-agent")
        gate = await self.workplace.stack.enter_async_context(connected)
        thread = f"thread-{self._count}"
        review_id = await gate.submit(made, thread_id=thread, requester=requester, origin=ASKED_IN)

        def find_message(state: Json) -> Json | None:
            return next(
                (one for one in state["messages"][APPROVALS] if _is_of(one, review_id)), None
            )

        card = cast(Json, await self.actor.wait_for(find_message))
        await self.workplace.wait_noted(gate, {**card, "channel": APPROVALS})
        return card

    async def press(self, card: Json, action_id: str, user: str = ALICE, **more: Any) -> None:
        """A button of the card, or what its menu has for it."""
        if not buttons(card, action_id):
            block_id, option = options_for(card, action_id)[0]
            more |= {"option": option["text"]["text"], "block_id": block_id}
            action_id = "more"
        pressed = await self.actor.click(user, APPROVALS, card["ts"], action_id, **more)
        assert pressed["ok"], pressed

    def view(self) -> Json:
        """The newest modal or page of one, as sent."""
        return next(_view(call) for call in self._calls if call["method"] in _VIEWS)

    def answer_modal(self) -> Json:
        """The modal that the bot answered to a submission, as sent."""
        return json.loads(self.workplace.sandbox.app_client.deliveries[-1]["answer"])["view"]

    async def wrong(self, **values: Any) -> Shown:
        """The modal after a submission that the bot refuses."""
        view = self.view()
        answer = await self.actor.submit(ALICE, values)
        opened = await self.actor.view(ALICE)
        assert opened is not None
        return Shown("modal", view, state=opened["state"]["values"], errors=answer["errors"])

    async def home(self) -> Shown:
        """As it is published for Alice."""
        await self.actor.open_home(ALICE)
        await self.workplace.calls("views.publish")
        view = next(_view(call) for call in self._calls if call["method"] == "views.publish")
        return Shown("home", view, now=time.time())

    async def command(self, text: str) -> Shown:
        """As it is answered to Alice."""
        answer = await self.actor.run_command(ALICE, APPROVALS, text)
        (notice,) = answer["notices"]
        what = {"text": notice["text"], "blocks": notice["blocks"]}
        return Shown("private", what, now=time.time())

    @property
    def _calls(self) -> list[Json]:
        """What the bot asked of Slack, the newest first."""
        return self.workplace.sandbox.api.calls[::-1]


def scene(name: str, text: str, act: Callable[[Office], Awaitable[Shown]]) -> Scene:
    """What there is to see after somebody has done this in a new office."""

    async def show(to: Slack) -> Shown:
        async with _office(to.redis_url) as office:
            return await act(office)

    return Scene(name, text, show)


@asynccontextmanager
async def _office(redis_url: str) -> AsyncGenerator[Office]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    async with running_sandbox() as sandbox, Actor(sandbox.url) as actor:
        workplace = Workplace(sandbox, actor, redis_url, Path())
        try:
            await workplace.bot()
            yield Office(workplace)
        finally:
            await workplace.close()


def _is_of(message: Json, review_id: str) -> bool:
    mark = (message["metadata"] or {}).get("event_payload", {})
    return mark.get("review_id") == review_id


def _view(call: Json) -> Json:
    view = call["args"]["view"]
    return json.loads(view) if isinstance(view, str) else view
