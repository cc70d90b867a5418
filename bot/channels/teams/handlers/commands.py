"""Handles what people write to the bot: `approvals`, `approvals show ID`, `help`. The answers come in the
person's own chat.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hitl_core.model import Place, Reviewer

from .... import click_budget
from ....inbox import HomeLoader, Inbox
from ...contract import NotFound
from ..channel import TeamsChannel
from ..ids import IN_HOME, NAME, without_mark
from ..render import card_message, message_card
from ..transport import Activity
from .answers import explain
from .click import place_of_thread
from .home import TeamsHome

HELP_TITLE = "Approvals"
HELP = (
    "What agents ask for appears here and in your channels, as cards with buttons. Write “approvals” to list"
    " what waits for you, or “approvals show ID” for one review."
)
NO_CHAT = (
    "Answers come in your own chat with this app, where it can't write to you. Add the app for yourself (in"
    " Teams: Apps), then write again."
)
#: A mention of the bot, and other tags.
_TAG = re.compile(r"<at[^>]*>.*?</at>|<[^>]{0,200}>|&nbsp;", re.DOTALL)
#: Within which time Teams repeats a message that got no answer, in seconds: it gives up after about 15 s.
REPEATED_WITHIN = 60.0
#: The most characters of a message that are read.
MAX_TEXT = 2000


class Command(NamedTuple):
    verb: str
    rest: str = ""


def parse_command(text: str) -> Command:
    """The words after the mention of the bot."""
    words = _TAG.sub(" ", text[:MAX_TEXT]).split()
    match [word.lower() for word in words]:
        case ["approvals"]:
            return Command("approvals")
        case ["approvals", "show", *rest] if rest:
            return Command("show", " ".join(words[2:]))
        case _:
            return Command("help")


class Commands:
    def __init__(
        self, inbox: Inbox, homes: HomeLoader, home: TeamsHome, channel: TeamsChannel
    ) -> None:
        self._inbox, self._homes, self._home, self._channel = inbox, homes, home, channel

    async def answer(self, activity: Activity, who: Reviewer) -> None:
        """Raises Refused, ChannelError, StoreUnavailable, TimeoutError."""
        async with click_budget.timeout("home"):
            if await self._channel.is_repeated(activity, REPEATED_WITHIN):
                return
            await self._run(parse_command(activity.text), who)

    async def welcome(self, person: str) -> None:
        """Never raises."""
        try:
            async with click_budget.timeout("home"):
                await self._channel.send(
                    _chat_of(person), message_card(HELP, HELP_TITLE), HELP_TITLE
                )
        except Exception as error:
            explain(error, f"the welcome of {person}")

    async def say(self, person: str, text: str, activity: Activity) -> None:
        """Send one sentence to the person's own chat. If they have no such chat, an answer where they wrote
        says only that, because others read it too. Never raises: otherwise Teams would send their message
        again.
        """
        try:
            async with click_budget.timeout("home_error"):
                await self._channel.send(_chat_of(person), message_card(text), text)
        except NotFound:
            await self._say_no_chat(activity)
        except Exception as error:
            explain(error, f"a sentence for {person}")

    async def _say_no_chat(self, activity: Activity) -> None:
        try:
            async with click_budget.timeout("home_error"):
                await self._channel.send(place_of_thread(activity), message_card(NO_CHAT), NO_CHAT)
        except Exception as error:
            explain(error, "a sentence in a conversation")

    async def _run(self, command: Command, who: Reviewer) -> None:
        match command.verb:
            case "approvals":
                await self._home.open(who)
            case "show":
                await self._show(command.rest, who)
            case _:
                await self._channel.send(
                    _chat_of(who.id), message_card(HELP, HELP_TITLE), HELP_TITLE
                )

    async def _show(self, id: str, who: Reviewer) -> None:
        """Send the card as in a Home."""
        review_id = await self._homes.find_review_id(who, id)
        card = await self._inbox.reader.card(review_id, who)
        channel = self._channel
        key = channel.key_in(await channel.conversation_id(_chat_of(who.id)))
        drawn = card_message(card, channel.name_of, key, channel.link, IN_HOME)
        await channel.send(_chat_of(who.id), without_mark(drawn), card.summary)


def _chat_of(person: str) -> Place:
    return Place(f"{NAME}:{person}")
