"""A policy file that is replaced or rolled back while agents run leaves an entry in the audit (T69)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.store import MemoryStore, Store

STRICT = Policy.from_mapping({"default": "review"})
LOOSE = Policy.from_mapping({"default": "allow"})


class Counting(MemoryStore):
    """Counts how often it is asked."""

    count = 0

    async def record_policy(self, agent: str, policy_hash: str) -> str | None:
        self.count += 1
        return await super().record_policy(agent, policy_hash)


async def changes(store: Store) -> list[tuple[str, str, str]]:
    """(agent, policy_hash before, policy_hash) of every `policy_changed`, in their order."""
    lines: list[Any] = [json.loads(e.line) for e in await store.ledger.entries(0)]
    rows = [line for line in lines if line["kind"] == "policy_changed"]
    return [(row["agent"], row["before"], row["policy_hash"]) for row in rows]


async def submit(store: Store, policy: Policy, *turns: str, agent: str = "billing") -> None:
    """A process of this agent, from its start to its end."""
    async with Gate(store, policy=policy, agent=agent) as gate:
        for turn in turns:
            await gate.submit([ToolCall("c1", "send", {})], thread_id="t", turn=turn)


async def test_a_swap_and_a_roll_back_are_in_the_audit(caplog: pytest.LogCaptureFixture) -> None:
    """Given an agent that starts with another policy than before, and then with the first one again; then the
    audit has both changes, and none of another agent's policy."""
    store = MemoryStore()
    await submit(store, STRICT, "1", "2")
    assert await changes(store) == []
    await submit(store, LOOSE, "3", agent="support")
    await submit(store, LOOSE, "4", "5")
    await submit(store, STRICT, "6")
    assert await changes(store) == [
        ("billing", STRICT.hash, LOOSE.hash),
        ("billing", LOOSE.hash, STRICT.hash),
    ]
    assert "The policy of 'billing' changed" in caplog.text


async def test_a_policy_that_is_exchanged_in_a_running_gate_is_seen_too() -> None:
    store = MemoryStore()
    async with Gate(store, policy=STRICT, agent="billing") as gate:
        await gate.submit([ToolCall("c1", "send", {})], thread_id="t", turn="1")
        gate.policy = LOOSE
        await gate.submit([ToolCall("c1", "send", {})], thread_id="t", turn="2")
    assert await changes(store) == [("billing", STRICT.hash, LOOSE.hash)]


async def test_the_store_is_not_asked_at_each_submit() -> None:
    store = Counting()
    await submit(store, STRICT, *"123456")
    assert store.count == 1


async def test_a_runs_context_is_no_change_of_the_policy() -> None:
    store = MemoryStore()
    async with Gate(store, policy=STRICT, agent="billing") as gate:
        for turn, context in (("1", None), ("2", {"interrupt_on": {"send": "deny"}}), ("3", {})):
            await gate.submit(
                [ToolCall("c1", "send", {})], thread_id="t", turn=turn, context=context
            )
    assert await changes(store) == []
