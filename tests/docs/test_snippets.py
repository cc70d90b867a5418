"""Every snippet of the docs runs unchanged, and does what its page says."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health import Health
from bot.people import load_people
from hitl_core import Policy
from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from tests.docs.commands import check_commands
from tests.docs.givens import API, ENDS, GIVENS, REDIS
from tests.docs.pages import ROOT, SHOWN_ONLY, Snippet, files_before, page, pages, snippets
from tests.support.bots import CLICK, Scene
from tests.support.waiting import wait_until

#: How long one snippet may take, in seconds.
PATIENCE = 30.0
SHELL = [each for each in snippets("sh") if each.given]
COMMANDS = [each for each in snippets("sh") if not each.given]
RUN = ("python", "sh", "javascript")
READ = ("yaml", "json")


def each_of(some: list[Snippet]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("snippet", some, ids=lambda snippet: snippet.name)


class Stage:
    """A workspace, a Redis, a folder with the page's files, and whatever the snippet is given."""

    def __init__(self, scene: Scene, stack: AsyncExitStack) -> None:
        self.scene, self._stack = scene, stack
        self.names: dict[str, Any] = {}

    async def prepare(self, snippet: Snippet) -> str:
        """The snippet's text, with the addresses of this stage."""
        defaults = {"policy.yaml": _policy_of_readme()}
        for name, text in (defaults | files_before(snippet)).items():
            (self.scene.folder / name).write_text(text.replace(REDIS, self.scene.redis_url))
        for given in snippet.given:
            names = await self._stack.enter_async_context(GIVENS[given](self.scene))
            self.names |= names
        text = snippet.text.replace(REDIS, self.scene.redis_url)
        return text.replace(API, self.names.get("api", API))

    async def run(self, *command: str, status: int = 0) -> str:
        """What a process in the folder said; it must end with this status."""
        tools = [_tools(self.scene.folder), Path(sys.executable).parent, os.environ.get("PATH", "")]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.scene.folder,
            env={
                "PATH": os.pathsep.join(map(str, tools)),
                "PYTHONPATH": str(ROOT),
                "HOME": str(self.scene.folder),
                "HITL_REDIS_URL": self.scene.redis_url,
                "HITL_TOKEN": self.names.get("token", ""),
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            text = (await process.communicate())[0].decode()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        assert process.returncode == status, text
        return text


@pytest.fixture
async def stage(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    monkeypatch.chdir(tmp_path)
    async with running_sandbox(answer_timeout=CLICK) as sandbox, Actor(sandbox.url) as actor:
        scene = Scene(sandbox, actor, redis_url, tmp_path)
        try:
            async with AsyncExitStack() as stack:
                yield Stage(scene, stack)
        finally:
            await scene.close()


def test_no_snippet_is_left_out() -> None:
    languages = {each.language for page in pages() for each in page.snippets}
    assert languages <= {*RUN, *READ, *SHOWN_ONLY}


@each_of([each for page in pages() for each in page.snippets if each.source])
def test_an_excerpt_is_in_its_file(snippet: Snippet) -> None:
    """As it is there, but for white space: the formatter indents it in its own way."""
    source = (ROOT / snippet.source).read_text("utf-8")
    assert "".join(snippet.text.split()) in "".join(source.split()), snippet.source


@each_of([each for each in snippets("python") if not each.source])
async def test_python_runs(snippet: Snippet, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file runs as a program, all else as the body of a coroutine."""
    monkeypatch.setenv("HITL_REDIS_URL", stage.scene.redis_url)
    text = await stage.prepare(snippet)
    async with asyncio.timeout(PATIENCE):
        if snippet.file:
            (stage.scene.folder / snippet.file).write_text(text)
            stage.names["said"] = await stage.run(sys.executable, snippet.file)
        else:
            code = eval(_compile("\n" * (snippet.line - 1) + text, snippet.name), stage.names)
            await _until(snippet, code, stage.scene) if code else None
    _check(snippet, stage.names)


@each_of(SHELL)
async def test_shell_runs(snippet: Snippet, stage: Stage) -> None:
    _needs(*(tool for tool in ("curl", "jq", "redis-cli") if f"{tool} " in snippet.text))
    text = await stage.prepare(snippet)
    async with asyncio.timeout(PATIENCE):
        stage.names["said"] = await stage.run("bash", "-euo", "pipefail", "-c", text)
    _check(snippet, stage.names)


@each_of([each for each in SHELL if "$HITL_TOKEN" in each.text])
async def test_a_wrong_token_ends_and_says_why(snippet: Snippet, stage: Stage) -> None:
    """As it is pasted into a terminal, without the options that stop at the first
    error."""
    _needs("curl", "jq")
    text = await stage.prepare(snippet)
    stage.names["token"] = "hitl_wrong_token"
    async with asyncio.timeout(PATIENCE):
        output = await stage.run("bash", "-c", text + "\nexit 3", status=3)
    assert "token" in output
    assert "401" in output


@each_of(snippets("javascript"))
async def test_javascript_runs(snippet: Snippet, stage: Stage) -> None:
    _needs("node")
    text = await stage.prepare(snippet)
    (stage.scene.folder / "snippet.mjs").write_text(text)
    async with asyncio.timeout(PATIENCE):
        stage.names["said"] = await stage.run("node", "snippet.mjs")
    _check(snippet, stage.names)


@each_of(COMMANDS)
def test_commands_exist(snippet: Snippet) -> None:
    check_commands(snippet.text)


@each_of(snippets("yaml"))
def test_policies_load(snippet: Snippet, tmp_path: Path) -> None:
    """A part of one is completed by what every policy needs. A file of people is one as well."""
    texts: dict[str, Any] = yaml.safe_load(snippet.text)
    if "people" in texts:
        path = tmp_path / "people.yaml"
        path.write_text(snippet.text)
        slack = SlackChannel(AsyncWebClient(), "#agent-approvals", Health())
        _check(snippet, {"people": load_people(str(path), Channels(slack))})
        return
    missing = "" if "default" in texts else "default: review\n"
    policy = Policy.from_yaml(missing + snippet.text)
    _check(snippet, {"policy": policy})


@each_of(snippets("json"))
def test_json_can_be_read(snippet: Snippet) -> None:
    _check(snippet, {"value": json.loads(snippet.text)})


def _needs(*tools: str) -> None:
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        pytest.skip(f"not on the PATH: {', '.join(missing)}")


def _check(snippet: Snippet, names: dict[str, Any]) -> None:
    try:
        exec(_compile(snippet.then, f"{snippet.name}, then"), names)
    except AssertionError as error:
        error.add_note(f"{snippet.then}\nSaid: {names.get('said', 'nothing')}")
        raise


def _tools(folder: Path) -> Path:
    """`hitl` of this checkout, not an installed one."""
    hitl = folder / "bin" / "hitl"
    hitl.parent.mkdir(exist_ok=True)
    main = "import sys; from hitl_core.cli import main; sys.exit(main())"
    hitl.write_text(f"#!{sys.executable}\n{main}\n")
    hitl.chmod(0o755)
    return hitl.parent


def _policy_of_readme() -> str:
    (policy,) = [each.text for each in page("README.md").snippets if each.language == "yaml"]
    return policy


def _compile(text: str, name: str) -> Any:
    return compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


async def _until(snippet: Snippet, code: Any, scene: Scene) -> None:
    """To its end, or to what the snippet waits for."""
    running = asyncio.create_task(code)
    try:
        if snippet.until:

            async def over() -> bool:
                return running.done() or await ENDS[snippet.until](scene)

            await wait_until(snippet.until, over, PATIENCE)
            assert not running.done() or running.exception() is None, running.exception()
        else:
            await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
