"""The calls of one model turn: limits, copies that the agent can't change, and the policy's rulings. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.inputs import list_calls
from hitl_core.gate.submission.schemas import ToolSchemas, find_schema_flaw
from hitl_core.jsonschema import HIDING_STEPS, Budget, TooMuchWork
from hitl_core.model import (
    Arguments,
    DialectName,
    JsonObject,
    ToolCall,
    Verdict,
    encode,
    parsed_has_more_values,
)
from hitl_core.policy import Policy, Ruling
from hitl_core.review import find_redaction_flaw
from hitl_core.sentences import join_names

#: The most tool calls of one model turn.
MAX_CALLS = 100
#: The most JSON values in all arguments of a turn: each is read several times before a card is shown.
MAX_VALUES = 100_000


class JudgedCalls(NamedTuple):
    """The calls of one model turn, with their rulings.

    - `tools`: the tools that an edit may switch to, each with its own schema or None;
    - `path`: the names of the agents that led to the calls, the outermost first;
    - `dialect`: the model gets the texts of this system;
    - `policy`: the hash of the policy that judged the calls;
    - `kept_policy`: the part of the policy by which edits are judged (`schemas.kept_policy_for`), or None;
    - `withholds_texts`: people are shown no text of the agent, because these calls were made inside a call
      with hidden values.
    """

    calls: Sequence[ToolCall]
    rulings: Sequence[Ruling]
    path: tuple[str, ...] = ()
    dialect: DialectName = "langchain"
    tools: Mapping[str, JsonObject | None] = {}
    edit_notice: str | None = None
    policy: str | None = None
    kept_policy: str | None = None
    withholds_texts: bool = False


class FrozenCalls(tuple[ToolCall, ...]):
    """Copies of the calls, which nobody else can change. `encoded_args`: the arguments of each call, from
    `encode`.
    """

    encoded_args: tuple[Arguments, ...]


def freeze_calls(
    calls: Iterable[ToolCall], encoded_args: Sequence[Arguments] | None = None
) -> FrozenCalls:
    """Copies of the calls, so that what is judged is what is stored, even if the agent changes its objects
    meanwhile. `encoded_args`: their arguments, if the caller has encoded them. Raises InvalidToolCall, also
    when two calls have the same id. Frozen calls are returned as they are.
    """
    if isinstance(calls, FrozenCalls):
        return calls
    calls = list_calls(calls)
    if parsed_has_more_values([call.args for call in calls], MAX_VALUES):
        message = f"The arguments of one turn may have at most {MAX_VALUES:,} values."
        raise InvalidToolCall(message)
    if encoded_args is None:
        encoded_args = [encode(call.args) for call in calls]
    if not calls:
        raise InvalidToolCall("There is no tool call to review.")
    if len(calls) > MAX_CALLS:
        raise InvalidToolCall(f"A turn may have at most {MAX_CALLS} tool calls, not {len(calls)}.")
    ids = [call.id for call in calls]
    if duplicate := next((id for id in ids if ids.count(id) > 1), None):
        raise InvalidToolCall(f"Two calls of this turn have the id {duplicate!r}.")
    copies = FrozenCalls(
        ToolCall(call.id, call.name, _copy_args(call.args), call.reason) for call in calls
    )
    copies.encoded_args = tuple(encoded_args)
    return copies


def _copy_args(args: JsonObject) -> JsonObject:
    """A copy, with the keys in the model's order, because descriptions show them in this order."""
    return json.loads(json.dumps(args))


async def judge_calls(
    policy: Policy,
    calls: Iterable[ToolCall],
    *,
    tools: Mapping[str, JsonObject | None] | None = None,
    state: object = None,
    path: Iterable[str] = (),
) -> JudgedCalls:
    """Apply the policy to all calls of a turn. `tools` are the agent's tools by name, each with the JSON
    Schema of its arguments or None: the schema is enforced when the policy has none, and an edit may switch
    to another of these tools if the policy allows that tool too. Raises InvalidToolCall.
    """
    calls, tools, schemas = freeze_calls(calls), tools or {}, ToolSchemas()
    rulings = [
        deny_incomplete(
            call,
            await schemas.add_schema(await policy.judge_async(call, state), call.name, tools),
            tools.get(call.name),
        )
        for call in calls
    ]
    allows_edit = any("edit" in ruling.allowed_decisions for ruling in rulings)
    edit_targets = await schemas.edit_targets(tools) if allows_edit else {}
    return JudgedCalls(
        calls,
        rulings,
        tuple(path),
        policy.dialect or "langchain",
        edit_targets,
        policy.edit_notice if allows_edit else None,
        policy.hash,
        await schemas.kept_policy(policy, calls, rulings, edit_targets),
    )


def deny_incomplete(call: ToolCall, ruling: Ruling, tool_schema: JsonObject | None) -> Ruling:
    """Deny a call without an argument that the tool's own schema requires: people would approve a call that
    must fail. The model may call again. A call that people have to edit, or whose argument is their answer,
    may be incomplete.
    """
    is_filled_in = "approve" not in ruling.allowed_decisions or ruling.output is not None
    required: Any = (tool_schema or {}).get("required")
    if ruling.verdict.kind != "review" or is_filled_in or not isinstance(required, list):
        return ruling
    names = (name for name in cast("list[object]", required) if isinstance(name, str))
    missing = [name for name in names if name not in call.args]
    if not missing:
        return ruling
    listed = join_names(f"`{name:.80}`" for name in missing)
    verdict = Verdict(
        kind="deny", rule=None, reason=f"It lacks {listed}.", retry=True, by_agent=True
    )
    return ruling._replace(verdict=verdict, allowed_decisions=(), args_schema=None)


def check_calls(judged_calls: JudgedCalls) -> JudgedCalls:
    """The checks of `judge_calls`, for calls that an integration judged itself. Raises InvalidToolCall, also
    for a schema from which no card can be made: nobody could decide the call then.
    """
    judged_calls = judged_calls._replace(calls=freeze_calls(judged_calls.calls))
    for call, ruling in zip(judged_calls.calls, judged_calls.rulings, strict=True):
        if ruling.args_schema is not None and (flaw := find_schema_flaw(ruling.args_schema)):
            raise InvalidToolCall(
                f"This schema can't be used for the arguments of {call.name}: {flaw}."
            )
    return judged_calls


def check_redaction(judged_calls: JudgedCalls) -> None:
    """Raise InvalidToolCall when it can't be determined which arguments a card hides: people would approve
    arguments that they can't see. All calls share one budget, because each drawing of the card repeats this
    work.
    """
    budget = Budget(HIDING_STEPS)
    for call, ruling in zip(judged_calls.calls, judged_calls.rulings, strict=True):
        if ruling.verdict.kind != "review":
            continue
        try:
            flaw = find_redaction_flaw([ruling], call.args, budget)
        except TooMuchWork:
            flaw = (
                "to find what the schemas hide in these calls is too much work; send fewer at once"
            )
        if flaw:
            raise InvalidToolCall(f"{call.name} can't be reviewed: {flaw}.")
