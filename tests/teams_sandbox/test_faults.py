"""Faults that tests inject into the next calls."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from teams_sandbox.faults import FaultMode
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.teams_sandbox.conftest import Rest


@pytest.mark.parametrize(
    ("mode", "status"),
    [
        *(("limited", 429), ("conflict", 412), ("down", 503)),
        *(("refused", 400), ("answer", 500)),
    ],
)
async def test_a_fault_before_the_call_answers_an_error_and_does_nothing(
    rest: Rest, sandbox: Sandbox, mode: FaultMode, status: int
):
    sandbox.faults.add(mode, "post", times=1, retry_after=3)
    answer = await rest.post(ids.OPS)
    assert answer.status_code == status
    assert answer.headers.get("Retry-After") == ("3" if mode == "limited" else None)
    assert not sandbox.workspace.conversations[ids.OPS].messages
    assert (await rest.post(ids.OPS)).status_code == 201, "the fault was for one call"


@pytest.mark.parametrize(("mode", "posts"), [("dropped", 0), ("lost", 1)])
async def test_a_connection_ends_before_or_after_the_work(
    rest: Rest, sandbox: Sandbox, mode: FaultMode, posts: int
):
    sandbox.faults.add(mode, conversation=ids.OPS, times=1)
    with pytest.raises(httpx.TransportError):
        await rest.post(ids.OPS)
    assert len(sandbox.workspace.conversations[ids.OPS].messages) == posts


async def test_an_answer_that_nobody_can_read_comes_after_the_work(rest: Rest, sandbox: Sandbox):
    sandbox.faults.add("unreadable", "post", times=1)
    assert "html" in (await rest.post(ids.OPS)).text
    sandbox.faults.add("no_id", "post", times=1)
    assert (await rest.post(ids.OPS)).content == b""
    assert len(sandbox.workspace.conversations[ids.OPS].messages) == 2


async def test_a_late_call_is_done_when_it_is_released(rest: Rest, sandbox: Sandbox):
    fault = sandbox.faults.add("late", "post", times=1)
    call = asyncio.create_task(rest.post(ids.OPS))
    while not sandbox.connector.calls:  # until it has arrived
        await asyncio.sleep(0)
    other = await rest.post(ids.OPS)
    fault.release()
    assert int((await call).json()["id"]) > int(other.json()["id"])


async def test_a_fault_of_a_new_thread_is_found_by_its_channel(rest: Rest, sandbox: Sandbox):
    sandbox.faults.add("down", "create", conversation=ids.OPS)
    body = {"isGroup": True, "channelData": {"channel": {"id": ids.OPS}}}
    assert (await rest.call("POST", "conversations", body)).status_code == 503
    sandbox.faults.clear("create")
    assert (await rest.call("POST", "conversations", body)).status_code == 400
