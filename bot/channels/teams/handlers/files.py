"""All arguments as a file, if they are too long to read in cards. The file goes to the person's own OneDrive,
after they accepted it in their own chat: bots can't post files anywhere else.
"""

from __future__ import annotations

import contextlib
import logging
import secrets

from hitl_core.errors import HitlError, Refused
from hitl_core.model import MessageRef, Place, Reviewer

from .... import click_budget
from ....card import Button
from ....inbox import ActionRef, Inbox, Press
from ...contract import ChannelError, NotFound, Undeliverable
from ..channel import TeamsChannel
from ..ids import NAME, unreadable
from ..render import Json, message_card
from ..transport import (
    UPLOAD_TIMEOUT,
    Activity,
    Answer,
    FileConsent,
    ForbiddenAddress,
    InvalidActivity,
    card_activity,
    consent_activity,
    file_activity,
    parse_file_consent,
)
from .answers import explain, text_answer
from .click import Click, conversation_of

log = logging.getLogger(__name__)

#: How long a person may accept a file, in seconds.
OFFER_TTL = 24 * 3600.0
#: An upload may take this long, in seconds. Meanwhile another acceptance does nothing.
LOCK_TTL = UPLOAD_TIMEOUT + 5.0

DESCRIPTION = "All arguments of a tool call, as text. It is stored in your OneDrive."
OFFERED = "The file waits in your own chat with this app: accept it there."
DECLINED = "You declined the file. Nothing was stored."
ON_ITS_WAY = (
    "This file was accepted a moment ago. If it doesn't arrive, ask for it again in the review."
)
ANSWERED = "This file was answered before, or is older than a day. Ask for it again in the review."
NO_CHAT = (
    "Files come in your own chat with this app, where it can't write to you. Add the app for yourself"
    " (in Teams: Apps), then press again."
)
WRONG_ADDRESS = (
    "The file was not sent: Teams named an address that is not SharePoint's."
    " Tell the people who run the bot."
)
NOT_UPLOADED = (
    "OneDrive didn't confirm that it has the file. Look there, or ask for it again in the review."
)
UPLOADED = "The file is in your OneDrive now."


class Files:
    def __init__(self, inbox: Inbox, channel: TeamsChannel) -> None:
        self._inbox, self._channel, self._store = inbox, channel, channel.store

    async def offer(self, target: ActionRef, click: Click) -> Answer:
        """Asks the person whether they want the file. Raises Refused, ChannelError, StoreUnavailable,
        TimeoutError.
        """
        channel, id = self._channel, secrets.token_urlsafe(12)
        button = Button("file", "", "", target.review_id, target.action, target.revision)
        async with click_budget.timeout("file"):
            file = await self._inbox.reader.text(target, click.who)
            try:
                key = channel.key_in(await channel.conversation_id(_chat_of(click.who)))
                data = key.data("file", f"{id} {button.value}")
                body = consent_activity(file.name, len(file.data), DESCRIPTION, data)
                ref = await channel.send_activity(_chat_of(click.who), body)
            except NotFound as error:
                raise Refused("unavailable", NO_CHAT) from error
            await self._store.save_temporary_value(
                _key(id), ref.model_dump_json().encode(), OFFER_TTL
            )
        return text_answer(OFFERED)

    async def answer(self, activity: Activity, who: Reviewer) -> Answer:
        """Handle the answer to that question. Teams reads nothing in ours; the result comes in their chat."""

        async def finish() -> None:
            if text := await self._finish(activity, who):
                await self._channel.send(_chat_of(who), message_card(text), text)

        return Answer(on_sent=finish, is_slow=True)

    async def _finish(self, activity: Activity, who: Reviewer) -> str:
        """The result as a sentence; "" if the question itself was replaced. Never raises."""
        try:
            return await self._run(parse_file_consent(activity), activity, who)
        except Exception as error:
            return explain(error, "an answer about a file")

    async def _run(self, consent: FileConsent, activity: Activity, who: Reviewer) -> str:
        """Raises InvalidActivity, Refused, ChannelError, StoreUnavailable."""
        kind, value = self._channel.key_in(conversation_of(activity)).read(consent.context)
        id, _, button = value.partition(" ")
        if kind != "file":
            raise unreadable()
        target = Press.parse(button).target
        if await self._channel.is_repeated(activity, LOCK_TTL):
            return ""
        if not await self._store.try_lock(f"teams-file:{id}", LOCK_TTL):
            return ON_ITS_WAY
        if (offer := await self._store.temporary_value(_key(id))) is None:
            return ANSWERED
        question = MessageRef.model_validate_json(offer)
        if question.conversation != conversation_of(activity):
            raise unreadable()
        if consent.action == "decline":
            await self._settle(id, question, who, card_activity(message_card(DECLINED), DECLINED))
            return ""
        return await self._upload(id, question, consent, target, who)

    async def _upload(
        self,
        id: str,
        question: MessageRef,
        consent: FileConsent,
        target: ActionRef,
        who: Reviewer,
    ) -> str:
        """Upload the file, made again from the review as it is now, if the person may still see it."""
        file, info = await self._inbox.reader.text(target, who), consent.upload_info
        if info is None:
            raise InvalidActivity("uploadInfo is missing")
        try:
            await self._channel.uploads.write(info, file.data)
        except ChannelError as error:
            log.warning("review %s: a file was not uploaded: %s", target.review_id, error)
            return WRONG_ADDRESS if isinstance(error, ForbiddenAddress) else NOT_UPLOADED
        try:
            await self._settle(id, question, who, file_activity(info))
        except ChannelError as error:
            log.warning("review %s: a file's card was not shown: %s", target.review_id, error)
            return UPLOADED
        return ""

    async def _settle(self, id: str, question: MessageRef, who: Reviewer, body: Json) -> None:
        """Replace the question by this message, because it has its answer. Raises ChannelError."""
        with contextlib.suppress(HitlError):  # it expires by itself
            await self._store.drop_temporary_value(_key(id))
        try:
            await self._channel.replace_activity(question, body)
        except Undeliverable:  # for example, it was deleted
            await self._channel.send_activity(_chat_of(who), body)


def _chat_of(who: Reviewer) -> Place:
    return Place(f"{NAME}:{who.id}")


def _key(id: str) -> str:
    return f"teams-file:{id}"
