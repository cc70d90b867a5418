"""Activities that the bot posts, updates and deletes.

https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
"""

from __future__ import annotations

import json
from typing import Any

from ..errors import TeamsError, bad_request
from ..json_checks import Json, is_list, is_object, object_in
from ..validation import CardError, check_card
from ..workspace import Conversation, Message, Workspace
from .call import Call, check_fields, text_of
from .file_cards import CONSENT, INFO, check_file_card

MAX_BYTES = 100 * 1024  # of the activity in UTF-16
ADAPTIVE_CARD = "application/vnd.microsoft.card.adaptive"
_ACTIVITY = frozenset(
    {
        *("type", "id", "text", "textFormat", "summary", "attachments", "attachmentLayout"),
        *("entities", "from", "recipient", "conversation", "channelId", "channelData"),
        *("serviceUrl", "replyToId", "inputHint", "importance", "locale", "deliveryMode"),
        "localTimestamp",
    }
)
_ATTACHMENT = frozenset({"contentType", "content", "contentUrl", "name", "thumbnailUrl"})
_CREATION = frozenset({"isGroup", "bot", "members", "tenantId", "channelData", "activity"})


def post(call: Call) -> Json:
    """POST …/activities. In a channel an id without `;messageid=` begins a thread; the activity in the path
    of a reply does not change that (https://github.com/microsoft/BotFramework-Services/issues/356)."""
    conversation = call.writable_conversation()
    root = call.root(conversation)
    return _add(call, conversation, call.body, root)


def update(call: Call) -> Json:
    """PUT …/activities/{id}: replaces the whole activity, for everybody."""
    conversation = call.writable_conversation()
    message = call.own_message(conversation)
    given = call.body.get("id", call.item)
    if given != call.item:
        raise bad_request(f"the activity's id is {given}, but the path has {call.item}")
    _fill(message, check_activity(call.workspace, conversation, call.body))
    message.edited_at = call.workspace.now()
    message.cards.clear()
    call.workspace.notify_change()
    return {"id": message.id}


def delete(call: Call) -> Json:
    """DELETE …/activities/{id}."""
    message = call.own_message(call.writable_conversation())
    message.deleted, message.text, message.attachments = True, "", []
    message.cards.clear()
    call.workspace.notify_change()
    return {}


def create(call: Call) -> Json:
    """POST /v3/conversations: a new thread in a channel with a first activity, or the chat with somebody."""
    check_fields(call.body, _CREATION, "conversation")
    bot = object_in(call.body, "bot").get("id")
    if bot not in (None, call.workspace.app.mri, call.workspace.app.client_id):
        raise TeamsError(401, "BotNotRegistered", "No registration found for this bot.")
    in_channel = call.body.get("isGroup") or object_in(call.body, "channelData").get("channel")
    return _create_thread(call) if in_channel else _open_chat(call)


def _create_thread(call: Call) -> Json:
    channel = object_in(object_in(call.body, "channelData"), "channel").get("id")
    if call.body.get("members") or not channel:
        raise bad_request("a bot can't create group chats: channelData.channel.id is missing")
    where = Call(call.workspace, text_of(channel, "channel.id"), "", {}, {})
    conversation = where.writable_conversation()
    if conversation.type != "channel" or ";" in channel:
        raise bad_request(f"{channel} is no channel")
    activity = call.body.get("activity")
    if not is_object(activity):
        raise bad_request("activity is missing")
    answer = _add(call, conversation, activity, None)
    if not answer:
        return {}
    return {"id": f"{conversation.id};messageid={answer['id']}", "activityId": answer["id"]}


