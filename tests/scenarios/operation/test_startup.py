"""`hitl serve`: one sentence for each wrong setting; probes; a clean stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
from urllib.parse import urljoin

import aiohttp
import pytest

from hitl_core.errors import SettingsError
from slack_sandbox.server import running_sandbox
from tests.support.bots import ROOT, Scene, email
from tests.support.slack import review_of

WRONG = [
    ({"SLACK_BOT_TOKEN": ""}, "SLACK_BOT_TOKEN is not set"),
    ({"SLACK_SIGNING_SECRET": " ", "HITL_CHANNEL": ""}, "SLACK_SIGNING_SECRET and HITL_CHANNEL"),
    ({"SLACK_BOT_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN is not a bot token"),
    ({"SLACK_BOT_TOKEN": "xoxb-wrong"}, "SLACK_BOT_TOKEN"),
    ({"SLACK_API_URL": "http://[::1"}, "SLACK_API_URL"),
    ({"SLACK_API_URL": "https://slack.com/api"}, "SLACK_API_URL must end in a slash"),
    ({"SLACK_API_URL": "http://127.0.0.1:1/api/"}, "can't be reached"),
    ({"HITL_REDIS_URL": "localhost:6379"}, "HITL_REDIS_URL"),
    ({"HITL_REDIS_URL": "redis://:s3cr3t@127.0.0.1:1/0"}, "HITL_REDIS_URL"),
    ({"HITL_CHANNEL": "approvals"}, "HITL_CHANNEL"),
    ({"HITL_CHANNEL": "#nowhere"}, "HITL_CHANNEL"),
    ({"HITL_CHANNEL": "#no-bot"}, "Invite"),
    ({"HITL_PORT": "²"}, "HITL_PORT"),
    ({"HITL_HOST": "256.1.1.1"}, "HITL_HOST"),
    ({"HITL_HOST": "127.0..1"}, "HITL_HOST, HITL_PORT: can't listen on 127.0..1"),
    ({"HITL_POLICY": "/nowhere.yaml"}, "/nowhere.yaml"),
    ({"HITL_PEOPLE": "/nowhere.yaml"}, "HITL_PEOPLE: /nowhere.yaml"),
    ({"HITL_LOG_LEVEL": "LOUD"}, "HITL_LOG_LEVEL"),
]


async def test_promise_10_each_wrong_setting_is_one_sentence(scene: Scene) -> None:
    """Given a setting that is missing or wrong; then the bot ends with 2 and one line that names it, without
    a traceback or a password."""

    async def check(changed: dict[str, str], named: str) -> None:
        bot = await scene.process("bot", "serve", env=scene.environment(**changed))
        assert await bot.wait_end() == 2, (changed, bot.output)
        [line] = [line for line in bot.output.splitlines() if line.startswith("hitl: ")]
        assert named in line, changed
        assert "s3cr3t" not in bot.output
        assert len(bot.output.splitlines()) == 1, bot.output

    for start in range(0, len(WRONG), 4):  # a few at once: they mostly start Python
        await asyncio.gather(*(check(*case) for case in WRONG[start : start + 4]))


@pytest.mark.parametrize("changed", [{"HITL_PORT": "no"}, {"HITL_CHANNEL": "#nowhere"}])
async def test_with_json_logs_the_last_sentence_is_json(
    scene: Scene, changed: dict[str, str]
) -> None:
    """Given HITL_LOG_FORMAT=json and a wrong setting; then a program that reads the log can read why the bot
    ended."""
    env = scene.environment(HITL_LOG_FORMAT="json", **changed)
    bot = await scene.process("bot", "serve", env=env)

    assert await bot.wait_end() == 2
    [line] = [json.loads(line) for line in bot.output.splitlines()]
    assert line["level"] == "ERROR"
    assert next(iter(changed)) in line["message"]


async def test_promise_10_a_policy_with_a_typo_is_named(scene: Scene) -> None:
    """Given HITL_POLICY with a misspelt key; then the sentence has the file, the line and the key."""
    policy = scene.folder / "policy.yaml"
    policy.write_text("default: review\ninterrupt_on:\n  run_sql: {alowed_decisions: [approve]}\n")
    bot = await scene.process("bot", "serve", env=scene.environment(HITL_POLICY=str(policy)))

    assert await bot.wait_end() == 2
    assert f"{policy}:3" in bot.output
    assert "alowed_decisions" in bot.output


async def test_promise_10_a_port_in_use_is_named(scene: Scene) -> None:
    """Given a port that another program has; then the sentence names HITL_PORT and the address."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        bot = await scene.process("bot", "serve", env=scene.environment(HITL_PORT=str(port)))
        assert await bot.wait_end() == 2
    assert "HITL_PORT" in bot.output
    assert f"127.0.0.1:{port}" in bot.output


