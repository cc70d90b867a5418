"""The whole workspace as one person sees it: what the page draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..json_checks import Json
from ..workspace import AGENT_NAME, App, Channel, Message, User

if TYPE_CHECKING:
    from ..sandbox import Sandbox


def snapshot(sandbox: Sandbox, user: str) -> Json:
    workspace = sandbox.workspace
    channels = [one for one in workspace.channels.values() if workspace.can_see(user, one)]
    return {
        "me": user,
        "bot": sandbox.app.user_id,
        "team": {"id": workspace.team_id, "name": workspace.name},
        "users": [_user(one) for one in workspace.users.values()],
        "channels": [_channel(one, user, sandbox.app) for one in channels],
        "messages": {
            one.id: [_message(message, one, workspace.users) for message in one.messages.values()]
            for one in channels
        },
        "ephemerals": [
            {
                "id": notice.ts,
                "channel": notice.channel,
                "ts": notice.ts,
                "text": notice.text,
                "blocks": notice.blocks,
                "thread_ts": notice.thread_ts,
            }
            for notice in workspace.ephemerals.values()
            if notice.user == user
        ],
        "views": sandbox.modals.stack(user),
        "home": sandbox.homes.view(user),
        "home_enabled": sandbox.app.home_tab,
        "commands": sorted(sandbox.app.commands),
        "groups": [
            {"id": one.id, "handle": one.handle, "name": one.name, "users": one.users}
            for one in workspace.groups.values()
        ],
        "tab": sandbox.modals.tab(user),
        "agent": {"name": AGENT_NAME, "asks": bool(sandbox.ask_url)},
    }


def _user(user: User) -> Json:
    return {
        "id": user.id,
        "name": user.name,
        "real_name": user.real_name,
        "is_bot": user.is_bot,
        "deleted": user.deleted,
        "is_restricted": user.is_restricted,
    }


def _channel(channel: Channel, user: str, app: App) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "is_member": user in channel.members,
        "topic": channel.topic,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "can_write": channel.can_write(user, app),
        "is_im": channel.is_im,
        "im_user": channel.other_member(user) if channel.is_im else None,
    }


def _message(message: Message, channel: Channel, users: dict[str, User]) -> Json:
    user = users.get(message.user)
    return {
        "ts": message.ts,
        "user": message.user,
        "bot": message.bot_id is not None,
        "username": user.real_name if user else message.user,
        "text": message.text,
        "blocks": message.blocks,
        "edited": message.edited is not None,
        "thread_ts": message.thread_ts,
        "reply_count": len(channel.replies(message.ts)),
        "metadata": message.metadata,
        "files": message.files,
        "deleted": message.deleted,
    }
