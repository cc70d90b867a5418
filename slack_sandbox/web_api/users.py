"""The methods `users.*`. https://docs.slack.dev/reference/methods/users.info"""

from __future__ import annotations

from ..activity import user_object
from ..errors import SlackError
from ..json_checks import Json
from ..workspace import User
from .call import Call, next_cursor
from .conversations import channel_object, channels_of_types


def info(call: Call) -> Json:
    return {"user": _to_user_object(call, call.get_user())}


def list_(call: Call) -> Json:
    everybody = [*call.workspace.users.values(), *call.workspace.crowd.values()]
    page, cursor = call.paginate(everybody, 1000, 1000)
    members = [_to_user_object(call, user) for user in page]
    return {"members": members, "cache_ts": int(call.workspace.now()), **next_cursor(cursor)}


def lookup_by_email(call: Call) -> Json:
    email = call.require_string("email").lower()
    for user in (*call.workspace.users.values(), *call.workspace.crowd.values()):
        if user.email == email and not user.deleted and not user.is_bot:
            return {"user": _to_user_object(call, user)}
    raise SlackError("users_not_found")


def conversations(call: Call) -> Json:
    """The conversations of a person (default: of the app) that the app may know: all public ones, and
    others that both are in."""
    user_id = call.get_string("user") or call.app.user_id
    if call.workspace.person(user_id) is None:
        raise SlackError("user_not_found")
    channels = [one for one in channels_of_types(call) if user_id in one.members]
    page, cursor = call.paginate(channels, 100, 999)
    results = [channel_object(call, one) for one in page]
    for one in results:
        one.pop("is_member", None)
    return {"channels": results, **next_cursor(cursor)}


def _to_user_object(call: Call, user: User) -> Json:
    return user_object(user, call.workspace, call.app)