@pytest.mark.parametrize("mode", ["ratelimited", "http_500", "hang"])
async def test_promise_10_slack_in_trouble_at_start_is_one_sentence(
    scene: Scene, mode: str
) -> None:
    """Given Slack that limits, fails or hangs when the bot starts; then it ends with 2 and one sentence, for
    the operator who restarts it."""
    await scene.actor.inject_fault(mode)
    bot = await scene.process("bot", "serve", env=scene.environment())

    assert await bot.wait_end() == 2
    assert "Slack" in bot.output
    assert len(bot.output.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        "hitl_core serve",
        "hitl_core demo",
        "hitl_core policy check --channels",
        "slack_sandbox --help",
    ],
)
async def test_without_the_extra_it_says_what_to_install(scene: Scene, command: str) -> None:
    """Given only what agents install; then one sentence has the command to run, and the exit code is 2."""
    module, *words = command.split()
    if words[0] == "policy":
        (scene.folder / "policy.yaml").write_text("default: review\n")
        words.append(str(scene.folder / "policy.yaml"))
    script = (
        f"import runpy, sys; sys.modules['aiohttp'] = None; sys.argv[1:] = {words};"
        f"runpy.run_module({module!r}, run_name='__main__')"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT, env={**os.environ, **scene.environment()},
    )  # fmt: skip
    text, _ = await process.communicate()

    assert process.returncode == 2, text
    assert text.decode().splitlines()[-1].partition(": ")[2] == (
        'aiohttp is not installed. Run: pip install "hitl-core[slack]"'
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_within_seconds(scene: Scene, number: signal.Signals) -> None:
    """Given a bot that serves, with a client that keeps its connection; when it is told to end, then it does,
    with 0, and its log (at DEBUG) names the review and quotes no argument."""
    bot = await scene.bot_process(HITL_LOG_LEVEL="DEBUG")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")
    await scene.alice.submit(copies=2)
    await waiting
    await scene.card("edited and approved by U0ALICE")
    async with aiohttp.ClientSession() as session:
        for path in ("/healthz", "/readyz"):
            async with session.get(urljoin(bot.url, path)) as answer:
                assert (answer.status, (await answer.json())["ok"]) == (200, True)
        started = time.monotonic()
        bot.signal(number)
        assert await bot.wait_end() == 0
    assert time.monotonic() - started < 30


async def test_the_log_names_the_review_of_a_refused_click(scene: Scene) -> None:
    """Given a click that is refused; then the log has the review's id and who pressed."""
    bot = await scene.bot_process()
    gate = await scene.gate()
    scene.ask(gate, email())
    card = await scene.card("send_email")

    await scene.carl.press(card, "approve")

    assert review_of(card) in bot.output
    assert "U0CARL" in bot.output


async def test_a_token_of_a_whole_organization_is_refused(scene: Scene) -> None:
    """Given an app that was installed for an Enterprise Grid organization; then the bot does not start: its
    token names no workspace, so nobody could decide."""
    identity = {
        "ok": True,
        "url": "https://acme.enterprise.slack.com/",
        "team_id": "E0ACME",
        "user_id": "U0APPROVER",
        "bot_id": "B0APPROVER",
        "enterprise_id": "E0ACME",
        "is_enterprise_install": True,
    }
    await scene.actor.inject_fault("answer", method="auth.test", body=json.dumps(identity))
    with pytest.raises(SettingsError, match="the token of a whole organization"):
        await scene.bot(HITL_CHANNEL="C0APPROVE")


async def test_a_bot_of_another_workspace_does_not_start(scene: Scene) -> None:
    """Given a Redis with which the bot of a workspace connected; then the bot of another one is refused with
    a sentence: it posted the first one's cards to its own people, and knew nobody who may decide."""
    await scene.bot()
    await scene.bot()  # of the same one
    async with running_sandbox() as other:
        other.workspace.team_id = "T0OTHER"
        with pytest.raises(
            SettingsError, match="belongs to T0ACME in Slack, and this bot to T0OTHER"
        ):
            await scene.bot(SLACK_API_URL=other.api_url)
        assert not any(one.messages for one in other.workspace.channels.values())
