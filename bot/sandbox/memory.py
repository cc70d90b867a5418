"""The messages of a workspace in a file, so that a sandbox that starts again still has them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bot.sandbox.workspace import Message, Workspace


def keep(workspace: Workspace, path: Path) -> None:
    """Loads the messages of the file, and saves them after every change from now on."""
    load(workspace, path)
    workspace.on_change(lambda: save(workspace, path))


def load(workspace: Workspace, path: Path) -> None:
    """Puts the messages of the file back, if it is there. Raises ValueError for a broken file."""
    if not path.exists():
        return
    for kept in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        message = Message(**kept)
        if message.channel in workspace.channels:
            workspace.channels[message.channel].messages[message.ts] = message
            workspace.not_before(message.edited or message.ts)


def save(workspace: Workspace, path: Path) -> None:
    """Writes all messages; a crash leaves the file before or after, never half of it."""
    messages = [
        asdict(message)
        for channel in workspace.channels.values()
        for message in channel.messages.values()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    draft.replace(path)
