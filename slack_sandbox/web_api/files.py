"""Uploading a file in Slack's three steps.

https://docs.slack.dev/messaging/working-with-files#upload
"""

from __future__ import annotations

import secrets

from ..errors import SlackError
from ..json_checks import Json, is_list, is_object
from ..workspace import Message, escape_text
from .call import Call


def get_upload_url(call: Call) -> Json:
    name, size = call.require_string("filename"), call.get_count("length", 1_000_000_000)
    file_id = call.workspace.new_id("F")
    ticket = secrets.token_hex(16)
    call.workspace.files[file_id] = {
        "id": file_id,
        "name": name,
        "title": name,
        "size": size,
        "user": call.app.user_id,
        "ticket": ticket,
        "content": None,
        "shared_in": [],
    }
    return {"upload_url": f"{call.url}/upload/v1/{ticket}", "file_id": file_id}


def complete_upload(call: Call) -> Json:
    wanted = call.get_json("files", "invalid_arguments")
    if not is_list(wanted) or not wanted or not all(is_object(one) for one in wanted):
        raise SlackError("invalid_arguments")
    files: list[Json] = []
    for one in wanted:
        file = call.workspace.files.get(str(one.get("id")))
        if file is None or file["content"] is None:
            raise SlackError("file_not_found")
        file["title"] = one.get("title") or file["name"]
        files.append(file)
    if call.args.get("channel_id"):
        _post_files(call, files)
    return {"files": [_file_object(call, file) for file in files]}


def _file_object(call: Call, file: Json) -> Json:
    """A file as the Web API shows it: without its upload ticket, and with its address, not its content."""
    known = ("id", "name", "title", "size", "user")
    address = f"{call.url}/files/{file['id']}"
    return {**{key: file[key] for key in known}, "permalink": address, "mode": "snippet"}


def _post_files(call: Call, files: list[Json]) -> None:
    """Posts one message with all files: in the channel, or in the thread of `thread_ts`."""
    channel = call.workspace.channels.get(call.args["channel_id"])
    if channel is None or not call.is_in(channel):
        raise SlackError("channel_not_found")
    if channel.is_archived:
        raise SlackError("is_archived")
    for file in files:
        file["shared_in"].append(channel.id)
    call.workspace.add(
        Message(
            channel=channel.id,
            ts=call.workspace.next_ts(),
            user=call.app.user_id,
            text=escape_text(call.get_string("initial_comment") or ""),
            bot_id=call.app.bot_id,
            app_id=call.app.app_id,
            thread_ts=call.get_string("thread_ts"),
            files=[_file_object(call, file) for file in files],
        )
    )
