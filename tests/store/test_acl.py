"""The ACL user of docs/redis.md may run every command that the scripts send, in any database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import redis

from hitl_core.errors import StoreForbidden
from hitl_core.store import RedisStore
from hitl_core.store import redis as redis_room
from tests.docs.pages import page
from tests.store.steps import created

LUA = Path(redis_room.__file__).parent / "lua"
#: A command, and a word in capitals after it: perhaps its subcommand.
SENT = re.compile(r"""redis\.p?call\(\s*['"](\w+)['"](?:,\s*['"]([A-Z]+)['"])?""")


def test_each_command_of_a_script_is_permitted(redis_url: str) -> None:
    """A script that gets a new command would fail only where operators have such a user."""
    [rules] = re.findall(r"^ACL SETUSER hitl (.*)$", page("docs/redis.md").text, re.MULTILINE)
    permitted = {rule[1:] for rule in rules.split() if rule.startswith("+")}
    sent = {found for file in LUA.rglob("*.lua") for found in SENT.findall(file.read_text("utf-8"))}
    assert len(sent) > 20
    with redis.Redis.from_url(redis_url) as client:
        for command, word in sorted(sent):
            categories = categories_of(client, command, word)
            assert permitted & {command.lower(), *categories}, f"{command} is not permitted"


def categories_of(client: Any, command: str, word: str) -> set[str]:
    """Of its subcommand, where it has any: since Redis 7 these have their own."""
    for name in (f"{command}|{word}", command):
        [info] = client.execute_command("COMMAND INFO", name)  # as it comes from Redis
        if info:
            return {category.decode() for category in info[6]}
    raise AssertionError(f"there is no command {command}")


async def test_any_database_can_be_used(redis_url: str) -> None:
    """Each new connection to another one than 0 sends its number."""
    [rules] = re.findall(r"^ACL SETUSER hitl (.*)$", page("docs/redis.md").text, re.MULTILINE)
    with redis.Redis.from_url(redis_url) as client:
        client.execute_command("ACL", "SETUSER", "hitl", *rules.split())
        try:
            url = redis_url.replace("//", "//hitl:PASSWORD@").removesuffix("/0") + "/1"
            store = await RedisStore.open(url, set_partitions=False)
            assert await store.tokens() == []
            await store.close()
        finally:
            client.execute_command("ACL", "DELUSER", "hitl")


async def test_a_missing_permission_is_named_as_one(redis_url: str) -> None:
    """Given a user who may not use streams; then a write says that: it said that a key has a value of another
    type."""
    [rules] = re.findall(r"^ACL SETUSER hitl (.*)$", page("docs/redis.md").text, re.MULTILINE)
    with redis.Redis.from_url(redis_url) as client:
        client.execute_command("ACL", "SETUSER", "hitl", *rules.split())
        try:
            store = await RedisStore.open(redis_url.replace("//", "//hitl:PASSWORD@"))
            client.execute_command("ACL", "SETUSER", "hitl", "-@stream")
            with pytest.raises(StoreForbidden, match="refuses a command or a key to the user"):
                await created(store)
            await store.close()
        finally:
            client.execute_command("ACL", "DELUSER", "hitl")
