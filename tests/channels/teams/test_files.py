"""Where the bot may send files of Teams, and how they are named."""

from __future__ import annotations

import httpx
import pytest

from bot.channels.teams.transport import ForbiddenAddress, Uploads
from bot.channels.teams.transport.requests import UploadInfo

GOOD = "https://acme-my.sharepoint.com/personal/alice/_api/v2.0/drive/items/01/uploadSession?tempauth=x"
#: (address, whether a file may go there)
ADDRESSES = [
    (GOOD, True),
    ("https://acme.sharepoint.com/sites/x#y", True),
    ("https://ACME.SharePoint.com:443/", True),
    ("https://agency.sharepoint.us/x", True),
    ("https://agency.sharepoint-mil.us/x", True),
    ("http://acme.sharepoint.com/", False),
    ("https://sharepoint.com.evil.example/", False),
    ("https://acme.sharepoint.com.evil.example/", False),
    ("https://evilsharepoint.com/", False),
    ("https://evil.example/acme.sharepoint.com", False),
    ("https://evil.example?.sharepoint.com", False),
    ("https://evil.example#.sharepoint.com", False),
    ("https://evil.example\\.sharepoint.com", False),
    ("https://acme.sharepoint.com@evil.example/", False),
    ("https://user:word@acme.sharepoint.com/", False),
    ("https://acme.sharepoint.com:8443/", False),
    ("https://acme.sharepoint.com./", False),
    ("https://acme.sharepoint.c\u043em/", False),  # a Cyrillic letter
    ("https://acme.sharepoint.com/\n", False),
    ("https://acme.sharepoint.com/a b", False),
    ("https://[::1].sharepoint.com/", False),
    ("https://169.254.169.254/latest", False),
    ("//acme.sharepoint.com/", False),
    ("file://acme.sharepoint.com/", False),
    ("", False),
]


def info(upload: str = GOOD, content: str = GOOD) -> UploadInfo:
    return UploadInfo(upload_url=upload, content_url=content, name="note.txt", unique_id="1")


@pytest.mark.parametrize(("url", "verdict"), ADDRESSES)
def test_files_go_only_to_sharepoint(url: str, verdict: bool) -> None:
    """T39: given this address in an accepted file, then only SharePoint's pass."""
    assert Uploads(httpx.AsyncClient()).allows(url) is verdict


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://127.0.0.1:9000/upload", True),
        ("http://127.0.0.1:90001/upload", False),
        ("http://127.0.0.1:9000@evil.example/", False),
        (GOOD, False),
    ],
)
def test_a_sandbox_gets_files_only_if_it_is_set(url: str, verdict: bool) -> None:
    """Given the URL of a sandbox in the settings, then only its addresses pass."""
    assert Uploads(httpx.AsyncClient(), "http://127.0.0.1:9000").allows(url) is verdict


@pytest.mark.parametrize(
    ("upload", "content"),
    [("https://evil.example/", GOOD), (GOOD, "https://evil.example/")],
)
async def test_nothing_is_sent_to_another_address(upload: str, content: str) -> None:
    """Given another address for the upload, or for the file's card, then no request is made."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError("a request was made")

    async with httpx.AsyncClient(transport=httpx.MockTransport(refuse)) as http:
        with pytest.raises(ForbiddenAddress):
            await Uploads(http).write(info(upload, content), b"text")


async def test_a_redirect_is_not_followed() -> None:
    """Given SharePoint answers with another address, then the file does not go there."""
    seen: list[str] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(307, headers={"Location": "https://evil.example/"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(redirect)) as http:
        http.follow_redirects = True
        with pytest.raises(Exception, match="OneDrive"):
            await Uploads(http).write(info(), b"text")
    assert seen == [GOOD]
