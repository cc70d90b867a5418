"""The user groups of the workspace: their objects in the Web API, and their changes.

https://docs.slack.dev/reference/objects/usergroup-object
"""

from __future__ import annotations

from collections.abc import Iterable

from ..delivery import Events
from ..json_checks import Json
from ..workspace import Group, Workspace

SCOPE = "usergroups:read"
CREATED = 1_700_000_000


def group_object(group: Group, team_id: str) -> Json:
    """The group without its members: the Web API gives these only on request."""
    return {
        "id": group.id,
        "team_id": team_id,
        "is_usergroup": True,
        "is_subteam": True,
        "name": group.name,
        "description": "",
        "handle": group.handle,
        "is_external": False,
        "date_create": CREATED,
        "date_update": group.updated or CREATED,
        "date_delete": (group.updated or CREATED) if group.disabled else 0,
        "auto_type": None,
        "auto_provision": False,
        "enterprise_subteam_id": "",
        "created_by": "U0DANA",
        "updated_by": "U0DANA",
        "deleted_by": "U0DANA" if group.disabled else None,
        "prefs": {"channels": [], "groups": []},
    }


class UserGroups:
    """Changes of user groups, each with its events. Set `available` to False for a workspace whose plan
    has no user groups."""

    def __init__(self, workspace: Workspace, events: Events) -> None:
        self._workspace, self._events = workspace, events
        self.available = True

    def add(self, group_id: str, handle: str, name: str, users: Iterable[str] = ()) -> None:
        """Adds a group. Sends no event: `subteam_created` is not simulated."""
        now = int(self._workspace.now())
        self._workspace.groups[group_id] = Group(group_id, handle, name, list(users), updated=now)
        self._workspace.notify_change()

    def set_members(self, group_id: str, users: Iterable[str]) -> None:
        group = self._workspace.groups[group_id]
        before, previous = group.users, group.updated or CREATED
        group.users = list(users)
        self._mark_updated(group)
        added = [user for user in group.users if user not in before]
        removed = [user for user in before if user not in group.users]
        event = {
            "type": "subteam_members_changed",
            "subteam_id": group.id,
            "team_id": self._workspace.team_id,
            "date_previous_update": previous,
            "date_update": group.updated,
            "added_users": added,
            "added_users_count": len(added),
            "removed_users": removed,
            "removed_users_count": len(removed),
        }
        self._events.send(event, needs=SCOPE)

    def rename(self, group_id: str, *, handle: str | None = None, name: str | None = None) -> None:
        group = self._workspace.groups[group_id]
        group.handle, group.name = handle or group.handle, name or group.name
        self._mark_updated(group)

    def disable(self, group_id: str) -> None:
        self._workspace.groups[group_id].disabled = True
        self._mark_updated(self._workspace.groups[group_id])

    def enable(self, group_id: str) -> None:
        self._workspace.groups[group_id].disabled = False
        self._mark_updated(self._workspace.groups[group_id])

    def _mark_updated(self, group: Group) -> None:
        group.updated = int(self._workspace.now())
        self._workspace.notify_change()
        group_data = group_object(group, self._workspace.team_id)
        members = {"users": group.users[:500], "user_count": len(group.users), "channel_count": 0}
        self._events.send({"type": "subteam_updated", "subteam": group_data | members}, needs=SCOPE)
