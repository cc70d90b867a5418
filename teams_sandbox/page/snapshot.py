"""The tenant as one person sees it: what the page draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interactions import FILE_INFO, consent_of
from ..json_checks import Json
from ..workspace import Conversation, Message, User, Workspace

if TYPE_CHECKING:
    from ..sandbox import Sandbox


def snapshot(sandbox: Sandbox, user_id: str) -> Json:
    """What this person sees; for an unknown person, what the first one sees."""
    workspace = sandbox.workspace
    people = [user for user in workspace.users.values() if user.account_enabled]
    me = next((user for user in people if user.id == user_id), people[0])
    mine = [one for one in workspace.conversations.values() if sees(workspace, me, one)]
    return {
        "me": me.id,
        "tenant": workspace.name,
        "users": [{"id": user.id, "name": user.display_name} for user in people],
        "conversations": [_conversation(workspace, one) for one in mine],
        "messages": {
            one.id: [_message(workspace, message, me) for message in one.messages.values()]
            for one in mine
        },
    }


def sees(workspace: Workspace, user: User, conversation: Conversation) -> bool:
    """Whether the person is in this conversation, and it is still there."""
    found = workspace.find_conversation(conversation.id)
    return found is not None and user in workspace.members(found)


def _conversation(workspace: Workspace, one: Conversation) -> Json:
    name = workspace.app.name if one.type == "personal" else workspace.conversation_name(one)
    return {"id": one.id, "name": name, "type": one.type, "has_app": workspace.has_app(one)}


def _visible_part(content: Json) -> Json:
    """The part of a question about a file that a person reads; the rest is for the bot."""
    return {"description": content["description"], "size": content["sizeInBytes"]}


def _message(workspace: Workspace, message: Message, me: User) -> Json:
    sender = workspace.person(message.sender)
    is_bot = message.sender == workspace.app.mri
    question = consent_of(message)
    return {
        "id": message.id,
        "conversation": message.conversation,
        "root": message.root,
        "sender": sender.id if sender else message.sender,
        "name": workspace.app.name if is_bot else sender.display_name if sender else "somebody",
        "bot": is_bot,
        "text": message.text,
        "card": message.card_for(me.id),
        "private": me.id in message.cards,
        "consent": question and {"name": question["name"], **_visible_part(question["content"])},
        "files": [one["name"] for one in message.attachments if one["contentType"] == FILE_INFO],
        "edited": message.edited_at is not None,
        "deleted": message.deleted,
        "at": message.created_at,
    }
