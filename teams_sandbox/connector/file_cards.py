"""The two cards for a file that a bot sends in a personal chat: the question whether the person wants it, and
the file.

learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4
"""

from __future__ import annotations

import re

from ..errors import TeamsError, bad_request
from ..json_checks import Json, is_object
from ..workspace import Conversation, Workspace
from .call import check_fields, text_of

CONSENT = "application/vnd.microsoft.teams.card.file.consent"
INFO = "application/vnd.microsoft.teams.card.file.info"
_CONSENT_FIELDS = frozenset({"description", "sizeInBytes", "acceptContext", "declineContext"})
_INFO_FIELDS = frozenset({"uniqueId", "fileType"})
#: The file names that OneDrive accepts, with an extension.
_NAME = re.compile(r'[^"*:<>?/\\|\x00-\x1f]{1,200}\.\w{1,10}')


def check_file_card(
    workspace: Workspace, conversation: Conversation, attachment: Json, where: str
) -> None:
    """Raises TeamsError."""
    if conversation.type != "personal":
        raise bad_request(f"{where}: files are for personal chats only")
    if not workspace.app.supports_files:
        raise TeamsError(403, "FilesNotSupported", "The manifest has no supportsFiles.")
    name = text_of(attachment.get("name"), f"{where}.name")
    if not _NAME.fullmatch(name):
        raise bad_request(f"{where}.name is no name of a file")
    content = attachment.get("content")
    if not is_object(content):
        raise bad_request(f"{where}.content must be an object")
    if attachment["contentType"] == CONSENT:
        _check_consent(content, f"{where}.content")
    else:
        _check_info(workspace, attachment, content, where)


def _check_consent(content: Json, where: str) -> None:
    check_fields(content, _CONSENT_FIELDS, where)
    text_of(content.get("description"), f"{where}.description")
    size = content.get("sizeInBytes")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise bad_request(f"{where}.sizeInBytes must be a positive number")
    for key in ("acceptContext", "declineContext"):
        if not is_object(content.get(key)):
            raise bad_request(f"{where}.{key} must be an object")


def _check_info(workspace: Workspace, attachment: Json, content: Json, where: str) -> None:
    """Checks that the file exists, because Teams shows the card of any other file as broken."""
    check_fields(content, _INFO_FIELDS, f"{where}.content")
    file = workspace.files.get(text_of(content.get("uniqueId"), f"{where}.content.uniqueId"))
    text_of(content.get("fileType"), f"{where}.content.fileType")
    if file is None or file.data is None or file.content_url != attachment.get("contentUrl"):
        raise bad_request(f"{where}: there is no such file")
