"""Dockerfile, compose.yaml and .env.example: no test builds an image, but their settings are read and their
commands are run.
"""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import io
import json
import re
import sys
import tomllib
from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import yaml

from bot.settings import Settings
from hitl_core.cli import main
from hitl_core.store import RedisStore
from slack_sandbox.client.actor import Actor
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.server import running_sandbox
from tests.support.bots import CLICK, Process, Scene
from tests.support.processes.installation import SOURCES, build_wheel, copy_sources, install
from tests.support.redis_servers.server import executable_under_test

ROOT = Path(__file__).parents[1]
#: A whole version, not one that moves.
PINNED = re.compile(r"[a-z]+:\d+\.\d+\.\d+-[a-z-]+")
#: How long a bot may take to end, in seconds (docs/operations.md).
GRACE = 10


class Instruction(NamedTuple):
    name: str
    text: str


def instructions() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [Instruction(*line.split(maxsplit=1)) for line in lines if line.strip()]


def texts(name: str) -> list[str]:
    return [each.text for each in instructions() if each.name == name]


def command(name: str) -> list[str]:
    """What an instruction runs, in the form without a shell."""
    (text,) = texts(name)
    return json.loads(text[text.index("[") :])


def checkout_files() -> list[str]:
    """Everything that comes from the checkout."""
    return [
        source for text in texts("COPY") if "--from" not in text for source in text.split()[:-1]
    ]


def is_ignored(path: str) -> bool:
    """As .dockerignore has it: the last line that fits speaks."""
    left_out = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = [path, *map(str, Path(path).parents), *Path(path).parts]
        if line and not line.startswith("#") and any(fnmatch.fnmatch(p, pattern) for p in parts):
            left_out = not line.startswith("!")
    return left_out


def is_accepted(words: list[str]) -> bool:
    """Whether only its settings keep `hitl …` from running."""
    text = io.StringIO()
    with mock.patch.dict("os.environ", clear=True), contextlib.redirect_stderr(text):
        return main(words) == 2 and "not set" in text.getvalue()


def names_of_settings() -> set[str]:
    return {field.name.upper() for field in fields(Settings)}


