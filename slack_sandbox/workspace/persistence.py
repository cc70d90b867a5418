"""Saves the messages of a workspace and their files in one file, so that a restarted sandbox has them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from pathlib import Path

from .objects import Message
from .workspace import Workspace


def persist(workspace: Workspace, app_user: str, path: Path) -> None:
    """Loads the messages from the file, and saves them after every later change."""
    load(workspace, app_user, path)
    workspace.on_change(lambda: save(workspace, path))


def load(workspace: Workspace, app_user: str, path: Path) -> None:
    """Loads the messages of the file, if it exists, and opens the app's direct messages for them. Raises
    ValueError for a broken file."""
    if not path.exists():
        return
    data = json.loads(path.read_text(encoding="utf-8"))
    for file in data.get("files", []):
        workspace.files[file["id"]] = {**file, "content": b64decode(file["content"])}
    for stored in data["messages"]:
        message = Message(**stored)
        for user in workspace.users:
            if message.channel == workspace.direct_channel_id(user):
                workspace.open_direct_channel(user, app_user)
        if message.channel in workspace.channels:
            workspace.channels[message.channel].put(message)
            workspace.advance_ts(message.edited or message.ts)


def save(workspace: Workspace, path: Path) -> None:
    """Writes all messages and their attached files. After a crash the file is either the old or the new
    one, never a part of it."""
    messages = [
        asdict(message)
        for channel in workspace.channels.values()
        for message in channel.messages.values()
    ]
    files = [
        {**file, "content": b64encode(file["content"]).decode()}
        for file in workspace.files.values()
        if file["shared_in"]
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps({"messages": messages, "files": files}), encoding="utf-8")
    draft.replace(path)
