"""The methods `conversations.*`, `users.*` and `usergroups.list`.

https://docs.slack.dev/reference/methods
"""

from __future__ import annotations

from bot.sandbox.call import Call
from bot.sandbox.chat import shown
from bot.sandbox.errors import SlackError
from bot.sandbox.shapes import Json
from bot.sandbox.workspace import Channel, Message, User


def info(call: Call) -> Json:
    return {"channel": _channel(call, call.channel("read"))}


def list_(call: Call) -> Json:
    kinds = str(call.args.get("types") or "public_channel").split(",")
    found: list[Channel] = []
    for kind, private, scope in (
        ("public_channel", False, "channels:read"),
        ("private_channel", True, "groups:read"),
    ):
        if kind in kinds:
            call.scope(scope)
            found += [
                channel
                for channel in call.workspace.channels.values()
                if channel.is_private == private and (not private or call.is_in(channel))
            ]
    if call.flag("exclude_archived"):
        found = [channel for channel in found if not channel.is_archived]
    page, cursor = call.page(found, 100, 1000)
    return {"channels": [_channel(call, one) for one in page], **_next(cursor)}


def members(call: Call) -> Json:
    page, cursor = call.page(call.channel("read").members, 100, 1000)
    return {"members": page, **_next(cursor)}


def history(call: Call) -> Json:
    channel = _readable(call)
    found = [one for one in channel.messages.values() if one.thread_ts in (None, one.ts)]
    newest_first = sorted(_between(call, found), key=lambda one: one.ts, reverse=True)
    return _messages(call, newest_first, 100, 999)


def replies(call: Call) -> Json:
    channel = _readable(call)
    asked = channel.messages.get(call.need("ts"))
    if asked is None:
        raise SlackError("thread_not_found")
    parent = channel.messages.get(asked.thread_ts or asked.ts, asked)
    return _messages(call, [parent, *_between(call, channel.replies(parent.ts))], 1000, 1000)


def users_info(call: Call) -> Json:
    return {"user": _user(call, call.user())}


def users_list(call: Call) -> Json:
    page, cursor = call.page(list(call.workspace.users.values()), 100, 1000)
    return {"members": [_user(call, user) for user in page], **_next(cursor)}


def usergroups_list(call: Call) -> Json:
    return {"usergroups": []}


def _next(cursor: str) -> Json:
    return {"response_metadata": {"next_cursor": cursor}}


def _readable(call: Call) -> Channel:
    channel = call.channel("history")
    if not call.is_in(channel):
        raise SlackError("not_in_channel")
    return channel


def _seconds(call: Call, name: str, default: float) -> float:
    try:
        return float(call.args.get(name) or default)
    except (TypeError, ValueError):
        raise SlackError(f"invalid_ts_{name}") from None


def _between(call: Call, messages: list[Message]) -> list[Message]:
    """The messages after `oldest` and before `latest`; those at the two as well if `inclusive`."""
    oldest, latest = _seconds(call, "oldest", 0), _seconds(call, "latest", float("inf"))
    inclusive = call.flag("inclusive")
    return [
        one
        for one in messages
        if oldest < float(one.ts) < latest or (inclusive and float(one.ts) in (oldest, latest))
    ]


def _messages(call: Call, messages: list[Message], default: int, most: int) -> Json:
    page, cursor = call.page(messages, default, most)
    with_metadata = call.flag("include_all_metadata")
    out: Json = {
        "messages": [shown(one, call, with_metadata) for one in page],
        "has_more": bool(cursor),
    }
    return {**out, **_next(cursor)} if cursor else out


def _channel(call: Call, channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_im": False,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "is_member": call.is_in(channel),
        "is_ext_shared": False,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "num_members": len(channel.members),
    }


def _user(call: Call, user: User) -> Json:
    return {
        "id": user.id,
        "team_id": call.workspace.team_id,
        "name": user.name,
        "real_name": user.real_name,
        "deleted": user.deleted,
        "is_bot": user.is_bot,
        "is_restricted": user.is_restricted,
        "is_ultra_restricted": False,
        "is_app_user": False,
        "tz": "Europe/Berlin",
        "profile": {
            "real_name": user.real_name,
            "display_name": user.name,
            "team": call.workspace.team_id,
        },
    }
