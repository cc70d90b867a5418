"""What goes over the network: requests from Teams with their checks, and our calls."""

from .activity import Account, Activity, ExecuteValue, InvalidActivity, parse_execute
from .api import Api, Request, read_field
from .cloud import CONNECTOR_SCOPE, Cloud
from .conversations import Conversations
from .endpoint import PATH, Answer, TeamsEndpoint
from .guard import Forbidden, Guard, is_teams_url
from .messages import OwnMessages, card_activity
from .people import PeopleLookup
from .references import Reference, References
from .signing_keys import KeysUnavailable, SigningKeys
from .tokens import Credentials, Tokens

__all__ = [
    "CONNECTOR_SCOPE",
    "PATH",
    "Account",
    "Activity",
    "Answer",
    "Api",
    "Cloud",
    "Conversations",
    "Credentials",
    "ExecuteValue",
    "Forbidden",
    "Guard",
    "InvalidActivity",
    "KeysUnavailable",
    "OwnMessages",
    "PeopleLookup",
    "Reference",
    "References",
    "Request",
    "SigningKeys",
    "TeamsEndpoint",
    "Tokens",
    "card_activity",
    "is_teams_url",
    "parse_execute",
    "read_field",
]
