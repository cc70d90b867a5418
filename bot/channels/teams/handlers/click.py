"""One press of a person in Teams: who, on which message, in which view."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from hitl_core.model import MessageRef, Place, Reviewer

from ..ids import NAME, ON_CARD, OpenForm, Where
from ..transport import Activity

#: The suffix of a conversation's id in an activity of a thread.
_THREAD = ";messageid="


@dataclass(frozen=True)
class Click:
    """`op` is the id of this press. Teams repeats a press that got no answer, and it counts only once.
    `card`: the review's message with the button, in `conversation`. It is None in a Home and on a page of the
    Review, because these messages may belong to no review: the bot would take such a message for a duplicate
    card and delete it. `message_id`: the message's id in every view.
    """

    who: Reviewer
    op: str
    conversation: str
    where: Where = ON_CARD
    card: MessageRef | None = None
    message_id: str | None = None

    @property
    def message(self) -> MessageRef | None:
        """The message in every view."""
        if self.message_id is None:
            return None
        return MessageRef(channel=NAME, conversation=self.conversation, ts=self.message_id)


def conversation_of(activity: Activity) -> str:
    """The id of the conversation, without the thread's id."""
    return activity.conversation.id.partition(_THREAD)[0]


def place_of_thread(activity: Activity) -> Place:
    """Where the activity was written: its conversation; in a channel, with the thread."""
    conversation, _, thread = activity.conversation.id.partition(_THREAD)
    return Place.of(NAME, conversation, thread)


def message_of(activity: Activity, where: Where) -> MessageRef | None:
    if where.kind != "press" or activity.reply_to_id is None:
        return None
    return MessageRef(channel=NAME, conversation=conversation_of(activity), ts=activity.reply_to_id)


def op_of_press(activity: Activity, who: Reviewer, value: str) -> str:
    id = activity.id or uuid4()  # activities without an id must not count as the same
    return _hash_op(f"{activity.conversation.id} {id} {who.id} {value}")


def op_of_form(form: OpenForm, who: Reviewer, data: Mapping[str, Any]) -> str:
    """The operation id of a form. The same form, person and entries, on all pages, give the same id, so
    sending it again after an error is safe.
    """
    entries = json.dumps(data, sort_keys=True, default=str)
    return _hash_op(f"{form.session_id} {form.ref.page} {form.ref.draft} {who.id} {entries}")


def _hash_op(text: str) -> str:
    hashed = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{NAME}:{hashed[:24]}"
