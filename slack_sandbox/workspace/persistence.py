"""The messages of a workspace and their files in one file, for a sandbox that starts again."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from pathlib import Path

from .workspace import Message, Workspace


def persist(workspace: Workspace, app_user: str, path: Path) -> None:
    """Loads the messages of the file, and saves them after every change from now on."""
    load(workspace, app_user, path)
    workspace.on_change(lambda: save(workspace, path))


def load(workspace: Workspace, app_user: str, path: Path) -> None:
    """Puts the messages of the file back, if it is there, and opens direct messages of the app for
    them. Raises ValueError for a broken file."""
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
            workspace.channels[message.channel].messages[message.ts] = message
            workspace.advance_ts(message.edited or message.ts)


def save(workspace: Workspace, path: Path) -> None:
    """Writes all messages and what is attached to them; a crash leaves the file as it was before or
    as it is after, never half of it."""
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
