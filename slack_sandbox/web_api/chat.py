"""The methods `chat.*`. https://docs.slack.dev/reference/methods"""

from __future__ import annotations

from ..errors import SlackError
from ..json_checks import Json
from ..workspace import (
    MAX_UPDATE_TEXT,
    NO_TEXT,
    Channel,
    Ephemeral,
    Message,
    escape_text,
    to_slack_message,
    validate_blocks,
    validate_metadata,
)
from .call import Call


def post_message(call: Call) -> Json:
    channel = _direct_channel(call) or _writable_channel(call, by_name=True)
    text, blocks = _content(call)
    metadata = _metadata(call)
    message = Message(
        channel=channel.id,
        ts=call.workspace.next_ts(),
        user=call.app.user_id,
        text=text,
        blocks=blocks,
        bot_id=call.app.bot_id,
        app_id=call.app.app_id,
        thread_ts=call.get_string("thread_ts"),
        metadata=metadata,
    )
    call.workspace.add(message)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "message": message_object(message, call, with_metadata=True),
    }


def update(call: Call) -> Json:
    channel, message = _own_message(call, "cant_update_message")
    text, blocks = call.get_string("text"), call.get_json("blocks", "invalid_blocks_format")
    if not text and not blocks:
        raise SlackError("no_text")
    if text and len(text) > MAX_UPDATE_TEXT:
        raise SlackError("msg_too_long")
    new_blocks = validate_blocks(blocks) if blocks is not None else message.blocks
    metadata = _metadata(call) if call.args.get("metadata") is not None else message.metadata
    message.text = _stored_text(call, text)
    message.blocks, message.metadata = new_blocks, metadata
    message.edited = call.workspace.next_ts()
    call.workspace.notify_change()
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message_object(message, call, with_metadata=True),
    }


def delete(call: Call) -> Json:
    channel, message = _own_message(call, "cant_delete_message")
    call.workspace.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(call: Call) -> Json:
    channel = _writable_channel(call, by_name=True)
    user = call.require_string("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    text, blocks = _content(call)
    ts = call.workspace.next_ts()
    notice = Ephemeral(user, channel.id, ts, text, blocks, call.get_string("thread_ts"))
    call.workspace.add_ephemeral(notice)
    return {"message_ts": ts}


def get_permalink(call: Call) -> Json:
    channel = call.get_channel()
    message = channel.messages.get(call.require_string("message_ts"))
    if message is None:
        raise SlackError("message_not_found")
    return {"channel": channel.id, "permalink": permalink(call.url, message)}


def permalink(url: str, message: Message) -> str:
    """In Slack's format, but with the sandbox's host, so that the link works."""
    link = f"{url}/archives/{message.channel}/p{message.ts.replace('.', '')}"
    if message.thread_ts and message.thread_ts != message.ts:
        link += f"?thread_ts={message.thread_ts}&cid={message.channel}"
    return link


def message_object(message: Message, call: Call, with_metadata: bool) -> Json:
    """The message as the Web API and the payloads of clicks show it."""
    return to_slack_message(message, call.workspace.team_id, call.workspace.channels, with_metadata)


def _direct_channel(call: Call) -> Channel | None:
    """A message to a person's id goes to the app's direct message with them, which is opened. This works
    for a deactivated person too, as in Slack (slackapi/python-slack-sdk 1156)."""
    user = call.workspace.person(str(call.args.get("channel")))
    if user is None or not call.workspace.knows_user(call.app.user_id, user):
        return None
    if user.is_bot:
        raise SlackError("cannot_dm_bot")
    return _check_writable(call, call.workspace.open_direct_channel(user.id, call.app.user_id))


def _writable_channel(call: Call, by_name: bool = False) -> Channel:
    return _check_writable(call, call.get_channel(by_name=by_name))


def _check_writable(call: Call, channel: Channel) -> Channel:
    if channel.is_archived:
        raise SlackError("is_archived")
    if channel.is_im and not call.app.messages_tab:
        raise SlackError("messages_tab_disabled")
    invited = not channel.is_private and "chat:write.public" in call.app.scopes
    if not call.is_in(channel) and not invited:
        raise SlackError("not_in_channel")
    return channel


def _own_message(call: Call, refusal: str) -> tuple[Channel, Message]:
    channel = call.get_channel()
    message = channel.messages.get(call.require_string("ts"))
    if message is None or message.deleted:
        raise SlackError("message_not_found")
    if message.bot_id != call.app.bot_id:
        raise SlackError(refusal)
    if channel.is_archived:
        raise SlackError("is_inactive")
    return channel, message


def _content(call: Call) -> tuple[str, list[Json]]:
    text, blocks = call.get_string("text"), call.get_json("blocks", "invalid_blocks_format")
    if not text and not blocks:
        raise SlackError("no_text")
    return _stored_text(call, text), [] if blocks is None else validate_blocks(blocks)


def _stored_text(call: Call, text: str | None) -> str:
    return escape_text(text, parse=call.args.get("parse")) if text else NO_TEXT


def _metadata(call: Call) -> Json | None:
    metadata = call.get_json("metadata", "invalid_metadata_format")
    return None if metadata is None else validate_metadata(metadata)
