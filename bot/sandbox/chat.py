"""The methods `chat.*`. https://docs.slack.dev/reference/methods"""

from __future__ import annotations

from typing import Any

from bot.sandbox.call import Call
from bot.sandbox.errors import SlackError
from bot.sandbox.message import (
    MOST_TEXT_OF_UPDATE,
    checked_blocks,
    checked_metadata,
    escaped,
)
from bot.sandbox.shapes import Json
from bot.sandbox.workspace import Channel, Ephemeral, Message

NO_TEXT = "This content can't be displayed."


def post_message(call: Call) -> Json:
    channel = _direct(call) or _writable(call, by_name=True)
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
        thread_ts=call.words("thread_ts"),
        metadata=metadata,
    )
    call.workspace.add(message)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "message": shown(message, call, with_metadata=True),
    }


def update(call: Call) -> Json:
    channel, message = _own_message(call, "cant_update_message")
    text, blocks = call.words("text"), call.parsed("blocks", "invalid_blocks_format")
    if not text and not blocks:
        raise SlackError("no_text")
    if text and len(text) > MOST_TEXT_OF_UPDATE:
        raise SlackError("msg_too_long")
    checked = checked_blocks(blocks) if blocks is not None else message.blocks
    metadata = _metadata(call) if call.args.get("metadata") is not None else message.metadata
    message.text = escaped(text) if text else NO_TEXT
    message.blocks, message.metadata = checked, metadata
    message.edited = call.workspace.next_ts()
    call.workspace.changed()
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": shown(message, call, with_metadata=True),
    }


def delete(call: Call) -> Json:
    channel, message = _own_message(call, "cant_delete_message")
    call.workspace.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(call: Call) -> Json:
    channel = _writable(call, by_name=True)
    user = call.need("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    text, blocks = _content(call)
    ts = call.workspace.next_ts()
    notice = Ephemeral(user, channel.id, ts, text, blocks, call.words("thread_ts"))
    call.workspace.whisper(notice)
    return {"message_ts": ts}


def get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = channel.messages.get(call.need("message_ts"))
    if message is None:
        raise SlackError("message_not_found")
    return {"channel": channel.id, "permalink": permalink(call.url, message)}


def permalink(url: str, message: Message) -> str:
    """Slack's form of address, on the sandbox's own host so that it can be followed."""
    link = f"{url}/archives/{message.channel}/p{message.ts.replace('.', '')}"
    if message.thread_ts and message.thread_ts != message.ts:
        link += f"?thread_ts={message.thread_ts}&cid={message.channel}"
    return link


def shown(message: Message, call: Call, with_metadata: bool) -> Json:
    """The message as the Web API and the payloads of clicks show it."""
    return as_slack(message, call.workspace.team_id, call.workspace.channels, with_metadata)


def as_slack(
    message: Message, team_id: str, channels: dict[str, Channel], with_metadata: bool
) -> Json:
    if message.deleted:
        tombstone: Json = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT"}
        return {**tombstone, "ts": message.ts, "text": message.text, "hidden": True}
    out: dict[str, Any] = {
        "type": "message",
        "user": message.user,
        "ts": message.ts,
        "text": message.text,
        "team": team_id,
    }
    if message.bot_id:
        out |= {"bot_id": message.bot_id, "app_id": message.app_id}
    if message.blocks:
        out["blocks"] = message.blocks
    if message.files:
        out["files"] = message.files
    if message.edited:
        out["edited"] = {"user": message.user, "ts": message.edited}
    if message.metadata and with_metadata:
        out["metadata"] = message.metadata
    replies = channels[message.channel].replies(message.ts)
    if message.thread_ts:
        out["thread_ts"] = message.thread_ts
    if replies:
        out |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": sorted({reply.user for reply in replies}),
            "latest_reply": replies[-1].ts,
        }
    return out


def _direct(call: Call) -> Channel | None:
    """A message to a person's id goes to the app's direct message with them, which opens for it: even
    for somebody deactivated, as Slack takes what nobody will read (slackapi/python-slack-sdk 1156)."""
    user = call.workspace.person(str(call.args.get("channel")))
    if user is None or not call.workspace.has_met(call.app.user_id, user):
        return None
    if user.is_bot:
        raise SlackError("cannot_dm_bot")
    return _open(call, call.workspace.direct(user.id, call.app.user_id))


def _writable(call: Call, by_name: bool = False) -> Channel:
    return _open(call, call.channel(by_name=by_name))


def _open(call: Call, channel: Channel) -> Channel:
    if channel.is_archived:
        raise SlackError("is_archived")
    if channel.is_im and not call.app.messages_tab:
        raise SlackError("messages_tab_disabled")
    invited = not channel.is_private and "chat:write.public" in call.app.scopes
    if not call.is_in(channel) and not invited:
        raise SlackError("not_in_channel")
    return channel


def _own_message(call: Call, refusal: str) -> tuple[Channel, Message]:
    channel = call.channel()
    message = channel.messages.get(call.need("ts"))
    if message is None or message.deleted:
        raise SlackError("message_not_found")
    if message.bot_id != call.app.bot_id:
        raise SlackError(refusal)
    if channel.is_archived:
        raise SlackError("is_archived")
    return channel, message


def _content(call: Call) -> tuple[str, list[Json]]:
    text, blocks = call.words("text"), call.parsed("blocks", "invalid_blocks_format")
    if not text and not blocks:
        raise SlackError("no_text")
    return escaped(text) if text else NO_TEXT, [] if blocks is None else checked_blocks(blocks)


def _metadata(call: Call) -> Json | None:
    metadata = call.parsed("metadata", "invalid_metadata_format")
    return None if metadata is None else checked_metadata(metadata)
