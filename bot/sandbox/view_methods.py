"""The methods `views.*`. https://docs.slack.dev/reference/methods/views.open"""

from __future__ import annotations

from bot.sandbox.call import Call
from bot.sandbox.errors import malformed
from bot.sandbox.shapes import Json
from bot.sandbox.view import checked_view


def open_(call: Call) -> Json:
    view = _view(call)
    trigger_id = call.need("trigger_id")
    user, tab = call.triggers.holder(trigger_id), call.triggers.tab(trigger_id)
    shown = call.modals.open(user, view, tab)
    call.triggers.use(trigger_id)
    return {"view": shown}


def push(call: Call) -> Json:
    view = _view(call)
    trigger_id = call.need("trigger_id")
    shown = call.modals.push(call.triggers.holder(trigger_id), view)
    call.triggers.use(trigger_id)
    return {"view": shown}


def update(call: Call) -> Json:
    view = _view(call)
    external_id = call.words("external_id")
    view_id = None if external_id else call.need("view_id")
    old = call.modals.named(view_id, external_id, call.words("hash"))
    return {"view": call.modals.update(old, view)}


def publish(call: Call) -> Json:
    user = call.workspace.person(call.need("user_id"))
    if user is None:
        raise malformed("invalid_arguments", ["invalid `user_id`"])
    view = checked_view(call.parsed("view", "invalid_arguments"), "home")
    return {"view": call.homes.publish(user.id, view, call.words("hash"))}


def _view(call: Call) -> Json:
    return checked_view(call.parsed("view", "invalid_arguments"))
