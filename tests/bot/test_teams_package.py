"""The app for Teams: `hitl teams-package` writes a package that Teams accepts, with the permissions that the
bot needs.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from hitl_core.cli import main
from teams_sandbox.workspace import DEFAULT_PERMISSIONS

ROOT = Path(__file__).parents[2]
ID = "8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11"
HOST = "approver.example.com"
GUID = re.compile("[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
#: The longest texts (learn.microsoft.com/microsoftteams/platform/resources/schema/manifest-schema; the
#: strictest of versions 1.16 to 1.29).
LONGEST = {
    "version": 256,
    "developer.name": 32,
    "developer.websiteUrl": 2048,
    "developer.privacyUrl": 2048,
    "developer.termsOfUseUrl": 2048,
    "name.short": 30,
    "name.full": 100,
    "description.short": 80,
    "description.full": 4000,
}
#: All keys that are used, of those in the schema.
KEYS = {
    "$schema", "manifestVersion", "version", "id", "developer", "name", "description", "icons",
    "accentColor", "bots", "permissions", "validDomains", "webApplicationInfo", "authorization",
}  # fmt: skip


@pytest.fixture(autouse=True)
def client_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAMS_CLIENT_ID", ID.upper())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "app.zip"


def run(file: Path, *words: str, host: str = HOST) -> int:
    return main(["teams-package", "--host", host, "--out", str(file), *words])


def read(file: Path, name: str) -> bytes:
    with zipfile.ZipFile(file) as package:
        assert package.testzip() is None
        return package.read(name)


def manifest(file: Path) -> dict[str, Any]:
    return json.loads(read(file, "manifest.json"))


def value(one: Any, path: str) -> Any:
    for key in path.split("."):
        one = one[key]
    return one


def test_the_package_has_three_files_at_its_top(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file) == 0
    assert zipfile.ZipFile(file).namelist() == ["manifest.json", "color.png", "outline.png"]
    assert f"https://{HOST}/api/messages" in capsys.readouterr().out


def test_the_manifest_keeps_microsofts_rules(file: Path) -> None:
    """Its keys, the length of each text, GUIDs, URLs, and the version of the schema that it names."""
    run(file, "--name", "N" * 30)
    one = manifest(file)
    assert set(one) == KEYS
    assert one["$schema"].endswith(f"/v{one['manifestVersion']}/MicrosoftTeams.schema.json")
    assert (1, 16) <= tuple(map(int, one["manifestVersion"].split("."))) < (2, 0)
    too_long = [path for path, most in LONGEST.items() if not 0 < len(value(one, path)) <= most]
    assert too_long == []
    for path in ("id", "webApplicationInfo.id"):
        assert GUID.fullmatch(value(one, path))
    for key in ("websiteUrl", "privacyUrl", "termsOfUseUrl"):
        assert one["developer"][key].startswith("https://")
    assert re.fullmatch("#[0-9A-F]{6}", one["accentColor"])
    assert one["validDomains"] == [HOST]


def test_the_bot_works_for_people_teams_and_group_chats(file: Path) -> None:
    """And each scope has the commands."""
    run(file)
    (bot,) = manifest(file)["bots"]
    assert bot["botId"] == ID
    assert set(bot["scopes"]) == {"personal", "team", "groupChat"}
    assert bot["supportsFiles"] is True  # else nobody can accept a file
    (commands,) = bot["commandLists"]
    assert commands["scopes"] == bot["scopes"]
    titles = [one["title"] for one in commands["commands"]]
    assert titles == ["approvals", "help"]
    for one in commands["commands"]:
        assert len(one["title"]) <= 32
        assert 0 < len(one["description"]) <= 128


def test_it_asks_to_read_only_where_it_was_added(file: Path) -> None:
    """The permissions by which a card is found again are those of one team or chat, not of the tenant."""
    run(file)
    asked = manifest(file)["authorization"]["permissions"]["resourceSpecific"]
    assert asked == [
        {"name": "ChannelMessage.Read.Group", "type": "Application"},
        {"name": "ChatMessage.Read.Chat", "type": "Application"},
    ]


def test_an_administrator_reads_why_each_permission_is_asked_for(file: Path) -> None:
    """Those of the manifest and of Graph, in docs/teams.md; the local Teams grants the same."""
    run(file)
    asked = manifest(file)["authorization"]["permissions"]["resourceSpecific"]
    text = (ROOT / "docs" / "teams.md").read_text("utf-8")
    table = re.findall(r"^\| `([\w.]+)` \([^|]*\) \|", text, re.MULTILINE)
    assert {one["name"] for one in asked} < set(table)
    assert set(table) == DEFAULT_PERMISSIONS


@pytest.mark.parametrize(("name", "size"), [("color.png", 192), ("outline.png", 32)])
def test_the_icons_have_teams_sizes(file: Path, name: str, size: int) -> None:
    """Given a reader of PNG's chunks; then the size, the checksums and the number of bytes are right. The
    color icon has no transparency, and the other one is white on nothing."""
    run(file)
    pixels = read_png(read(file, name), size)
    alphas = pixels[3::4]
    if name == "color.png":
        assert set(alphas) == {255}
    else:
        assert min(alphas) == 0
        assert max(alphas) == 255
        assert {*pixels[0::4], *pixels[1::4], *pixels[2::4]} == {255}


def read_png(data: bytes, size: int) -> bytes:
    """Its pixels: red, green, blue and alpha of each."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, list[tuple[bytes, bytes]]()
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
        chunks.append((kind, body))
        at += length + 12
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">2I5B", chunks[0][1]) == (size, size, 8, 6, 0, 0, 0)
    lines, row = zlib.decompress(chunks[1][1]), size * 4 + 1
    assert len(lines) == size * row
    assert {lines[start] for start in range(0, len(lines), row)} == {0}  # no filter
    return b"".join(lines[start + 1 : start + row] for start in range(0, len(lines), row))


def test_a_file_is_replaced_only_by_force(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("mine")
    assert run(file) == 2
    assert capsys.readouterr().err == f"hitl: {file} exists already: use --force to replace it.\n"
    assert file.read_text() == "mine"

    assert run(file, "--force") == 0
    assert manifest(file)["id"] == ID


def test_the_same_app_gives_the_same_file(file: Path, tmp_path: Path) -> None:
    run(file)
    run(tmp_path / "again.zip")
    assert file.read_bytes() == (tmp_path / "again.zip").read_bytes()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--host", "https://approver.example.com"], "--host must be a name without https://"),
        (["--host", "localhost"], "--host must be a name"),
        (["--host", "approver.example.com:3000"], "--host must be a name"),
        (["--website", "http://example.com"], "--website must be a URL like https://"),
        (["--name", "N" * 31], "--name must have 1 to 30 characters"),
        (["--name", " "], "--name must have 1 to 30 characters"),
        (["--app-version", "1"], "--app-version must be three numbers"),
        (["--out", "/nowhere/app.zip"], "/nowhere/app.zip can't be written"),
    ],
)
def test_a_wrong_value_is_one_sentence(
    file: Path, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, *words) == 2
    error = capsys.readouterr().err
    assert text in error
    assert len(error.splitlines()) == 1
    assert not file.exists()


@pytest.mark.parametrize(
    ("id", "text"), [("", "is not set"), ("bot", "must be an ID like"), (ID[:-1], "must be an ID")]
)
def test_without_the_bots_id_there_is_no_package(
    file: Path,
    id: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEAMS_CLIENT_ID", id)
    assert run(file) == 2
    assert f"TEAMS_CLIENT_ID {text}" in capsys.readouterr().err
