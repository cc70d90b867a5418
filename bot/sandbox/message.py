"""The words of a message: what Slack refuses in them, and how it writes them down."""

from __future__ import annotations

import json
import re

from bot.sandbox.blocks import problems, stored, written
from bot.sandbox.errors import SlackError, malformed
from bot.sandbox.shapes import Json, is_list, is_object

MOST_TEXT = 40_000
MOST_TEXT_OF_UPDATE = 4_000
# Slack documents no number for these. Measured by others: the text of all blocks, escaped, and
# about 100 characters for each block may come to 13,200 (slackapi/bolt-js issues 2509 and 2867).
MOST_TEXT_IN_BLOCKS = 13_200
COST_OF_BLOCK = 100
# A guess on the safe side.
MOST_METADATA = 8_192

_CONTROL = re.compile(r"<(?:[@#!][^<>]*|(?:https?://|mailto:|tel:)[^<>]*)>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt);)")
_URL = re.compile(r"(?<![\w<|/])https?://[^\s<>|]+[^\s<>|.,;:!?)\]}'\"]")


def escaped(text: str) -> str:
    """Text as Slack keeps it: `&`, `<`, `>` as entities unless they write a mention or a link,
    bare addresses as links. https://docs.slack.dev/messaging/formatting-message-text"""
    kept: list[str] = []
    end = 0
    for control in _CONTROL.finditer(text):
        kept += [_plain(text[end : control.start()]), control.group()]
        end = control.end()
    kept.append(_plain(text[end:]))
    return "".join(kept)[:MOST_TEXT]


def _plain(text: str) -> str:
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    return _URL.sub(lambda url: f"<{url.group()}>", text)


def checked_blocks(blocks: object) -> list[Json]:
    """The blocks with their ids filled in, or the error that Slack answers with."""
    if not is_list(blocks):
        raise SlackError("invalid_blocks_format")
    found = problems(blocks, "message")
    if found:
        raise malformed("invalid_blocks", found)
    if written(blocks) + COST_OF_BLOCK * len(blocks) > MOST_TEXT_IN_BLOCKS:
        raise SlackError("msg_blocks_too_long")
    return stored(blocks)


def checked_metadata(metadata: object) -> Json | None:
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
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > MOST_METADATA:
        raise SlackError("metadata_too_large")
    return metadata
