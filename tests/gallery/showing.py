"""What the gallery shows: scenes, each made by the code that makes what is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.card import card, thread
from bot.channels.slack import blocks
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.ids import Meta
from bot.inbox import Target
from bot.sandbox.server import BOT_TOKEN, Sandbox, running_sandbox
from hitl_core.model import Place, Review
from tests.channels.scenes import DEFAULT, NOW, POSTED

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Json = dict[str, Any]
#: A private message is one that only one person sees.
Kind = Literal["message", "private", "modal", "home"]

#: Where the agent was asked.
ASKED_IN = "slack:C0ASK/1799999990.000100"


class Slack(NamedTuple):
    """The local Slack, and the bot's way to it."""

    sandbox: Sandbox
    channel: SlackChannel


@dataclass(frozen=True)
class Shown:
    """`what` is the JSON as sent: `{"text", "blocks"}` or a view. `replies` stand below a message; `errors`,
    by block id, are what the bot answered to a modal's submission.
    """

    kind: Kind
    what: Json
    replies: Sequence[Json] = ()
    errors: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Scene:
    """`name` is that of its files, `told` what there is to see."""

    name: str
    told: str
    make: Callable[[Slack], Shown | Awaitable[Shown]]


@asynccontextmanager
async def slack() -> AsyncGenerator[Slack]:
    """A local Slack in which it is ten minutes after all reviews of the gallery were asked."""
    async with running_sandbox(now=lambda: NOW + 600) as sandbox:
        channel = SlackChannel(
            AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url), "#agent-approvals"
        )
        await channel.start()
        yield Slack(sandbox, channel)


def message(name: str, told: str, make: Callable[[], Review], place: Place = DEFAULT) -> Scene:
    """The card of a review at one of its places."""

    def shown(to: Slack) -> Shown:
        return Shown("message", _card(make(), place, to))

    return Scene(name, told, shown)


def with_thread(name: str, told: str, make: Callable[[], Review], place: Place = DEFAULT) -> Scene:
    """The same with what is told below it."""

    def shown(to: Slack) -> Shown:
        review = make()
        lines = [
            blocks.thread_message(line, to.channel.name_of) for line in thread(review, place)
        ]
        return Shown("message", _card(review, place, to), lines)

    return Scene(name, told, shown)


def modal(name: str, told: str, make: Callable[[Slack], Json]) -> Scene:
    return Scene(name, told, lambda to: Shown("modal", make(to)))


def meta_of(review: Review, key: str = "1", **more: Any) -> Meta:
    """As the button of this action carries it."""
    action = review.action(key)
    assert action is not None
    return Meta(Target(review.id, key, action.revision), **more)


def named(scenes: Iterable[Scene]) -> dict[str, Scene]:
    return {scene.name: scene for scene in scenes}


def _card(review: Review, place: Place, to: Slack) -> Json:
    return blocks.message(card(review, place, POSTED), to.channel.name_of, to.channel.link)
