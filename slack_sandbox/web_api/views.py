"""The methods `views.*`. https://docs.slack.dev/reference/methods/views.open"""

from __future__ import annotations

from ..errors import error_with_problems
from ..json_checks import Json
from ..workspace import validate_view
from .call import Call


def open_(call: Call) -> Json:
    view = _view(call)
    trigger_id = call.require_string("trigger_id")
    user, tab = call.triggers.holder(trigger_id), call.triggers.tab(trigger_id)
    new_view = call.modals.open(user, view, tab)
    call.triggers.use(trigger_id)
    return {"view": new_view}


def push(call: Call) -> Json:
    view = _view(call)
    trigger_id = call.require_string("trigger_id")
    new_view = call.modals.push(call.triggers.holder(trigger_id), view)
    call.triggers.use(trigger_id)
    return {"view": new_view}


def update(call: Call) -> Json:
    view = _view(call)
    external_id = call.get_string("external_id")
    view_id = None if external_id else call.require_string("view_id")
    old = call.modals.get(view_id, external_id, call.get_string("hash"))
    return {"view": call.modals.update(old, view)}


def publish(call: Call) -> Json:
    user = call.workspace.person(call.require_string("user_id"))
    if user is None:
        raise error_with_problems("invalid_arguments", ["invalid `user_id`"])
    view = validate_view(call.get_json("view", "invalid_arguments"), "home")
    return {"view": call.homes.publish(user.id, view, call.get_string("hash"))}


def _view(call: Call) -> Json:
    return validate_view(call.get_json("view", "invalid_arguments"))
