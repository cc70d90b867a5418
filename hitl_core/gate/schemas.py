"""The tools' own schemas: what the policy says nothing of is checked by these."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hitl_core.errors import InvalidToolCall
from hitl_core.model import ToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Policy, Ruling

if TYPE_CHECKING:
    from hitl_core.forms.budget import Budget

_LONG = 4_000  # steps: some two milliseconds


class Schemas:
    """Those of one request: all of them are read in one budget. Whoever waits on the same event loop gets a
    turn between two calls, and between two schemas that take long."""

    def __init__(self) -> None:
        from hitl_core.forms.budget import REQUEST_STEPS, Budget

        self._budget = Budget(REQUEST_STEPS)
        self._paused = REQUEST_STEPS

    async def added(self, ruling: Ruling, own: JsonObject | None) -> Ruling:
        """With the tool's own schema where there is none: it checks arguments, and says and hides nothing,
        unless the policy vouches for it. Raises InvalidToolCall where it can't be used.
        """
        await asyncio.sleep(0)
        if own is None or ruling.args_schema is not None or ruling.verdict.kind != "review":
            return ruling
        if flaw := await self._flaw_of(own):
            raise InvalidToolCall(f"A tool's own schema can't be used: {flaw}.")
        return replace(ruling, args_schema=own, policy_schema=own if ruling.trusts_tools else None)

    async def targets(self, tools: Mapping[str, JsonObject | None]) -> dict[str, JsonObject | None]:
        """What an edit may name. Without tools whose schema can't be used: no edit can be checked by it."""
        found: dict[str, JsonObject | None] = {}
        for name, own in tools.items():
            if own is None or await self._flaw_of(own) is None:
                found[name] = own
        return found

    async def excerpt(
        self,
        policy: Policy,
        calls: Iterable[ToolCall],
        rulings: Iterable[Ruling],
        tools: Iterable[str],
    ) -> JsonObject | None:
        """`excerpt_for`, with turns for others while the rules of many tools are looked up."""
        for tool in tools:
            policy.find(tool)
            await asyncio.sleep(0)
        return excerpt_for(policy, calls, rulings, tools)

    async def _flaw_of(self, schema: JsonObject) -> str | None:
        flaw = flaw_of(schema, self._budget)
        if self._paused - self._budget.left > _LONG:
            await asyncio.sleep(0)
            self._paused = self._budget.left
        return flaw


def excerpt_for(
    policy: Policy, calls: Iterable[ToolCall], rulings: Iterable[Ruling], tools: Iterable[str]
) -> JsonObject | None:
    """What of the policy a review keeps, so that whatever changes a call's arguments is judged as well."""
    changing = [c.name for c, r in zip(calls, rulings, strict=True) if _may_change(r)]
    return policy.excerpt(dict.fromkeys([*changing, *tools])) if changing else None


def _may_change(ruling: Ruling) -> bool:
    into = ruling.output and ruling.output.into
    return "edit" in ruling.allowed_decisions or into == "input"


def flaw_of(schema: JsonObject, budget: Budget | None = None) -> str | None:
    """Why arguments can't be checked by this schema. Each is read once, however often it comes."""
    from hitl_core.forms import SchemaError, check_schema

    try:
        check_schema(schema, budget=budget)
    except SchemaError as error:
        return str(error)
    return None
