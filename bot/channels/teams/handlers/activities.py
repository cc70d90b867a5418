"""Passes every activity of Teams to its handler. The activities are already validated: see
`transport/guard.py`.
"""

from __future__ import annotations

import logging

from hitl_core.errors import HitlError
from hitl_core.model import Reviewer

from ....inbox import HomeLoader, Inbox
from ....logs import ThrottledLog
from ....people import Lookups
from ..channel import TeamsChannel
from ..ids import NAME
from ..transport import Activity, Answer
from .answers import explain, text_answer
from .card_actions import CardActions
from .commands import Commands
from .files import Files
from .home import TeamsHome
from .installs import Installs

log = logging.getLogger(__name__)

#: The invokes of a card's button, and of a file that a person accepts or declines. This bot handles no
#: others.
CARD_ACTION, FILE_CONSENT = "adaptiveCard/action", "fileConsent/invoke"


class Activities:
    def __init__(
        self, inbox: Inbox, homes: HomeLoader, lookups: Lookups, channel: TeamsChannel
    ) -> None:
        self._inbox, self._channel = inbox, channel
        home = TeamsHome(inbox, homes, channel)
        self._files = Files(inbox, channel)
        self._actions = CardActions(inbox, channel, home, self._files)
        self._commands = Commands(inbox, homes, home, channel)
        self._installs = Installs(channel, lookups, self._commands)
        self._unnoted = ThrottledLog(
            log, "%d activities of Teams could not be noted; the newest: %s"
        )

    async def handle(self, activity: Activity) -> Answer:
        """Handle an activity. Activities of unknown types get 200, unknown invokes 501. Raises only for
        activities for whose answer nobody waits: Teams sends these again.
        """
        try:
            return await self._handle(activity)
        except Exception as error:
            match activity.type:
                case "invoke" if activity.name == CARD_ACTION:
                    return text_answer(explain(error, "a press"))
                case "invoke":
                    text = explain(error, "an answer about a file")
                case "message":
                    text = explain(error, "a message")
                case _:
                    raise
            await self._commands.say(_person(activity), text, activity)
            return Answer()

    async def _handle(self, activity: Activity) -> Answer:
        if activity.type == "invoke" and self._channel.is_address_new(activity):
            await self._note(activity)
        match activity.type:
            case "invoke" if activity.name == CARD_ACTION:
                return await self._actions.answer(activity, await self._load_reviewer(activity))
            case "invoke" if activity.name == FILE_CONSENT:
                return await self._files.answer(activity, await self._load_reviewer(activity))
            case "invoke":
                return Answer(status=501)
            case "message":
                await self._note(activity)
                await self._commands.answer(activity, await self._load_reviewer(activity))
            case "installationUpdate" | "conversationUpdate":
                await self._installs.handle(activity)
            case _:
                pass
        return Answer()

    async def _load_reviewer(self, activity: Activity) -> Reviewer:
        """The person by their object id. The name in the activity is only displayed."""
        person = _person(activity)
        team, name = self._channel.team, activity.sender.name or person
        return await self._inbox.directory.load_reviewer(NAME, person, team, name)

    async def _note(self, activity: Activity) -> None:
        try:
            await self._channel.record(activity)
        except HitlError as error:
            self._unnoted.warn(error)


def _person(activity: Activity) -> str:
    person = activity.sender.person
    assert person is not None  # the guard checked it
    return person