@pytest.fixture
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.fixture
async def scene(redis_url: str, tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_sandbox(answer_timeout=CLICK) as sandbox, Actor(sandbox.url) as actor:
        scene = Scene(sandbox, actor, redis_url, tmp_path)
        yield scene
        await scene.close()


# --------------------------------------------------------------------------------- Dockerfile


def test_its_base_is_pinned_and_its_user_is_nobody() -> None:
    bases = {text.split()[0] for text in texts("FROM")}
    assert len(bases) == 1
    assert all(PINNED.fullmatch(base) for base in bases)
    (user,) = texts("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert " HOME=/app " in texts("ENV")[-1], "without one slack_sdk can't be imported"


def test_what_it_copies_is_there_and_let_in() -> None:
    assert checkout_files()
    for source in checkout_files():
        assert (ROOT / source).exists(), source
        assert not is_ignored(source), f".dockerignore leaves out {source}"


def test_no_secret_comes_into_a_layer() -> None:
    """Neither from a file that lies about, nor by an instruction."""
    for name in (".env", ".git", ".demo", "tests", "bot/.env", "hitl_core/.env.local"):
        assert is_ignored(name), name
    assert texts("ARG") == []
    assert not re.search("TOKEN|SECRET|PASSWORD|xoxb|xapp", " ".join(texts("ENV") + texts("RUN")))


def test_its_pip_step_knows_its_extras() -> None:
    """Those of both chat systems: one image is for each."""
    (install,) = [text for text in texts("RUN") if "[slack" in text]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.findall(r"\[([\w,]+)\]", install) == ["slack,teams"]
    assert {"slack", "teams"} <= project["optional-dependencies"].keys()


def test_every_version_is_exact() -> None:
    """Given all that pip is told to fetch, also to build our wheel;
    then constraints.txt has an exact version of it, and no build brings others by itself."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()[1:]
    exact = dict(line.split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["slack"],
        *project["project"]["optional-dependencies"]["teams"],
    ]
    needed += project["build-system"]["requires"]
    names = {_normal(re.split(r"[<>=;\[ ]", one)[0]) for one in needed}
    assert names <= {_normal(name) for name in exact}
    for text in texts("RUN"):
        if " install " in text:
            assert "--constraint constraints.txt" in text
        if " wheel " in text:
            assert "--no-build-isolation --no-deps" in text
    assert all(re.fullmatch(r"[\w.+!-]+", version) for version in exact.values())
    assert "://" not in "".join(lines), "no registry's address"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_it_runs_what_the_bot_accepts() -> None:
    assert command("ENTRYPOINT") == ["hitl"]
    assert is_accepted(command("CMD"))
    assert texts("STOPSIGNAL") == ["SIGTERM"]


async def test_what_it_holds_is_enough_for_the_bot(scene: Scene, tmp_path: Path) -> None:
    """Given the wheel of the files that the image gets, installed as there, then the bot serves, and
    HEALTHCHECK says so; after SIGTERM it ends in time, and HEALTHCHECK says that."""
    assert set(SOURCES) <= set(checkout_files())
    installed = install(build_wheel(copy_sources(tmp_path / "src"), tmp_path), tmp_path, "slack")
    with (tmp_path / "bot.log").open("wb") as log:
        program = await asyncio.create_subprocess_exec(
            installed.venv / "bin" / command("ENTRYPOINT")[0], *command("CMD"),
            cwd=installed.folder, env=scene.environment(), stdout=log, stderr=log,
        )  # fmt: skip
    running = Process(program, tmp_path / "bot.log")
    scene.processes.append(running)
    await running.listening()
    port = running.url.split(":")[2].partition("/")[0]

    assert await _health(port) == 0
    program.terminate()
    assert await running.wait_end(GRACE) == 0, running.output
    assert await _health(port) != 0


async def _health(port: str) -> int:
    _, *rest = command("HEALTHCHECK")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *rest, env={"HITL_PORT": port}, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait()


# ------------------------------------------------------------------------------- compose.yaml


def test_both_halves_of_the_bot_are_there(compose: dict[str, Any]) -> None:
    bots = {name: s for name, s in compose["services"].items() if s.get("image") == "hitl-bot"}
    assert {s["command"][-1] for s in bots.values()} == {"http", "workers"}
    for service in bots.values():
        assert is_accepted(service["command"])
        assert set(service["environment"]) <= names_of_settings()
        assert (ROOT / service["build"] / "Dockerfile").is_file()
        assert int(service["stop_grace_period"].removesuffix("s")) > GRACE
        assert service["depends_on"]["redis"] == {"condition": "service_healthy"}
        ours = {"env_file": ".env", "read_only": True, "cap_drop": ["ALL"]}
        assert ours.items() <= service.items()


async def test_its_redis_forgets_nothing(compose: dict[str, Any], tmp_path: Path) -> None:
    """Given the server's own options, then a real one takes them, and the bot takes that server."""
    service = compose["services"]["redis"]
    assert PINNED.fullmatch(service["image"])
    # Of redis-cli 7.0 and later: without -e it exits with 0 while Redis is loading its data.
    assert service["healthcheck"]["test"] == ["CMD", "redis-cli", "-e", "ping"]
    assert [volume.partition(":")[0] for volume in service["volumes"]] == list(compose["volumes"])
    program, *options = service["command"]
    assert program == "redis-server"
    shown = {
        name.removeprefix("--"): value
        for name, value in zip(options[::2], options[1::2], strict=True)
    }

    server = EmbeddedRedis(tmp_path, executable=executable_under_test(), settings=shown)
    with server:
        store = await RedisStore.open(server.url)
        await store.close()

    durable = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    assert durable.items() <= shown.items()


def test_nothing_of_it_is_open_to_the_network(compose: dict[str, Any]) -> None:
    ports = [port for s in compose["services"].values() for port in s.get("ports", [])]
    assert ports
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}


# ------------------------------------------------------------------------------- .env.example


def test_the_example_settings_are_settings() -> None:
    """Filled in as it says, for Socket Mode and for HTTP; what compose.yaml sets is not in it."""
    named, given = dict[str, str](), dict[str, str]()
    for line in (ROOT / ".env.example").read_text().splitlines():
        if setting := re.fullmatch(r"(# )?([A-Z_]+)=(.*)", line):
            out, name, value = setting.groups()
            named[name] = value
            given |= {} if out else {name: value}
            # Docker and Compose read quotes and comments each in its own way.
            assert not re.search(r"[\"']| #", value)
    set_elsewhere = {"HITL_REDIS_URL", "HITL_HOST", "HITL_PORT", "SLACK_API_URL", "TEAMS_CLOUD_URL"}
    assert named.keys() == names_of_settings() - set_elsewhere

    Settings.from_environment(given)
    Settings.from_environment(given | {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "s"})
    assert not Settings.from_environment(given).has_teams
