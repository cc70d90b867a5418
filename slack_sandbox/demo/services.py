"""What the demo and the check both need: Redis, the local Slack and Teams, and the bot."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..sandbox import BOT_TOKEN, SIGNING_SECRET
from .children import PROGRAM, ChildError, ChildProcess
from .embedded_redis import EmbeddedRedis, try_lock
from .ports import find_free_port, is_free
from .teams import announce, has_teams, make_teams, people_text, read_settings

APPROVALS = "C0APPROVE"
ASK = "C0ASK"


@dataclass(frozen=True)
class Services:
    """The processes that the demo's agents need, and their addresses. `redis` is None if the user's own Redis
    is used, `teams` if the extra `teams` is not installed.
    """

    data: Path
    page: str
    bot_url: str
    redis_url: str
    redis: EmbeddedRedis | None
    sandbox: ChildProcess
    bot: ChildProcess
    teams: ChildProcess | None = None
    teams_page: str = ""

    @property
    def children(self) -> list[ChildProcess]:
        return [self.sandbox, *([self.teams] if self.teams else []), self.bot]

    @property
    def redis_pid(self) -> int:
        return (self.redis and self.redis.pid) or 0


@contextmanager
def open_services(
    data: Path,
    *,
    policy: Path,
    port: int,
    teams_port: int = 0,
    ask_url: str | None = None,
    fresh: bool = False,
) -> Generator[Services, None, None]:
    """Everything except the agent; it runs until the block ends. `port` and `teams_port` are the ports of the
    pages; 0 takes a free one.
    """
    for used in filter(None, (port, teams_port)):
        if not is_free(used):
            raise ChildError(
                f"Port {used} is in use, maybe by another demo. Choose another: --port N."
            )
    with ExitStack() as stack:
        stack.enter_context(_hold_folder(data))
        if fresh:
            shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True, exist_ok=True)
        redis: EmbeddedRedis | None = None
        redis_url = os.environ.get("HITL_REDIS_URL", "")
        if not redis_url:
            redis = stack.enter_context(EmbeddedRedis(data / "redis"))
            redis_url = redis.url
        bot_port = find_free_port()
        sandbox = _make_sandbox(data, port or find_free_port(), bot_port, ask_url)
        stack.callback(sandbox.stop)
        sandbox.start()
        page = sandbox.text().split()[1]
        teams, teams_page, settings = None, "", dict[str, str]()
        if has_teams():
            teams = make_teams(teams_port, bot_port, data / "logs")
            stack.callback(teams.stop)
            teams.start()
            teams_page, settings = read_settings(teams)
            people = data / "people.yaml"
            people.write_text(asyncio.run(people_text(teams_page)), "utf-8")
            settings["HITL_PEOPLE"] = str(people)
        bot = _make_bot(data, page, redis_url, bot_port, policy, settings)
        stack.callback(bot.stop)
        bot.start()
        if teams_page:
            asyncio.run(announce(teams_page))
        bot_url = f"http://127.0.0.1:{bot_port}"
        yield Services(data, page, bot_url, redis_url, redis, sandbox, bot, teams, teams_page)


@contextmanager
def _hold_folder(data: Path) -> Generator[None, None, None]:
    """The folder belongs to this demo during the block. Raises ChildError if another one has it. The lock is
    beside the folder, because a fresh demo deletes the folder.
    """
    data.parent.mkdir(parents=True, exist_ok=True)
    with data.with_name(f"{data.name}.lock").open("w") as lock:
        if not try_lock(lock):
            raise ChildError(
                f"Another demo uses the folder {data}. End it, or choose another folder: --data FOLDER."
            )
        yield


def _make_sandbox(data: Path, port: int, bot_port: int, ask_url: str | None) -> ChildProcess:
    arguments = [
        PROGRAM,
        f"--port={port}",
        f"--bot-url=http://127.0.0.1:{bot_port}/slack/events",
        f"--data={data / 'workspace.json'}",
        *([f"--ask-url={ask_url}"] if ask_url else []),
    ]
    return ChildProcess("sandbox", arguments, "sandbox: http", data / "logs")


def _make_bot(
    data: Path, page: str, redis_url: str, port: int, policy: Path, teams: dict[str, str]
) -> ChildProcess:
    environment = {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": f"{page}api/",
        "HITL_REDIS_URL": redis_url,
        "HITL_CHANNEL": "#agent-approvals",
        "HITL_POLICY": str(policy),
        "HITL_HOST": "127.0.0.1",
        "HITL_PORT": str(port),
        **teams,
    }
    return ChildProcess("bot", ["hitl_core", "serve"], "bot: listening", data / "logs", environment)
