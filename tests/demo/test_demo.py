"""`hitl demo` as a process: ask, kill, stop, start again, decide."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.demo.children import ChildError
from slack_sandbox.demo.command import HERE
from slack_sandbox.demo.services import open_services
from tests.support.processes.ports import find_free_port_before_another

pytestmark = [pytest.mark.redis, pytest.mark.slow]
ROOT = Path(__file__).parents[2]


class Running:
    """A demo that prints."""

    def __init__(self, data: Path, port: int, *more: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-u",
                "-m",
                "hitl_core",
                "demo",
                f"--data={data}",
                f"--port={port}",
                *more,
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.output = self.read_until("Ctrl-C")

    def read_until(self, words: str) -> str:
        assert self.process.stdout is not None
        text = ""
        while words not in text:
            line = self.process.stdout.readline()
            assert line, f"the demo ended: {text}"
            text += line
        return text

    def pid(self, name: str) -> int:
        found = re.search(rf"{name} (\d+)", self.output)
        assert found
        return int(found[1])


@contextmanager
def demo(data: Path, port: int, *more: str) -> Iterator[Running]:
    running = Running(data, port, *more)
    try:
        yield running
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(30) == 0
    finally:
        running.process.kill()
        running.process.communicate()


def cards(state: dict[str, Any]) -> list[dict[str, Any]]:
    return [message for message in state["messages"]["C0APPROVE"] if message["bot"]]


async def test_a_demo_that_was_killed_stopped_and_started_finishes_the_job(tmp_path: Path) -> None:
    port = find_free_port_before_another()
    page = f"http://127.0.0.1:{port}"

    # given a review that waits, one decision made, then the agent, the bot and Redis killed
    with demo(tmp_path, port, "--ask=refund order 1042") as running:
        async with Actor(page) as actor:
            (card,) = await actor.wait_for(cards, timeout=30)
            await actor.click("U0ALICE", "C0APPROVE", card["ts"], "approve", block_id="do:2:1")
            os.kill(running.pid("agent"), signal.SIGKILL)
            os.kill(running.pid("bot"), signal.SIGKILL)
            shown = running.read_until("agent runs again")
            # and Redis together with the agent, which needs it
            again = re.search(r"agent runs again as (\d+)", shown)
            assert again
            os.kill(running.pid("redis"), signal.SIGKILL)
            os.kill(int(again[1]), signal.SIGKILL)
            shown = running.read_until("agent runs again")
            assert "redis runs again" in shown

    # when everything was stopped and started, and somebody decides the rest
    with demo(tmp_path, port):
        async with Actor(page) as actor:
            for block_id in ("do:1:1", "do:3:1"):
                await actor.click("U0BOB", "C0APPROVE", card["ts"], "approve", block_id=block_id)

            # then the agent says what it did, and the one card shows what came of each call
            def shows_refund(state: dict[str, Any]) -> bool:
                texts = [m["text"] for m in state["messages"]["C0ASK"] if m["bot"]]
                return any("refunded 120.00 EUR of order 1042" in text for text in texts)

            def shows_results(state: dict[str, Any]) -> bool:
                drawn = json.dumps(cards(state)[0]["blocks"], ensure_ascii=False)
                return "1 row changed" in drawn and "refunded 120.00 EUR" in drawn

            await actor.wait_for(shows_refund, timeout=30)
            await actor.wait_for(shows_results, timeout=30)
            assert len(cards(await actor.state())) == 1

    # and the side effects happened, once
    assert len(list((tmp_path / "agent" / "outbox").glob("*.eml"))) == 1


def test_two_demos_share_neither_folder_nor_port(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a demo on a Redis of the environment; when another one starts in its folder, or on a port that is
    in use, then it is refused, and the logs of the first one are whole: it cut them."""
    monkeypatch.setenv("HITL_REDIS_URL", redis_url)
    policy = HERE / "policy.yaml"
    with open_services(tmp_path, policy=policy, port=0) as services:
        log = services.bot.text()
        with (
            pytest.raises(ChildError, match="Another demo uses the folder"),
            open_services(tmp_path, policy=policy, port=0),
        ):
            pass
        port = int(services.page.rstrip("/").rpartition(":")[2])
        with (
            pytest.raises(ChildError, match=f"Port {port} is in use"),
            open_services(tmp_path / "other", policy=policy, port=port),
        ):
            pass
        assert services.bot.text().startswith(log)
