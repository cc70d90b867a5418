"""Slack as a channel: posts, updates and finds cards; looks up places and people."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.card import Card
from bot.channel import ChannelError, Limited, MessageGone, Undeliverable, Unreachable
from bot.channels.slack import blocks, ids
from bot.channels.slack.rich import inert
from bot.text import one_line
from hitl_core.errors import SettingsError
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place, Reviewer

log = logging.getLogger(__name__)

#: Slack's own trouble, or the operator's: what was asked waits.
_TRANSIENT = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
    }
)
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
#: How far Redis's clock, by which a review has its time, may be ahead of Slack's, in seconds.
CLOCKS = 3600.0
#: How long names and channels are believed, in seconds.
_FRESH = 600.0


class SlackChannel:
    """One workspace. `default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    name = "slack"

    def __init__(self, client: AsyncWebClient, default: str) -> None:
        self._client: Any = client  # its answers are typed as anything or nothing
        self._default = default
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._listed = 0.0
        self._people: dict[str, tuple[float, str]] = {}
        self.team = ""
        self.user = ""
        self.bot_id = ""

    async def start(self) -> None:
        """Raises SettingsError in one sentence: a wrong token, or a channel that isn't there."""
        try:
            me = await self._call("auth.test")
        except Unreachable as error:
            raise SettingsError(
                f"Slack refuses SLACK_BOT_TOKEN or can't be reached: {error}."
            ) from error
        self.team, self.user, self.bot_id = me["team_id"], me["user_id"], me.get("bot_id", "")
        try:
            conversation = await self.resolve(DEFAULT_PLACE)
            info = (await self._call("conversations.info", channel=conversation))["channel"]
        except (Undeliverable, Unreachable) as error:
            raise SettingsError(f"HITL_CHANNEL is {self._default!r}: {error}.") from error
        self._names[conversation] = f"#{info['name']}"
        if not info.get("is_member", True):
            raise SettingsError(
                f"The bot is not in {self._names[conversation]} (HITL_CHANNEL): invite it there."
            )

    def name_of(self, place: Place) -> str:
        target = self._target(place)
        return self._names.get(target, target)

    async def post(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, blocks.message(card, self.name_of))

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        summary = blocks.message(card, self.name_of)["text"]
        told = f"{summary} This message can't be drawn; it waits as {card.review_id}."
        return await self._post(place, card, {"text": told})

    async def update(self, ref: MessageRef, card: Card) -> None:
        drawn = blocks.message(card, self.name_of)
        await self._call("chat.update", channel=ref.conversation, ts=ref.ts, **drawn)

    async def find(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        conversation = await self.resolve(place)
        found: list[MessageRef] = []
        async for message in self._paged(
            "conversations.history",
            "messages",
            channel=conversation,
            oldest=f"{since - CLOCKS:.6f}",
            include_all_metadata=True,
            limit=200,
        ):
            mark = message.get("metadata", {}).get("event_payload")
            if message.get("bot_id") == self.bot_id and mark == ids.mark(review_id, place):
                found.append(_ref(conversation, message["ts"]))
        return sorted(found, key=lambda ref: ref.ts)

    async def delete(self, ref: MessageRef) -> None:
        with suppress(MessageGone):
            await self._call("chat.delete", channel=ref.conversation, ts=ref.ts)

    async def members(self, ref: MessageRef) -> frozenset[str]:
        found = self._paged(
            "conversations.members", "members", channel=ref.conversation, limit=1000
        )
        return frozenset([cast(str, member) async for member in found])

    async def reviewer(self, user: dict[str, Any]) -> Reviewer:
        """A clicking user, with the name that people know; the id alone decides anything."""
        user_id = str(user["id"])
        since, name = self._people.get(user_id, (0.0, ""))
        if not name or time.monotonic() - since > _FRESH:
            name = str(user.get("name") or user.get("username") or user_id)
            try:
                async with asyncio.timeout(0.3):
                    info = (await self._call("users.info", user=user_id))["user"]
                name = str(info.get("real_name") or info.get("name") or name)
                self._people[user_id] = (time.monotonic(), name)
            except (TimeoutError, ChannelError):
                log.info("the name of %s could not be looked up", user_id)
        team = str(user.get("team_id") or "")  # unknown is another workspace
        return Reviewer(channel=self.name, team=team, id=user_id, name=name)

    async def open_view(self, trigger_id: str, view: dict[str, Any]) -> str:
        """The view's id. A trigger lives for 3 s and opens one view."""
        opened = await self._call("views.open", trigger_id=trigger_id, view=view)
        return str(opened["view"]["id"])

    async def update_view(self, view_id: str, view: dict[str, Any]) -> None:
        await self._call("views.update", view_id=view_id, view=view)

    async def whisper(self, conversation: str, user_id: str, text: str) -> None:
        """Only this person sees it. Never raises: what it tells about has happened anyway."""
        try:
            told = inert(one_line(text))
            await self._call("chat.postEphemeral", channel=conversation, user=user_id, text=told)
        except ChannelError as error:
            log.warning("%s could not be told: %s", user_id, error)

    async def resolve(self, place: Place) -> str:
        """The conversation's id. Raises Undeliverable where the bot knows no such channel."""
        target = self._target(place)
        if not target.startswith("#"):
            return target
        if target not in self._ids or time.monotonic() - self._listed > _FRESH:
            await self._list()
        if target not in self._ids:
            raise Undeliverable(f"there is no channel {target} that the bot can see")
        return self._ids[target]

    def _target(self, place: Place) -> str:
        """`#name` or an id."""
        return self._default if place == DEFAULT_PLACE else place.removeprefix(f"{self.name}:")

    async def _list(self) -> None:
        async for channel in self._paged(
            "conversations.list",
            "channels",
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=1000,
        ):
            self._ids[f"#{channel['name']}"] = channel["id"]
            self._names[channel["id"]] = f"#{channel['name']}"
        self._listed = time.monotonic()

    async def _post(self, place: Place, card: Card, message: dict[str, Any]) -> MessageRef:
        conversation = await self.resolve(place)
        posted = await self._call(
            "chat.postMessage",
            channel=conversation,
            unfurl_links=False,
            unfurl_media=False,
            # By this the bot finds its own message again. An update without it keeps it.
            metadata={
                "event_type": "hitl_review",
                "event_payload": ids.mark(card.review_id, place),
            },
            **message,
        )
        return _ref(str(posted["channel"]), str(posted["ts"]))

    async def _paged(self, method: str, key: str, **args: Any) -> AsyncIterator[Any]:
        cursor = ""
        while True:
            page = await self._call(method, **args, **({"cursor": cursor} if cursor else {}))
            for item in page.get(key, []):
                yield item
            cursor = page.get("response_metadata", {}).get("next_cursor", "")
            if not cursor:
                return

    async def _call(self, method: str, **args: Any) -> dict[str, Any]:
        # Slack takes JSON bodies only where it writes (docs.slack.dev/apis/web-api).
        kind = "json" if method.startswith(("chat.", "views.")) else "params"
        async with translated(method):
            answer = await self._client.api_call(method, **{kind: args})
        return answer.data


