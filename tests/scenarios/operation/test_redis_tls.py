"""A complete scenario over TLS, with the user of docs/redis.md: one server, a cluster, and Sentinels."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from redis import Redis

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.ports import find_free_port
from tests.docs.pages import page
from tests.support.bots import ROOT, Scene, email
from tests.support.processes.certificates import Certificates
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.nodes import connect
from tests.support.redis_servers.sentinels import RedisSentinels
from tests.support.redis_servers.server import FORGETFUL, executable_under_test

Start = Callable[[Path, Certificates], AbstractContextManager[str]]

PASSWORD = "s3cr3t-of-the-test"


def acl_line(user: str) -> list[str]:
    """`ACL SETUSER hitl …` as the page has it, with the test's password."""
    [line] = re.findall(rf"^(ACL SETUSER {user} .*)$", page("docs/redis.md").text, re.MULTILINE)
    return line.replace(">PASSWORD", f">{PASSWORD}").split()


def add_user(client: Redis, user: str = "hitl") -> None:
    with client:
        client.execute_command(*acl_line(user))


@contextmanager
def single(folder: Path, tls: Certificates) -> Iterator[str]:
    port = find_free_port()
    settings = {**FORGETFUL, **tls.settings(port)}
    with EmbeddedRedis(folder, executable=executable_under_test(), settings=settings) as server:
        add_user(connect(server))
        with connect(server) as client:
            client.execute_command("ACL", "SETUSER", "default", "off")
        yield f"rediss://hitl:{PASSWORD}@127.0.0.1:{port}/0?{tls.query}"


@contextmanager
def cluster(folder: Path, tls: Certificates) -> Iterator[str]:
    with RedisCluster(folder, replicas=0, executable=executable_under_test(), tls=tls) as made:
        for node in made.nodes:
            add_user(connect(node))
            with connect(node) as client:
                client.execute_command("ACL", "SETUSER", "default", "off")
        yield made.url.replace("://", f"://hitl:{PASSWORD}@")


@contextmanager
def sentinels(folder: Path, tls: Certificates) -> Iterator[str]:
    with RedisSentinels(
        folder, replicas=0, sentinels=1, executable=executable_under_test(), tls=tls
    ) as made:
        add_user(connect(made.nodes[0]))
        add_user(Redis(port=made.sentinel_ports[0]), "hitl-sentinel")
        options = f"&sentinel_username=hitl-sentinel&sentinel_password={PASSWORD}"
        yield made.url.replace("://", f"://hitl:{PASSWORD}@") + options


@pytest.mark.parametrize("start", [single, cluster, sentinels])
async def test_a_review_over_tls_as_the_user_of_the_docs(
    scene: Scene, tmp_path: Path, start: Start
) -> None:
    """Given servers with TLS, and a user with the permissions in the docs, when an agent submits, a person
    approves, and the command line looks; then all of it works, and Redis refused nothing."""
    with start(tmp_path / "redis", Certificates.mint(tmp_path / "tls")) as url:
        scene.redis_url = url
        await scene.bot()
        gate = await scene.gate()
        waiting = scene.ask(gate, email())
        await scene.alice.press(await scene.card("send_email"), "approve")
        outcome = await waiting
        [call] = outcome.execute
        assert await outcome.once(call)
        await outcome.finish({call.id: "sent"})

        shown = await command_line(scene, "reviews", "show", outcome.review_id, "--json")
        assert '"status": "done"' in shown
        assert "submitted" in await command_line(scene, "audit", "show", outcome.review_id)
        assert "every review is done" in await command_line(scene, "reviews", "list")
        await scene.close()


async def command_line(scene: Scene, *words: str) -> str:
    code = f"from hitl_core.cli import main; raise SystemExit(main({list(words)!r}))"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        cwd=ROOT,
        env={**os.environ, "HITL_REDIS_URL": scene.redis_url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output
