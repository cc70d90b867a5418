"""Apply a policy to tool calls: the result is `JudgedCalls`, with a ruling for each call. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import JudgedCalls, freeze_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.gate.submission.schemas import ToolSchemas, find_schema_flaw
from hitl_core.model import Event, JsonObject, Review, ToolCall
from hitl_core.policy import Policy, Ruling
from hitl_core.review import find_redaction_flaw


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
        await schemas.add_schema(await policy.judge_async(call, state), tools.get(call.name))
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
        policy.digest,
        await schemas.excerpt(policy, calls, rulings, edit_targets),
    )


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
    arguments that they can't see.
    """
    for call, ruling in zip(judged_calls.calls, judged_calls.rulings, strict=True):
        trusted = (ruling.policy_schema, ruling.hiding_schema)
        if ruling.verdict.kind == "review" and (flaw := find_redaction_flaw(trusted, call.args)):
            raise InvalidToolCall(f"{call.name} can't be reviewed: {flaw}.")


def build_from_calls(
    review_key: ReviewKey,
    calls: Sequence[ToolCall],
    rulings: Sequence[Ruling],
    partitions: int,
    now: float,
) -> tuple[Review, Event]:
    """`build_review` for calls and rulings, with the defaults of `JudgedCalls` for the rest."""
    return build_review(review_key, JudgedCalls(calls, rulings), partitions, now)