@asynccontextmanager
async def translated(method: str) -> AsyncGenerator[None, None]:
    """Slack's errors become the channel's."""
    try:
        yield
    except SlackApiError as error:
        response = cast(Any, error.response)  # aiohttp's own where the body was no JSON
        data = getattr(response, "data", None)
        status = int(getattr(response, "status_code", 0) or response.status)
        said = cast("dict[str, Any]", data).get("error") if isinstance(data, dict) else None
        name = str(said or f"HTTP {status}")
        if status == 429 or name == "ratelimited":
            raise Limited(float(response.headers.get("Retry-After", 1))) from error
        if name in _GONE:
            raise MessageGone(f"Slack answered {name} to {method}") from error
        if name in _TRANSIENT or said is None or status >= 500:
            raise Unreachable(f"Slack answered {name} to {method}") from error
        raise Undeliverable(f"Slack answered {name} to {method}") from error
    except AttributeError as error:
        # What the SDK makes of an answer of status 200 that is plain text.
        raise Unreachable(f"{method}: Slack's answer is no JSON") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise Unreachable(f"{method}: {error or type(error).__name__}") from error


def _ref(conversation: str, ts: str) -> MessageRef:
    return MessageRef(channel=SlackChannel.name, conversation=conversation, ts=ts)
