"""The schemas of the agent's own tools. They check arguments for which the policy has no schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping

from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.jsonschema import (
    REQUEST_STEPS,
    Budget,
    SchemaError,
    check_schema,
    check_schema_text,
    write_schema,
)
from hitl_core.model import JsonObject, ToolCall
from hitl_core.policy import Policy, Ruling, combine_schemas, dump_kept_policy, with_tool_schema

#: A review keeps at most this many characters of a policy: each change writes them again.
MAX_KEPT_POLICY = 1024 * 1024
#: After this many steps, about two milliseconds, other tasks may run.
_PAUSE_STEPS = 4_000
#: The most characters and values of schemas in one review, because each load of the review reads them. A
#: schema that several calls have counts once for each call.
MAX_SCHEMAS = 4 * 1024 * 1024
MAX_SCHEMA_VALUES = 100_000


class SchemaChecks:
    """Checks all schemas of one request within one budget. A schema object is checked once and written as
    text once, because nobody changes it during the request. Other tasks of the event loop can run between two
    schemas that take long.
    """

    def __init__(self) -> None:
        self._budget = Budget(REQUEST_STEPS)
        self._steps_at_pause = REQUEST_STEPS
        self._flaws: dict[str, str | None] = {}
        #: By `id`, with the schema itself: so no other object gets the same id meanwhile.
        self._texts: dict[int, tuple[JsonObject, str]] = {}

    @property
    def are_too_many(self) -> bool:
        """Whether the budget is spent. After that, no schema is checked."""
        return self._budget.left < 0

    async def find_flaw(self, schema: JsonObject) -> str | None:
        """Why this schema can't check arguments; None if it can."""
        try:
            text = self._write(schema)
        except SchemaError as error:
            return str(error)
        if text not in self._flaws:
            self._flaws[text] = None
            try:
                check_schema_text(text, budget=self._budget)
            except SchemaError as error:
                self._flaws[text] = str(error)
        if self._steps_at_pause - self._budget.left > _PAUSE_STEPS:
            await asyncio.sleep(0)
            self._steps_at_pause = self._budget.left
        return self._flaws[text]

    def text_of(self, schema: JsonObject) -> str:
        """The schema as JSON text, even if it can't check arguments."""
        try:
            return self._write(schema)
        except SchemaError:
            return json.dumps(schema)

    def _write(self, schema: JsonObject) -> str:
        """The schema as JSON text (`write_schema`). Raises SchemaError."""
        known = self._texts.get(id(schema))
        if known is None:
            known = self._texts[id(schema)] = schema, write_schema(schema)
        return known[1]


class ToolSchemas:
    """The tools' schemas of one review. Other tasks of the event loop can run between two calls. `checks`:
    the checks of the request, if it makes several reviews.
    """

    def __init__(self, checks: SchemaChecks | None = None) -> None:
        self._checks = checks or SchemaChecks()
        self._room, self._values = MAX_SCHEMAS, MAX_SCHEMA_VALUES
        self._is_used = False

    async def add_schema(
        self, ruling: Ruling, tool: str, tools: Mapping[str, JsonObject | None]
    ) -> Ruling:
        """The ruling with the tool's own schema, see `with_tool_schema`. Raises InvalidToolCall for a schema
        that can't be used.
        """
        if self._is_used:
            await asyncio.sleep(0)
        self._is_used = True
        if ruling.verdict.kind != "review" and not ruling.trusts_tools:
            return ruling
        before, ruling = ruling, with_tool_schema(ruling, tools.get(tool))
        for schema in (ruling.args_schema, ruling.hiding_schema):
            is_new = schema not in (None, before.args_schema)
            if schema and is_new and (flaw := await self._checks.find_flaw(schema)):
                raise InvalidToolCall(f"The schema of the tool {tool} can't be used: {flaw}.")
        self._keep(ruling)
        return ruling

    async def combine(
        self, ours: JsonObject | None, theirs: JsonObject | None
    ) -> JsonObject | None:
        """The policy's schema and the interrupt's schema in one; only the policy's if the two can't be used
        together. Raises DialectError if all schemas of the request together are too large.
        """
        both = combine_schemas(ours, theirs)
        if ours is None or both is None or both == ours:
            return both
        flaw = await self._checks.find_flaw(both)
        if flaw is not None and self._checks.are_too_many:
            raise DialectError(f"The schemas of this interrupt can't be used: {flaw}.")
        return both if flaw is None else ours

    def _keep(self, ruling: Ruling) -> None:
        """Count the schemas of this ruling. Raises InvalidToolCall if those of all calls so far are too large
        together.
        """
        if ruling.verdict.kind != "review":
            return
        for schema in (
            ruling.args_schema,
            ruling.policy_schema,
            ruling.hiding_schema,
            ruling.answer_schema,
        ):
            if schema:
                text = self._checks.text_of(schema)
                self._room -= len(text)
                self._values -= sum(map(text.count, "[{,"))  # at least as many as there are values
        if self._room < 0 or self._values < 0:
            raise InvalidToolCall(
                f"The schemas of these calls take more than {MAX_SCHEMAS:,} characters or"
                f" {MAX_SCHEMA_VALUES:,} values together. Submit fewer calls in one turn, or use shorter"
                " schemas."
            )

    async def edit_targets(
        self, tools: Mapping[str, JsonObject | None]
    ) -> dict[str, JsonObject | None]:
        """The tools that an edit may switch to. A tool whose schema can't check the edit is left out."""
        usable: dict[str, JsonObject | None] = {}
        for name, own in tools.items():
            if own is None or await self._checks.find_flaw(own) is None:
                usable[name] = own
        return usable

    async def kept_policy(
        self,
        policy: Policy,
        calls: Iterable[ToolCall],
        rulings: Iterable[Ruling],
        tools: Iterable[str],
    ) -> str | None:
        """`kept_policy_for`, but other tasks can run while the rules of many tools are looked up."""
        for tool in tools:
            if policy.preload_rules(tool):
                await asyncio.sleep(0)
        return kept_policy_for(policy, calls, rulings, tools)


def kept_policy_for(
    policy: Policy, calls: Iterable[ToolCall], rulings: Iterable[Ruling], tools: Iterable[str]
) -> str | None:
    """The part of the policy that a review keeps, so that a call with edited arguments can be judged again.
    Raises InvalidToolCall if it is longer than MAX_KEPT_POLICY.
    """
    changing = [c.name for c, r in zip(calls, rulings, strict=True) if _can_change(r)]
    if not changing:
        return None
    kept = dump_kept_policy(policy, dict.fromkeys([*changing, *tools]))
    if len(kept) > MAX_KEPT_POLICY:
        raise InvalidToolCall(
            f"The rules for these tools take {len(kept):,} characters, and a review keeps {MAX_KEPT_POLICY:,}"
            " at most. Name fewer `tools`, or give them fewer or shorter rules."
        )
    return kept


def _can_change(ruling: Ruling) -> bool:
    into = ruling.output and ruling.output.into
    return "edit" in ruling.allowed_decisions or into == "input"


def find_schema_flaw(schema: JsonObject) -> str | None:
    """Why this schema can't check arguments; None if it can. `check_schema` caches its results."""
    try:
        check_schema(schema)
    except SchemaError as error:
        return str(error)
    return None
