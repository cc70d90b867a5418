"""The messages of channels and chats, newest first, as Graph returns them; and single ones.

https://learn.microsoft.com/graph/api/channel-list-messages, …/chatmessage-list-replies, …/chat-list-messages,
…/chatmessage-get
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ..errors import TeamsError
from ..json_checks import Json
from ..workspace import Conversation, Message, Workspace, long_id
from .query import Query

DEFAULT_PAGE, MAX_PAGE = 20, 50
# A permission that an administrator granted for the whole tenant counts everywhere; others only where the app
# is installed.
CHANNEL_READ = {"ChannelMessage.Read.Group": False, "ChannelMessage.Read.All": True}
CHAT_READ = {
    "ChatMessage.Read.Chat": False,
    "Chat.Read.WhereInstalled": False,
    "Chat.Read.All": True,
    "Chat.ReadWrite.All": True,
}


def list_channel_messages(query: Query) -> Json:
    """GET /teams/{team}/channels/{channel}/messages: without replies, unless they are expanded."""
    query.check_params("$top", "$expand")
    channel = _channel(query)
    roots = [one for one in channel.messages.values() if one.root == one.id]
    items = [to_graph(one, channel, query.workspace) for one in reversed(roots)]
    if query.params.get("$expand") == "replies":
        for item in items:
            replies = channel.replies(item["id"])
            item["replies"] = [to_graph(one, channel, query.workspace) for one in reversed(replies)]
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def list_replies(query: Query) -> Json:
    """GET /teams/{team}/channels/{channel}/messages/{message}/replies."""
    query.check_params("$top")
    channel = _channel(query)
    _find(channel, query.ids["message"])
    replies = reversed(channel.replies(query.ids["message"]))
    items = [to_graph(one, channel, query.workspace) for one in replies]
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def list_chat_messages(query: Query) -> Json:
    """GET /chats/{chat}/messages. Of a personal chat, Graph has another id than the Connector."""
    query.check_params("$top", "$orderby")
    order = query.params.get("$orderby", "lastModifiedDateTime desc")
    if order not in ("lastModifiedDateTime desc", "createdDateTime desc"):
        raise TeamsError(400, "BadRequest", f"QueryOptions to order by '{order}' is not supported.")
    chat = _chat(query)
    items = [to_graph(one, chat, query.workspace) for one in chat.messages.values()]
    items.sort(key=lambda one: one[order.split()[0]], reverse=True)
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def get_channel_message(query: Query) -> Json:
    """GET /teams/{team}/channels/{channel}/messages/{message}: the first message of a thread."""
    query.check_params()
    channel = _channel(query)
    return to_graph(_find(channel, query.ids["message"]), channel, query.workspace)


def get_reply(query: Query) -> Json:
    """GET /teams/{team}/channels/{channel}/messages/{message}/replies/{reply}."""
    query.check_params()
    channel, ids = _channel(query), query.ids
    return to_graph(_find(channel, ids["reply"], ids["message"]), channel, query.workspace)


def get_chat_message(query: Query) -> Json:
    """GET /chats/{chat}/messages/{message}."""
    query.check_params()
    chat = _chat(query)
    return to_graph(_find(chat, query.ids["message"]), chat, query.workspace)


def _find(where: Conversation, id: str, root: str = "") -> Message:
    """A message by its id; in a channel, the first one of a thread, or a reply to `root`."""
    found = where.messages.get(id)
    is_listed = where.type != "channel" or (found and found.root == (root or id) and id != root)
    if found is None or not is_listed:
        raise TeamsError(404, "NotFound", "NotFound")
    return found


def _chat(query: Query) -> Conversation:
    """A chat by its id in Graph."""
    workspace = query.workspace
    chats = [one for one in workspace.conversations.values() if one.type != "channel"]
    wanted = query.ids["chat"]
    chat = next((one for one in chats if workspace.graph_chat_id(one) == wanted), None)
    _require(query, CHAT_READ, chat)
    if chat is None:
        raise TeamsError(404, "NotFound", "NotFound")
    return chat


def _channel(query: Query) -> Conversation:
    """A channel by the team's aadGroupId and its own id."""
    workspace = query.workspace
    found = workspace.find_conversation(query.ids["channel"])
    if found is not None and (found.team is None or found.team.group_id != query.ids["team"]):
        found = None
    _require(query, CHANNEL_READ, found)
    if found is None:
        raise TeamsError(404, "NotFound", "NotFound")
    return found


def _require(query: Query, permissions: dict[str, bool], found: Conversation | None) -> None:
    workspace = query.workspace
    installed = found is not None and workspace.has_app(found)
    granted = workspace.app.permissions
    if not any(name in granted and (wide or installed) for name, wide in permissions.items()):
        text = f"Missing role permissions on the request. API requires one of '{', '.join(permissions)}'."
        raise TeamsError(403, "Forbidden", text)


def to_graph(message: Message, where: Conversation, workspace: Workspace) -> Json:
    """The message as Graph returns it: a card is a JSON string, and a deleted message is empty."""
    created, edited = message.created_at, message.edited_at
    in_channel, app = where.team, workspace.app
    sender = workspace.person(message.sender)
    attachments = [
        _to_attachment(one, index, message) for index, one in enumerate(message.attachments)
    ]
    tags = "".join(f'<attachment id="{one["id"]}"></attachment>' for one in attachments)
    return {
        "id": message.id,
        "replyToId": message.root if message.root != message.id else None,
        "etag": message.id,
        "messageType": "message",
        "createdDateTime": _moment(created),
        "lastModifiedDateTime": _moment(edited or created),
        "lastEditedDateTime": edited and _moment(edited),
        "deletedDateTime": _moment(edited or created) if message.deleted else None,
        "subject": None,
        "summary": message.summary or None,
        "chatId": None if in_channel else workspace.graph_chat_id(where),
        "importance": "normal",
        "locale": "en-us",
        "from": {
            "application": {
                "@odata.type": "#microsoft.graph.teamworkApplicationIdentity",
                "id": message.sender.removeprefix("28:"),
                "displayName": app.name if message.sender == app.mri else "Another app",
                "applicationIdentityType": "bot",
            }
            if message.sender.startswith("28:")
            else None,
            "device": None,
            "user": sender
            and {
                "@odata.type": "#microsoft.graph.teamworkUserIdentity",
                "id": sender.id,
                "displayName": sender.display_name,
                "userIdentityType": "aadUser",
            },
        },
        "body": {"contentType": "html", "content": message.text + tags},
        "channelIdentity": in_channel and {"teamId": in_channel.group_id, "channelId": where.id},
        "attachments": attachments,
        "mentions": [],
        "reactions": [],
    }


def _to_attachment(attachment: Json, index: int, message: Message) -> Json:
    return {
        "id": long_id("attachment", message.id, str(index))[:32].lower(),
        "contentType": attachment["contentType"],
        "contentUrl": None,
        "content": json.dumps(attachment["content"], indent=2, ensure_ascii=False),
        "name": None,
        "thumbnailUrl": None,
        "teamsAppId": None,
    }


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
