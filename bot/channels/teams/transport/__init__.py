"""What goes over the network: requests from Teams with their checks, and our calls."""

from .activity import Account, Activity, ExecuteValue, InvalidActivity, is_guid, parse_execute
from .endpoint import PATH, Answer, TeamsEndpoint
from .guard import Forbidden, Guard, is_teams_url
from .signing_keys import KeysUnavailable, SigningKeys

__all__ = [
    "PATH",
    "Account",
    "Activity",
    "Answer",
    "ExecuteValue",
    "Forbidden",
    "Guard",
    "InvalidActivity",
    "KeysUnavailable",
    "SigningKeys",
    "TeamsEndpoint",
    "is_guid",
    "is_teams_url",
    "parse_execute",
]