def _open_chat(call: Call) -> Json:
    workspace, body = call.workspace, call.body
    members = body.get("members")
    tenant = body.get("tenantId") or object_in(object_in(body, "channelData"), "tenant").get("id")
    if not is_list(members) or len(members) != 1 or not is_object(members[0]):
        raise bad_request("members must have one member")
    if tenant != workspace.tenant_id:
        raise bad_request("tenantId is missing, or another tenant's")
    if "activity" in body:
        raise bad_request("activity is only for channels: post it to the conversation")
    name = text_of(members[0].get("id"), "members[0].id")
    # A person can't be named by their address.
    user = None if "@" in name else workspace.person(name)
    if user is None or not user.account_enabled or workspace.tenant_of(user) != tenant:
        raise TeamsError(400, "MemberNotFoundInConversation", "The member is not in this tenant.")
    if not user.has_app:
        text = "The bot is not installed in the user's personal scope."
        raise TeamsError(403, "ForbiddenOperationException", text)
    return {"id": workspace.open_personal_chat(user).id}


def check_activity(workspace: Workspace, conversation: Conversation, activity: Json) -> Json:
    """Returns the activity if Teams accepts it. Raises TeamsError."""
    check_fields(activity, _ACTIVITY, "activity")
    if activity.get("type") not in ("message", "typing"):
        raise bad_request(f"a bot can't send an activity of type {activity.get('type')!r}")
    if len(json.dumps(activity, ensure_ascii=False).encode("utf-16-le")) > MAX_BYTES:
        raise TeamsError(413, "MessageSizeTooBig", "Message size too large.")
    attachments = activity.get("attachments", [])
    if not is_list(attachments):
        raise bad_request("attachments must be an array")
    for index, one in enumerate(attachments):
        _check_attachment(workspace, conversation, one, f"attachments[{index}]")
    if activity["type"] == "message" and not attachments and not activity.get("text"):
        raise bad_request("the activity has neither text nor attachments")
    _check_mentions(activity.get("text", ""), activity.get("entities", []))
    return activity


def _check_attachment(
    workspace: Workspace, conversation: Conversation, value: Any, where: str
) -> None:
    if not is_object(value):
        raise bad_request(f"{where} must be an object")
    check_fields(value, _ATTACHMENT, where)
    kind = text_of(value.get("contentType"), f"{where}.contentType")
    if kind in (CONSENT, INFO):
        check_file_card(workspace, conversation, value, where)
        return
    if kind != ADAPTIVE_CARD:
        raise bad_request(f"{where}: this sandbox knows only {ADAPTIVE_CARD}, and those of files")
    content = value.get("content")
    if not is_object(content):
        raise bad_request(f"{where}.content must be an object")
    try:
        check_card(content)
    except CardError as error:
        raise bad_request(f"{where}.content: {error}") from None


def _check_mentions(text: str, entities: Any) -> None:
    """A mention's text must be in the message, or Teams rejects the message."""
    for entity in entities if is_list(entities) else []:
        if is_object(entity) and entity.get("type") == "mention":
            label = text_of(entity.get("text"), "entity.text")
            if label not in text or not object_in(entity, "mentioned").get("id"):
                raise bad_request(f"the mention {label} is not in the text, or names nobody")


def _add(call: Call, conversation: Conversation, activity: Json, root: str | None) -> Json:
    """Text and a card in one activity become two messages, and the answer has no id: as in Teams
    (https://github.com/microsoft/botframework-sdk/issues/6366)."""
    checked = check_activity(call.workspace, conversation, activity)
    if checked["type"] == "typing":
        return {}
    app = call.workspace.app
    message = call.workspace.add_message(conversation, app.mri, root=root)
    if not (checked.get("text") and checked.get("attachments")):
        _fill(message, checked)
        call.workspace.notify_change()
        return {"id": message.id}
    _fill(message, {**checked, "attachments": []})
    second = call.workspace.add_message(conversation, app.mri, root=message.root)
    _fill(second, {**checked, "text": ""})
    call.workspace.notify_change()
    return {}


def _fill(message: Message, activity: Json) -> None:
    copy = json.loads(json.dumps(activity))
    message.text, message.summary = copy.get("text", ""), copy.get("summary", "")
    message.attachments, message.entities = copy.get("attachments", []), copy.get("entities", [])
