"""One call of the Connector: its conversation, activity and member, and the checks that several operations
share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import TeamsError, bad_request, writes_blocked
from ..json_checks import Json
from ..workspace import Conversation, Message, User, Workspace


@dataclass(frozen=True)
class Call:
    """`conversation_id`, `item` are from the path (`item`: an activity, a member); `body` is the JSON."""

    workspace: Workspace
    conversation_id: str
    item: str
    body: Json
    query: dict[str, str]

    def conversation(self) -> Conversation:
        """The conversation, if the app is in it. Raises 404 or 403."""
        found = self.workspace.find_conversation(self.conversation_id)
        if found is None:
            raise TeamsError(404, "ConversationNotFound", "Conversation not found.")
        if not self.workspace.has_app(found) and found.type != "personal":
            raise TeamsError(
                403, "BotNotInConversationRoster", "The bot is not part of the conversation roster."
            )
        return found

    def writable_conversation(self) -> Conversation:
        """The conversation, if the app may write in it: it is not archived, and the person has not removed or
        blocked the app.
        """
        found = self.conversation()
        team_archived = found.team is not None and found.team.is_archived
        if found.is_archived or team_archived or not self._person_accepts(found):
            raise writes_blocked()
        return found

    def _person_accepts(self, conversation: Conversation) -> bool:
        if conversation.type != "personal":
            return True
        user = self.workspace.person(conversation.members[0])
        return user is not None and user.has_app and not user.has_blocked and user.account_enabled

    def root(self, conversation: Conversation) -> str | None:
        """The first message of the thread that the id names by `;messageid=`. Raises 404."""
        _, _, root = self.conversation_id.partition(";messageid=")
        if not root:
            return None
        if conversation.type != "channel" or root not in conversation.messages:
            raise TeamsError(404, "ConversationNotFound", "Conversation not found.")
        return root

    def own_message(self, conversation: Conversation) -> Message:
        """The app's own message that the path names. Raises 404 or 403."""
        message = conversation.messages.get(self.item)
        if message is None or message.deleted:
            raise TeamsError(
                404, "ActivityNotFoundInConversation", "The message was not found in it."
            )
        if message.sender != self.workspace.app.mri:
            raise TeamsError(403, "NotEnoughPermissions", "The message is not the bot's.")
        return message

    def member(self, conversation: Conversation, name: str) -> User:
        """A member by MRI, aadObjectId or user principal name. Raises 404."""
        user = self.workspace.person(name)
        if user is None or user not in self.workspace.members(conversation):
            raise TeamsError(
                404, "MemberNotFoundInConversation", "Member not found in conversation."
            )
        return user


def check_fields(value: Json, known: frozenset[str], where: str) -> None:
    """Raises 400 for a field that Teams does not know. Teams itself ignores it, so nobody would notice a
    mistake.
    """
    unknown = sorted(set(value) - known)
    if unknown:
        raise bad_request(f"{where}: unknown field {', '.join(unknown)}")


def text_of(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise bad_request(f"{where} must be a string")
    return value
