"""The members of a conversation or team, and the details and channels of a team.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/get-teams-context
"""

from __future__ import annotations

from typing import Any

from ..errors import TeamsError, bad_request
from ..json_checks import Json
from ..workspace import Team, User, Workspace
from .call import Call

MIN_PAGE, MAX_PAGE, DEFAULT_PAGE = 50, 500, 200


def to_account(user: User, workspace: Workspace) -> Json:
    """A person as the Connector shows them to the bot. People of another tenant have no address."""
    given, _, surname = user.display_name.partition(" ")
    account: Json = {
        "id": user.mri,
        "name": user.display_name,
        "objectId": user.id,
        "givenName": given,
        "surname": surname,
        "tenantId": workspace.tenant_of(user),
        "userRole": "user",
    }
    if not user.tenant_id:
        account |= {"email": user.mail, "userPrincipalName": user.upn}
    return account


def get_members(call: Call) -> Any:
    """GET …/members: all members in one answer. Teams has deprecated it for large conversations."""
    found = call.workspace.members(call.conversation())
    return [to_account(user, call.workspace) for user in found]


def get_member(call: Call) -> Json:
    """GET …/members/{id}."""
    return to_account(call.member(call.conversation(), call.item), call.workspace)


def get_paged_members(call: Call) -> Json:
    """GET …/pagedmembers. A page has 50 to 500 members, even if `pageSize` is smaller or larger."""
    found = call.workspace.members(call.conversation())
    try:
        size = int(call.query.get("pageSize", DEFAULT_PAGE))
        start = int(call.query.get("continuationToken", "page-0").removeprefix("page-"))
    except ValueError:
        raise bad_request("pageSize or continuationToken is wrong") from None
    end = start + min(max(size, MIN_PAGE), MAX_PAGE)
    page: Json = {"members": [to_account(user, call.workspace) for user in found[start:end]]}
    return page | ({"continuationToken": f"page-{end}"} if end < len(found) else {})


def get_team(call: Call) -> Json:
    """GET /v3/teams/{id}."""
    team = _team(call)
    return {
        "id": team.id,
        "name": team.name,
        "type": "standard",
        "aadGroupId": team.group_id,
        "tenantId": call.workspace.tenant_id,
        "channelCount": len(call.workspace.channels(team)),
        "memberCount": len(team.members),
    }


def get_channels(call: Call) -> Json:
    """GET /v3/teams/{id}/conversations. General has no name; private channels are left out."""
    found = [one for one in call.workspace.channels(_team(call)) if one.kind != "private"]
    return {
        "conversations": [
            {"id": one.id, "name": None if one.is_general else one.name, "type": one.kind}
            for one in found
        ]
    }


def _team(call: Call) -> Team:
    team = call.workspace.team(call.conversation_id)
    if team is None or team.id != call.conversation_id:
        raise TeamsError(404, "ConversationNotFound", "Team not found.")
    if not team.installed:
        raise TeamsError(
            403, "BotNotInConversationRoster", "The bot is not part of the conversation roster."
        )
    return team
