"""The scenes of the gallery, each made by the product's own code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.card import build_card, thread_lines
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render import card_message, plain_message, thread_message
from bot.health import Health
from hitl_core.model import Place, Review
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox
from tests.channels.scenes import DEFAULT, NOW, POSTED

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Json = dict[str, Any]
#: A private message is one that only one person sees.
Kind = Literal["message", "private", "modal", "home"]


class Slack(NamedTuple):
    """The local Slack in which pictures are taken, the bot's way to it, and a Redis for whole bots."""

    sandbox: Sandbox
    channel: SlackChannel
    redis_url: str


@dataclass(frozen=True)
class Shown:
    """`what` is the JSON as sent: `{"text", "blocks"}` or a view. `replies` are below a message; `state` is
    what was entered into a modal, and `errors`, by block id, what the bot answered. `asks`: the action id of
    the button whose question is open. `now` is when somebody looks, in seconds.
    """

    kind: Kind
    what: Json
    replies: Sequence[Json] = ()
    state: Json = field(default_factory=dict[str, Any])
    errors: Mapping[str, str] = field(default_factory=dict[str, str])
    asks: str | None = None
    now: float = NOW + 60


@dataclass(frozen=True)
class CardOf:
    """What a card is made of, for each channel. `asks`: the verb of the button whose question is open."""

    make: Callable[[], Review]
    place: Place
    asks: str | None = None
    has_thread: bool = False


@dataclass(frozen=True)
class Scene:
    """`name` is that of its files, `text` what there is to see. `card`: what it is made of, if it is the card
    of a review."""

    name: str
    text: str
    make: Callable[[Slack], Shown | Awaitable[Shown]]
    card: CardOf | None = None


async def make(scene: Scene, to: Slack) -> Shown:
    shown = scene.make(to)
    return await shown if isawaitable(shown) else shown


@asynccontextmanager
async def slack(redis_url: str) -> AsyncGenerator[Slack]:
    """A local Slack in which all reviews of the gallery were asked just now."""
    async with running_sandbox(now=lambda: NOW + 1) as sandbox:
        channel = SlackChannel(
            AsyncWebClient(BOT_TOKEN, base_url=sandbox.api_url), "#agent-approvals", Health()
        )
        await channel.start()
        yield Slack(sandbox, channel, redis_url)


def message(name: str, text: str, make: Callable[[], Review], place: Place = DEFAULT) -> Scene:
    """The card of a review at one of its places."""

    def shown(to: Slack) -> Shown:
        return Shown("message", _card(make(), place, to))

    return Scene(name, text, shown, CardOf(make, place))


def question(name: str, text: str, make: Callable[[], Review], button: str) -> Scene:
    """The question that a button of a card asks before it counts. `button`: its action id."""

    def shown(to: Slack) -> Shown:
        return Shown("message", _card(make(), DEFAULT, to), asks=button)

    return Scene(name, text, shown, CardOf(make, DEFAULT, asks=button))


def spoken(name: str, text: str, make: Callable[[], Review]) -> Scene:
    """What a screen reader says for each button of a card."""

    def shown(to: Slack) -> Shown:
        rows = [one for one in _card(make(), DEFAULT, to)["blocks"] if one["type"] == "actions"]
        labels = [
            element["accessibility_label"]
            for row in rows
            for element in row["elements"]
            if element["type"] == "button"
        ]
        return Shown("message", plain_message("\n".join(labels)))

    return Scene(name, text, shown)


def with_thread(name: str, text: str, make: Callable[[], Review], place: Place = DEFAULT) -> Scene:
    """The same, with the lines below it."""

    def shown(to: Slack) -> Shown:
        review = make()
        lines = [thread_message(line, to.channel.name_of) for line in thread_lines(review, place)]
        return Shown("message", _card(review, place, to), lines)

    return Scene(name, text, shown, CardOf(make, place, has_thread=True))


def _card(review: Review, place: Place, to: Slack) -> Json:
    return card_message.message(
        build_card(review, place, POSTED), to.channel.name_of, to.channel.link
    )
