"""The content of a message: what Slack rejects, and how Slack stores the accepted content."""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import SlackError, error_with_problems
from ..json_checks import Json, is_list, is_object
from ..validation import complete_blocks, problems, text_length
from .objects import Channel, Message

NO_TEXT = "This content can't be displayed."
MAX_TEXT = 40_000
MAX_UPDATE_TEXT = 4_000
# Slack documents no limit for these. Measured by others: the escaped text of all blocks plus about
# 100 characters for each block, at most 13,200 (slackapi/bolt-js issues 2509 and 2867).
MAX_BLOCKS_TEXT = 13_200
COST_OF_BLOCK = 100
# A guess; probably stricter than Slack.
MAX_METADATA = 8_192

_CONTROL = re.compile(r"<(?:[@#!][^<>]*|(?:https?://|mailto:|tel:)[^<>]*)>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt);)")
_URL = re.compile(r"(?<![\w<|/])https?://[^\s<>|]+[^\s<>|.,;:!?)\]}'\"]")


def escape_text(text: str, *, parse: object = None) -> str:
    """Text as Slack stores it: `&`, `<`, `>` as entities unless they are part of a mention or a link;
    plain URLs as links, unless `parse` is "none".
    https://docs.slack.dev/messaging/formatting-message-text"""
    links = parse != "none"
    parts: list[str] = []
    end = 0
    for control in _CONTROL.finditer(text):
        parts += [_escape_plain(text[end : control.start()], links), control.group()]
        end = control.end()
    parts.append(_escape_plain(text[end:], links))
    return "".join(parts)[:MAX_TEXT]


def _escape_plain(text: str, links: bool) -> str:
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    return _URL.sub(lambda url: f"<{url.group()}>", text) if links else text


def validate_blocks(blocks: object) -> list[Json]:
    """The blocks with their ids filled in. Raises the error that Slack answers with."""
    if not is_list(blocks):
        raise SlackError("invalid_blocks_format")
    errors = problems(blocks, "message")
    if errors:
        raise error_with_problems("invalid_blocks", errors)
    if text_length(blocks) + COST_OF_BLOCK * len(blocks) > MAX_BLOCKS_TEXT:
        raise SlackError("msg_blocks_too_long")
    return complete_blocks(blocks)


def validate_metadata(metadata: object) -> Json | None:
    """`{event_type, event_payload}`, or None for `{}`, which removes it."""
    if not is_object(metadata):
        raise SlackError("invalid_metadata_format")
    if not metadata:
        return None
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if set(metadata) != {"event_type", "event_payload"} or not is_object(payload):
        raise SlackError("invalid_metadata_schema")
    if not isinstance(kind, str) or not 0 < len(kind) <= 255:
        raise SlackError("invalid_metadata_schema")
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > MAX_METADATA:
        raise SlackError("metadata_too_large")
    return metadata


def to_slack_message(
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
