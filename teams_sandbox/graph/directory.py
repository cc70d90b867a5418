"""The people and groups of the tenant, without people of other tenants.

https://learn.microsoft.com/graph/api/user-get, …/group-list-transitivemembers, …/user-list-transitivememberof
"""

from __future__ import annotations

from ..json_checks import Json
from ..workspace import Group, User
from .query import Query, not_found

USER_DEFAULT = (
    *("businessPhones", "displayName", "givenName", "jobTitle", "mail", "mobilePhone"),
    *("officeLocation", "preferredLanguage", "surname", "userPrincipalName", "id"),
)
GROUP_DEFAULT = ("id", "displayName", "description", "mailEnabled", "securityEnabled", "groupTypes")
DEFAULT_PAGE, MAX_PAGE = 100, 999


def get_user(query: Query) -> Json:
    """GET /users/{id or user principal name}."""
    query.check_params("$select")
    user = query.workspace.person(query.ids["id"])
    if user is None or user.tenant_id or query.ids["id"].startswith("29:"):
        raise not_found(query.ids["id"])
    return query.select(_to_user(user), USER_DEFAULT)


def get_group(query: Query) -> Json:
    """GET /groups/{id}."""
    query.check_params("$select")
    return query.select(_to_group(_group(query)), GROUP_DEFAULT)


def list_transitive_members(query: Query) -> Json:
    """GET /groups/{id}/transitiveMembers: people and groups."""
    query.check_params("$select", "$top", "$count")
    users, groups = _members_of(query, _group(query))
    items = [_with_type("user", query.select(_to_user(one), USER_DEFAULT)) for one in users]
    items += [_with_type("group", query.select(_to_group(one), GROUP_DEFAULT)) for one in groups]
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def list_user_members(query: Query) -> Json:
    """GET /groups/{id}/transitiveMembers/microsoft.graph.user."""
    query.check_params("$select", "$top", "$count")
    query.require_advanced()
    users, _ = _members_of(query, _group(query))
    items = [query.select(_to_user(one), USER_DEFAULT) for one in users]
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def list_groups_of(query: Query) -> Json:
    """GET /users/{id}/transitiveMemberOf, also with /microsoft.graph.group."""
    query.check_params("$select", "$top", "$count")
    if query.path.endswith("microsoft.graph.group"):
        query.require_advanced()
    user = query.workspace.person(query.ids["id"])
    if user is None or user.tenant_id:
        raise not_found(query.ids["id"])
    found = [one for one in _all_groups(query) if user in _members_of(query, one)[0]]
    items = [_with_type("group", query.select(_to_group(one), GROUP_DEFAULT)) for one in found]
    return query.page(items, DEFAULT_PAGE, MAX_PAGE)


def _with_type(kind: str, item: Json) -> Json:
    return {"@odata.type": f"#microsoft.graph.{kind}", **item}


def _to_user(user: User) -> Json:
    given, _, surname = user.display_name.partition(" ")
    return {
        **dict.fromkeys(("jobTitle", "mobilePhone", "officeLocation", "preferredLanguage")),
        "businessPhones": [],
        "displayName": user.display_name,
        "givenName": given,
        "surname": surname,
        "mail": user.mail,
        "userPrincipalName": user.upn,
        "id": user.id,
        "accountEnabled": user.account_enabled,
        "userType": "Guest" if user.is_guest else "Member",
    }


def _to_group(group: Group) -> Json:
    return {
        "id": group.id,
        "displayName": group.name,
        "visibility": "HiddenMembership" if group.hides_members else None,
        "description": None,
        "mailEnabled": False,
        "securityEnabled": True,
        "groupTypes": [],
    }


def _group(query: Query) -> Group:
    wanted = query.ids["id"].lower()
    found = next((one for one in _all_groups(query) if one.id == wanted), None)
    if found is None:
        raise not_found(query.ids["id"])
    return found


def _all_groups(query: Query) -> list[Group]:
    """All groups, including those of teams, whose members are the members of the team."""
    teams = query.workspace.teams()
    of_teams = [Group(team.group_id, team.name, team.members) for team in teams]
    return [*query.workspace.groups.values(), *of_teams]


def _members_of(query: Query, group: Group) -> tuple[list[User], list[Group]]:
    """The people and groups in this group, directly or through other groups, each once. Without the
    permission, a group that hides its members looks empty.
    """
    if group.hides_members and "Member.Read.Hidden" not in query.workspace.app.permissions:
        return [], []
    groups, queue = dict[str, Group](), [group]
    users = dict[str, User]()
    while queue:
        one = queue.pop(0)
        for user_id in one.members:
            user = query.workspace.person(user_id)
            if user is not None and not user.tenant_id:
                users[user.id] = user
        for inner_id in one.groups:
            inner = query.workspace.groups.get(inner_id)
            if inner is not None and inner_id not in groups and inner is not group:
                groups[inner_id] = inner
                queue.append(inner)
    return list(users.values()), list(groups.values())
