"""`hitl teams-package`: writes the app's zip file."""

from __future__ import annotations

import argparse
import json
import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hitl_core.cli import add_command, complain
from hitl_core.errors import SettingsError

from .icons import color_icon, outline_icon
from .manifest import App, make_manifest

if TYPE_CHECKING:
    from hitl_core.cli import Commands

#: Where Teams' requests arrive at the bot.
ENDPOINT = "/api/messages"
#: The longest name that Teams shows.
MAX_NAME = 30
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOST = re.compile(r"(?!-)([a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,63}")
_VERSION = re.compile(r"(0|[1-9][0-9]{0,4})(\.(0|[1-9][0-9]{0,4})){2}")

_DETAILS = """\
An administrator uploads it once: Teams admin center, Teams apps, Manage apps.
It needs TEAMS_CLIENT_ID, and the host at which the bot answers Teams."""
_EPILOG = """\
example:
  $ hitl teams-package --host approver.example.com
  teams-package.zip: upload it in the Teams admin center.
  Messaging endpoint of the Azure Bot: https://approver.example.com/api/messages

Exits with 0 if the file was written; 2 if a value is wrong or the file exists
already.
"""


def add_to(commands: Commands) -> None:
    """Add `hitl teams-package`."""
    parser = add_command(
        commands,
        "teams-package",
        run,
        help="write the app that an administrator uploads to Teams",
        details=_DETAILS,
        epilog=_EPILOG,
    )
    parser.add_argument("--host", required=True, help="the bot's public host name")
    parser.add_argument("--out", metavar="FILE", default="teams-package.zip", help="the zip file")
    parser.add_argument("--name", default=App.name, help="the app's name in Teams")
    parser.add_argument(
        "--website", metavar="URL", help="a page about the app; without it https://HOST"
    )
    parser.add_argument(
        "--app-version",
        metavar="N.N.N",
        default=App.version,
        help="Teams takes a changed package only with a higher one",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> int:
    try:
        app = _read_app(args)
        write_package(app, Path(args.out), force=args.force)
    except SettingsError as error:
        return complain(str(error))
    print(f"{args.out}: upload it in the Teams admin center.")
    print(f"Messaging endpoint of the Azure Bot: https://{app.host}{ENDPOINT}")
    return 0


def write_package(app: App, path: Path, *, force: bool) -> None:
    """The same app gives the same bytes. Raises SettingsError if the file exists, or can't be written."""
    files = {
        "manifest.json": json.dumps(make_manifest(app), indent=2, ensure_ascii=False).encode(),
        "color.png": color_icon(),
        "outline.png": outline_icon(),
    }
    try:
        with path.open("wb" if force else "xb") as file, zipfile.ZipFile(file, "w") as package:
            for name, content in files.items():
                package.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    except FileExistsError:
        raise SettingsError(f"{path} exists already: use --force to replace it.") from None
    except OSError as error:
        raise SettingsError(f"{path} can't be written: {error.strerror or error}.") from None


def _read_app(args: argparse.Namespace) -> App:
    client_id = os.environ.get("TEAMS_CLIENT_ID", "").strip().lower()
    if not _GUID.fullmatch(client_id):
        what = (
            "must be an ID like 8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11" if client_id else "is not set"
        )
        raise SettingsError(
            f"TEAMS_CLIENT_ID {what}. It is the Microsoft App ID of your Azure Bot."
        )
    host = str(args.host).strip().lower()
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise SettingsError(
            "--host must be a name without https:// and path: approver.example.com."
        )
    website = args.website or f"https://{host}"
    if not _is_website(website):
        raise SettingsError("--website must be a URL like https://example.com/approver.")
    name = " ".join(str(args.name).split())
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise SettingsError(f"--name must have 1 to {MAX_NAME} characters.")
    if not _VERSION.fullmatch(args.app_version):
        raise SettingsError("--app-version must be three numbers like 1.0.1.")
    return App(client_id, host, website, name, args.app_version)


def _is_website(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (
        parts.scheme == "https" and bool(parts.hostname) and url.isprintable() and len(url) <= 2048
    )
