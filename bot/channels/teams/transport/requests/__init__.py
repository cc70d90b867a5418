"""Requests from Teams: `TeamsEndpoint` checks their token, then the content of their body."""

from .activity import (
    Account,
    Activity,
    ExecuteValue,
    FileConsent,
    InvalidActivity,
    UploadInfo,
    parse_activity,
    parse_execute,
    parse_file_consent,
)
from .endpoint import PATH, Answer, TeamsEndpoint
from .guard import Forbidden, Guard, https_host, is_teams_url
from .signing_keys import KeysUnavailable, SigningKeys

__all__ = [
    "PATH",
    "Account",
    "Activity",
    "Answer",
    "ExecuteValue",
    "FileConsent",
    "Forbidden",
    "Guard",
    "InvalidActivity",
    "KeysUnavailable",
    "SigningKeys",
    "TeamsEndpoint",
    "UploadInfo",
    "https_host",
    "is_teams_url",
    "parse_activity",
    "parse_execute",
    "parse_file_consent",
]
