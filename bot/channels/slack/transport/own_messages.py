"""Finds and deletes the messages that this bot posted, and replies to them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from hitl_core.errors import SettingsError
from hitl_core.model import MessageRef

from ...answers import Data, read_field, read_list, read_object
from ...contract import ChannelError, MessageGone, NotFound, Undeliverable
from ..places import NAME
from .api import Api, Request
from .slack_errors import NO_PLACE

log = logging.getLogger(__name__)

T = TypeVar("T")

#: The error for a thread whose first message was deleted and had no replies
#: (docs.slack.dev/reference/methods/conversations.replies).
_NO_THREAD = "thread_not_found"
_GONE = "the message was deleted"
_THREAD_GONE = {_NO_THREAD: "this thread was deleted"}


class OwnMessages:
    """`bot_user_id` and `bot_id` are set when they are known."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.bot_user_id = self.bot_id = ""

    async def find(
        self, conversation: str, thread: str | None, metadata: Data, since: float
    ) -> list[MessageRef]:
        """The messages with this metadata since then (by Slack's clock), oldest first."""

        async def find_in(method: str, **thread_args: Any) -> list[MessageRef | None]:
            args = {
                "channel": conversation,
                "oldest": f"{since:.6f}",
                "include_all_metadata": True,
                "limit": 200,
                **thread_args,
            }
            return await self._api.look_up_all(
                Request(method, args, about=conversation),
                "messages",
                read,
                absent_errors={**NO_PLACE, **_THREAD_GONE},
                waits_for_limit=True,
            )

        def read(post: Data) -> MessageRef | None:
            payload = post.get("metadata", {}).get("event_payload")
            is_found = self._is_ours(post) and payload == metadata
            return message_ref(conversation, post["ts"]) if is_found else None

        try:
            refs = await (
                find_in("conversations.replies", ts=thread)
                if thread
                else find_in("conversations.history")
            )
        except NotFound as error:
            if error.error != _NO_THREAD:
                raise
            # Slack puts a reply to a message that is not there into the conversation itself.
            refs = await find_in("conversations.history")
        return sorted(filter(None, refs), key=lambda ref: ref.ts)

    async def reply(
        self, conversation: str, threads: Iterable[str], content: Mapping[str, Any]
    ) -> None:
        """Post below the first of these messages that is there. Raises MessageGone if none is: then Slack
        puts the reply into the conversation itself, where it is deleted.
        """
        for thread in threads:
            stray = await self._api.call_and_read(
                "chat.postMessage", _stray_reply, channel=conversation, thread_ts=thread, **content
            )
            if not stray:
                return
            with suppress(ChannelError):  # the post succeeded, so it must not be tried again
                await self.delete(message_ref(conversation, stray))
        raise MessageGone(_GONE)

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message of ours. One of the bot that this app had before it was installed again stays:
        this bot can't change or delete it, or not even see where it is, so it is as good as gone.
        """
        try:
            await self._api.call("chat.delete", channel=ref.conversation, ts=ref.ts)
        except MessageGone:
            pass
        except Undeliverable as error:
            if not await self._is_out_of_reach(ref, error):
                raise
            log.warning("the message %s in %s is another bot's", ref.ts, ref.conversation)

    async def _is_out_of_reach(self, ref: MessageRef, error: Undeliverable) -> bool:
        """Whether a message that can't be deleted is another bot's. Raises LookupFailed."""
        if error.error != "cant_delete_message":
            is_direct = ref.conversation.startswith("D")  # each bot sees its own direct messages
            return is_direct and error.error == "channel_not_found"
        with suppress(NotFound):
            return not await self._look_up(ref, self._is_ours)
        return True

    async def find_thread(self, conversation: str, threads: Iterable[str]) -> str:
        """The first of these messages that is there. Raises MessageGone if none is, and LookupFailed."""
        for thread in threads:
            with suppress(NotFound):
                await self._look_up(message_ref(conversation, thread), lambda _: None)
                return thread
        raise MessageGone(_GONE)

    async def _look_up(self, ref: MessageRef, read: Callable[[Data], T]) -> T:
        """What `read` makes of the message. Raises NotFound, and LookupFailed if Slack doesn't show it."""

        def read_post(answer: Data) -> T:
            [post] = [one for one in read_list(answer, "messages") if one["ts"] == ref.ts]
            return read(post)

        only = {"ts": ref.ts, "oldest": ref.ts, "latest": ref.ts, "inclusive": True, "limit": 10}
        args = {"channel": ref.conversation, **only}
        # Unlike `conversations.history`, this finds replies too.
        request = Request("conversations.replies", args, about=ref.conversation)
        return await self._api.look_up(request, read_post, _THREAD_GONE)

    def _is_ours(self, post: Data) -> bool:
        return post.get("bot_id") == self.bot_id or post.get("user") == self.bot_user_id


def _stray_reply(answer: Data) -> str:
    """The ts of a reply that Slack did not put into a thread; "" if it did."""
    in_thread = "message" not in answer or "thread_ts" in read_object(answer, "message")
    return "" if in_thread else read_field(answer, "ts", str)


def read_identity(answer: Data) -> tuple[str, str, str, str]:
    """The workspace's id, the bot's user id, the bot's id and the workspace's URL, from auth.test. Raises
    SettingsError for an app that is installed for a whole organization: its token names no workspace, and
    Slack's lists need one (api.slack.com/enterprise/apps/changes-apis).
    """
    if answer.get("is_enterprise_install"):
        raise SettingsError(
            "SLACK_BOT_TOKEN is the token of a whole organization. Install the app in one workspace, and use"
            " the token that you get there."
        )
    bot_id, url = str(answer.get("bot_id") or ""), str(answer.get("url") or "")
    return read_field(answer, "team_id", str), read_field(answer, "user_id", str), bot_id, url


def message_ref(conversation: str, ts: str) -> MessageRef:
    return MessageRef(channel=NAME, conversation=conversation, ts=ts)
