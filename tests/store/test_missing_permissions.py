"""The permissions of the user in docs/redis.md, each taken away from a running program in turn."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import redis

from hitl_core.errors import HitlError, SettingsError, StoreForbidden
from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import RedisStore
from tests.docs.pages import page
from tests.store.steps import approved, created, open_store, waiting_cards
from tests.store.test_acl import LUA
from tests.store.test_foreign_keys import WRITES, Write, dump, submit

[_USER] = re.findall(r"^ACL SETUSER hitl (.*)$", page("docs/redis.md").text, re.MULTILINE)
RULES = str(_USER).split()
#: The commands of the scripts, also those after whose errors they go on. A service may forbid INFO.
COMMANDS = {
    command
    for file in LUA.rglob("*.lua")
    for command in re.findall(r"""(?:\bp?call\(|= )'([A-Z]+)'""", file.read_text("utf-8"))
} - {"INFO"}
PERMITTED = [rule.removeprefix("+") for rule in RULES if rule.startswith("+")]


@pytest.fixture
def admin(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url) as client:
        client.execute_command("ACL", "SETUSER", "hitl", *RULES)
        yield client
        client.execute_command("ACL", "DELUSER", "hitl")


def forbid(admin: Any, permission: str) -> None:
    admin.execute_command("ACL", "SETUSER", "hitl", f"-{permission.partition('|')[0]}")


def url_of_user(redis_url: str) -> str:
    return redis_url.replace("//", "//hitl:PASSWORD@")


@pytest.mark.parametrize("permission", PERMITTED)
async def test_a_read_without_a_permission_says_so(
    redis_url: str, admin: Any, permission: str
) -> None:
    """It said that the review can't be read by this version, and that a key has a value of another type: so
    bots gave its cards up, and operators looked for damage."""
    async with open_store(url_of_user(redis_url)) as store:
        review = await created(store)
        digest = await store.add_to_digest(
            DEFAULT_PLACE, DEFAULT_PLACE, "g", "billing", [review.id]
        )
        forbid(admin, permission)
        reads: list[Callable[[], Awaitable[object]]] = [
            lambda: store.load(review.id),
            lambda: store.load_outline(review.id),
            lambda: store.digest(digest or "g"),
            store.foreign_keys,
            store.due_reviews,
            store.live_ids,
            lambda: store.ready_reviews(review.agent),
            store.lanes,
            store.backlog,
            store.dead_letters,
            store.tokens,
            store.now,
            lambda: store.is_alive("p"),
            lambda: store.agent_hints(review.agent, 0),
            lambda: store.temporary_value("k"),
        ]
        for read in reads:
            await check_read(read)
        assert await foreign_keys(store) == []
        admin.execute_command("ACL", "SETUSER", "hitl", "reset", *RULES)
        for read in reads:
            await read()
        await approved(store, review)


async def check_read(read: Callable[[], Awaitable[object]]) -> None:
    """It works, or says that a permission is missing."""
    said = ""
    try:
        await read()
    except StoreForbidden as error:
        said = str(error)
    assert not said or "ACL users" in said


async def foreign_keys(store: RedisStore) -> list[str]:
    try:
        return await store.foreign_keys()
    except StoreForbidden:
        return []


@pytest.mark.parametrize("name", WRITES)
async def test_a_missing_permission_cuts_no_write_in_two(
    redis_url: str, admin: Any, name: str
) -> None:
    """Given each permission that is missing: at the start, or taken away from a running program; then the
    write is done as a whole or not at all. A decision was stored without its entry of the audit.
    """
    if not redis_knows_permissions(admin):
        pytest.skip("Redis 6.2 can't say which commands are permitted")
    for permission in PERMITTED:
        empty(admin)
        async with open_store(url_of_user(redis_url)) as store:
            await submit(store, "first")
            write = await WRITES[name](store)
            before = dump(admin)
            forbid(admin, permission)
            try:
                await write(store)
            except HitlError:
                assert dump(admin) == before, permission
                await check_start(url_of_user(redis_url), write)
                assert dump(admin) == before, permission
            admin.execute_command("ACL", "SETUSER", "hitl", "reset", *RULES)
    empty(admin)


async def check_start(url: str, write: Write) -> None:
    """A program that starts now is refused, or its write is."""
    with pytest.raises(HitlError):
        async with open_store(url) as started:
            await write(started)


async def test_a_start_names_the_commands_that_are_missing(redis_url: str, admin: Any) -> None:
    """An upgrade may need a command that an older version did not."""
    if not redis_knows_permissions(admin):
        pytest.skip("Redis 6.2 can't say which commands are permitted")
    forbid(admin, "expire")
    forbid(admin, "persist")
    with pytest.raises(SettingsError, match="does not permit EXPIRE, PERSIST to the user"):
        await RedisStore.open(url_of_user(redis_url))


async def test_a_start_names_each_missing_command(redis_url: str, admin: Any) -> None:
    """Given a user who lacks one command of a script; then no program starts. A command after whose errors
    a script goes on was not named."""
    if not redis_knows_permissions(admin):
        pytest.skip("Redis 6.2 can't say which commands are permitted")
    for command in sorted(COMMANDS):
        forbid(admin, command)
        with pytest.raises(HitlError, match=rf"(?i)\b{command}\b.*ACL users"):
            await RedisStore.open(url_of_user(redis_url))
        admin.execute_command("ACL", "SETUSER", "hitl", "reset", *RULES)


async def test_a_lease_that_may_not_be_read_is_not_taken(redis_url: str, admin: Any) -> None:
    """Two bots held one conversation, and two processes ran one thread."""
    if not redis_knows_permissions(admin):
        pytest.skip("Redis 6.2 can't say which commands are permitted")
    async with open_store(url_of_user(redis_url)) as store:
        assert await store.hold_thread("billing", "t", "first", 60)
        forbid(admin, "get")
        with pytest.raises(StoreForbidden, match="GET"):
            await store.hold_thread("billing", "t", "second", 60)
        admin.execute_command("ACL", "SETUSER", "hitl", "reset", *RULES)
        assert not await store.hold_thread("billing", "t", "second", 60)


async def test_a_digest_that_may_not_be_read_is_not_deleted(redis_url: str, admin: Any) -> None:
    """It was taken for one of another type, and its reviews had neither a card nor a line in a message."""
    async with open_store(url_of_user(redis_url)) as store:
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        digest_id = await store.add_to_digest(place, place, "g", "billing", ids)
        assert digest_id is not None
        forbid(admin, "hlen")
        with pytest.raises(StoreForbidden, match="ACL users"):
            await store.leave_digest(digest_id, place, ids)
        digest = await store.digest(digest_id)
        assert digest is not None
        assert digest.waiting == tuple(ids)


def redis_knows_permissions(admin: Any) -> bool:
    return bool(admin.eval("return redis.acl_check_cmd and 1 or 0", 0))


def empty(admin: Any) -> None:
    for key in admin.scan_iter():
        admin.delete(key)
