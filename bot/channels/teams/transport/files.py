"""Files for a person. Teams first asks the person, in their own chat with the bot. If they accept, Teams
names an address in their OneDrive, and the bot writes the file there.

learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import httpx

from ....text import one_line, shorten
from ...contract import Undeliverable, Unreachable
from .errors import Data, check_status, error_translation
from .messages import MAX_SUMMARY
from .requests import UploadInfo, https_host

#: The hosts of SharePoint and OneDrive. The last two are the clouds of the US government.
FILE_DOMAINS = (".sharepoint.com", ".sharepoint.us", ".sharepoint-mil.us")
#: The time limit of an upload, in seconds. No person waits for its answer.
UPLOAD_TIMEOUT = 10.0
_NAME = "the upload to OneDrive"
_CONSENT = "application/vnd.microsoft.teams.card.file.consent"
_INFO = "application/vnd.microsoft.teams.card.file.info"


class ForbiddenAddress(Undeliverable):
    """A file may not go there."""


@dataclass(frozen=True)
class Uploads:
    """`cloud_url`: the address of a sandbox; then only its addresses are allowed."""

    http: httpx.AsyncClient
    cloud_url: str = ""

    def allows(self, url: str) -> bool:
        """Whether files may be written to this address."""
        if self.cloud_url:
            return url.startswith(f"{self.cloud_url.rstrip('/')}/")
        return https_host(url).endswith(FILE_DOMAINS)

    async def write(self, info: UploadInfo, data: bytes) -> None:
        """Write the whole file, without our token: the address itself gives the right. Raises
        ForbiddenAddress, Undeliverable, RateLimited or Unreachable.
        """
        if not (self.allows(info.upload_url) and self.allows(info.content_url)):
            raise ForbiddenAddress("Teams named an address for a file that is not SharePoint's")
        async with error_translation(_NAME), asyncio.timeout(UPLOAD_TIMEOUT):
            answer = await self.http.put(
                info.upload_url,
                content=data,
                headers={"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"},
                follow_redirects=False,
                timeout=UPLOAD_TIMEOUT,
            )
        check_status(_NAME, answer)
        if answer.status_code not in (200, 201):  # 202: it waits for more
            raise Unreachable(f"{_NAME} answered HTTP {answer.status_code}")


def consent_activity(name: str, size: int, description: str, context: Data) -> Data:
    """The question whether the person wants a file of `size` bytes. The answer has the `context` too."""
    content: Data = {
        "description": description,
        "sizeInBytes": size,
        "acceptContext": context,
        "declineContext": context,
    }
    return _activity({"contentType": _CONSENT, "name": name, "content": content}, name)


def file_activity(info: UploadInfo) -> Data:
    """The message with the file that was written there."""
    content: Data = {"uniqueId": info.unique_id, "fileType": info.file_type}
    card: Data = {"contentType": _INFO, "contentUrl": info.content_url, "name": info.name}
    return _activity({**card, "content": content}, info.name)


def _activity(attachment: Data, name: str) -> Data:
    summary = shorten(one_line(name), MAX_SUMMARY)
    return {"type": "message", "summary": summary, "attachments": [attachment]}
