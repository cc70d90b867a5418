"""The connection to Teams: its requests, with their checks, and our calls."""

from .api import Api
from .bounded_client import BoundedClient
from .cloud import CONNECTOR_SCOPE, Cloud
from .conversations import Conversations
from .files import (
    UPLOAD_TIMEOUT,
    ForbiddenAddress,
    Uploads,
    consent_activity,
    file_activity,
)
from .messages import OwnMessages, card_activity
from .people import PeopleLookup
from .references import Reference, References
from .requests import (
    PATH,
    Account,
    Activity,
    Answer,
    ExecuteValue,
    FileConsent,
    Forbidden,
    Guard,
    InvalidActivity,
    KeysUnavailable,
    SigningKeys,
    TeamsEndpoint,
    is_teams_url,
    parse_execute,
    parse_file_consent,
)
from .tokens import Credentials, Tokens

__all__ = [
    "CONNECTOR_SCOPE",
    "PATH",
    "UPLOAD_TIMEOUT",
    "Account",
    "Activity",
    "Answer",
    "Api",
    "BoundedClient",
    "Cloud",
    "Conversations",
    "Credentials",
    "ExecuteValue",
    "FileConsent",
    "Forbidden",
    "ForbiddenAddress",
    "Guard",
    "InvalidActivity",
    "KeysUnavailable",
    "OwnMessages",
    "PeopleLookup",
    "Reference",
    "References",
    "SigningKeys",
    "TeamsEndpoint",
    "Tokens",
    "Uploads",
    "card_activity",
    "consent_activity",
    "file_activity",
    "is_teams_url",
    "parse_execute",
    "parse_file_consent",
]
