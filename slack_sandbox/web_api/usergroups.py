"""The methods `usergroups.*`. https://docs.slack.dev/reference/methods/usergroups.list"""

from __future__ import annotations

from ..activity import group_object
from ..errors import SlackError
from ..json_checks import Json
from ..workspace import Group
from .call import Call


def list_(call: Call) -> Json:
    results: list[Json] = []
    for group in _groups(call).values():
        one = group_object(group, call.workspace.team_id)
        if call.get_flag("include_users"):
            one["users"] = list(group.users)
        if call.get_flag("include_count"):
            one["user_count"] = len(group.users)
        results.append(one)
    return {"usergroups": results}


def users_list(call: Call) -> Json:
    wanted, groups = call.require_string("usergroup"), _groups(call)
    if wanted not in groups:
        raise SlackError("no_such_subteam")
    return {"users": list(groups[wanted].users)}


def _groups(call: Call) -> dict[str, Group]:
    """The groups that the call asks for; disabled ones only if it asks for these."""
    if not call.groups.available:
        raise SlackError("plan_upgrade_required")
    disabled_too = call.get_flag("include_disabled")
    groups = call.workspace.groups.items()
    return {id: group for id, group in groups if disabled_too or not group.disabled}
