"""The methods `conversations.*`. https://docs.slack.dev/reference/methods/conversations.list"""

from __future__ import annotations

from ..errors import SlackError
from ..json_checks import Json, is_list
from ..workspace import Channel, Message
from .call import Call, next_cursor, scope_family
from .chat import message_object

CREATED = 1_700_000_000
# The values of `types`, and the scopes that they need.
_FAMILIES = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}


def info(call: Call) -> Json:
    channel = call.get_channel("read")
    result = channel_object(call, channel)
    if call.get_flag("include_num_members") and not channel.is_im:
        result["num_members"] = len(channel.members)
    return {"channel": result}


def list_(call: Call) -> Json:
    page, cursor = call.paginate(channels_of_types(call), 100, 1000)
    results = [channel_object(call, one) for one in page]
    for channel, one in zip(page, results, strict=True):
        if not channel.is_im:
            one["num_members"] = len(channel.members)
    return {"channels": results, **next_cursor(cursor)}


def channels_of_types(call: Call) -> list[Channel]:
    """The conversations of these `types` that the app may know: all public ones, and others that it is
    in. Each type needs its scope."""
    channels: list[Channel] = []
    for kind in str(call.args.get("types") or "public_channel").split(","):
        family = _FAMILIES.get(kind.strip())
        if family is None:
            raise SlackError("invalid_types")
        call.require_scope(f"{family}:read")
        channels += [
            channel
            for channel in call.workspace.channels.values()
            if scope_family(channel) == family and (not channel.is_private or call.is_in(channel))
        ]
    archived_too = not call.get_flag("exclude_archived")
    return [one for one in channels if archived_too or not one.is_archived]


def members(call: Call) -> Json:
    page, cursor = call.paginate(call.get_channel("read").members, 100, 1000)
    return {"members": page, **next_cursor(cursor)}


def open_(call: Call) -> Json:
    """Opens the direct message with one person, or returns the one that exists."""
    if call.args.get("channel"):
        channel, was_there = call.get_channel(), True
        if not channel.is_im:
            raise SlackError("method_not_supported_for_channel_type")
    else:
        user = _partner(call)
        was_there = call.workspace.find_direct_channel(user, call.app.user_id) is not None
        if call.get_flag("prevent_creation") and not was_there:
            raise SlackError("channel_not_found")
        channel = call.workspace.open_direct_channel(user, call.app.user_id)
    result = channel_object(call, channel) if call.get_flag("return_im") else {"id": channel.id}
    return {"channel": result, **({"no_op": True, "already_open": True} if was_there else {})}


def _partner(call: Call) -> str:
    """The one person in `users`. Group messages are not simulated."""
    wanted = call.args.get("users") or ""
    users = list(wanted) if is_list(wanted) else [one for one in str(wanted).split(",") if one]
    if not users:
        raise SlackError("users_list_not_supplied")
    if len(users) > 1:
        call.require_scope("mpim:write")
        raise SlackError("method_not_supported_for_channel_type")
    user = call.workspace.person(str(users[0]).strip())
    if user is None:
        raise SlackError("user_not_found")
    if user.is_bot:
        raise SlackError("cannot_dm_bot")
    if user.deleted:
        raise SlackError("user_disabled")
    if not call.workspace.knows_user(call.app.user_id, user):
        raise SlackError("invalid_user_combination")
    return user.id


def history(call: Call) -> Json:
    channel = _readable_channel(call)
    messages = [one for one in channel.messages.values() if one.thread_ts in (None, one.ts)]
    newest_first = sorted(_filter_by_time(call, messages), key=lambda one: one.ts, reverse=True)
    return _messages_page(call, newest_first, 100, 999)


def replies(call: Call) -> Json:
    channel = _readable_channel(call)
    message = channel.messages.get(call.require_string("ts"))
    if message is None:
        raise SlackError("thread_not_found")
    parent = channel.messages.get(message.thread_ts or message.ts, message)
    return _messages_page(
        call, [parent, *_filter_by_time(call, channel.replies(parent.ts))], 1000, 1000
    )


def _readable_channel(call: Call) -> Channel:
    channel = call.get_channel("history")
    if not call.is_in(channel):
        raise SlackError("not_in_channel")
    return channel


def _parse_ts(call: Call, name: str, default: float) -> float:
    try:
        return float(call.args.get(name) or default)
    except (TypeError, ValueError):
        raise SlackError(f"invalid_ts_{name}") from None


def _filter_by_time(call: Call, messages: list[Message]) -> list[Message]:
    """The messages after `oldest` and before `latest`; with `inclusive` also those at these times."""
    oldest, latest = _parse_ts(call, "oldest", 0), _parse_ts(call, "latest", float("inf"))
    inclusive = call.get_flag("inclusive")
    return [
        one
        for one in messages
        if oldest < float(one.ts) < latest or (inclusive and float(one.ts) in (oldest, latest))
    ]


def _messages_page(call: Call, messages: list[Message], default: int, most: int) -> Json:
    page, cursor = call.paginate(messages, default, most)
    with_metadata = call.get_flag("include_all_metadata")
    out: Json = {
        "messages": [message_object(one, call, with_metadata) for one in page],
        "has_more": bool(cursor),
    }
    return {**out, **next_cursor(cursor)} if cursor else out


def channel_object(call: Call, channel: Channel) -> Json:
    """https://docs.slack.dev/reference/objects/conversation-object"""
    result: Json = {
        "id": channel.id,
        "created": CREATED,
        "is_im": channel.is_im,
        "is_archived": channel.is_archived,
        "is_org_shared": False,
        "context_team_id": call.workspace.team_id,
        "updated": CREATED * 1000,
    }
    if channel.is_im:
        user = call.workspace.person(channel.other_member(call.app.user_id))
        return result | {"user": user and user.id, "is_user_deleted": bool(user and user.deleted)}
    return result | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_general": False,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_pending_ext_shared": False,
        "creator": "U0DANA",
        "is_member": call.is_in(channel),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": channel.previous_names,
    }
