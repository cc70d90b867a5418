"""Tool calls and a policy become a request, with everything that the policy says of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.calls import MAX_CALLS, MAX_VALUES, Request, frozen, more_than
from hitl_core.gate.new_review import build_from
from hitl_core.gate.schemas import Schemas, excerpt_for, flaw_of
from hitl_core.gate.turns import Turn, check_turn, id_of
from hitl_core.model import Event, Review, ToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Policy, Ruling
from hitl_core.review.redaction import flaw_of_hidden

__all__ = [
    "MAX_CALLS",
    "MAX_VALUES",
    "Request",
    "Schemas",
    "Turn",
    "build",
    "build_from",
    "check_clear",
    "check_turn",
    "checked",
    "excerpt_for",
    "flaw_of",
    "frozen",
    "id_of",
    "judged",
    "more_than",
]


async def judged(
    policy: Policy,
    calls: Iterable[ToolCall],
    *,
    tools: Mapping[str, JsonObject | None] | None = None,
    state: object = None,
    path: Iterable[str] = (),
) -> Request:
    """What a policy says of a turn, once and for all. `tools` are the agent's own, by name, each with the
    JSON Schema of its arguments or None: where the policy has no schema theirs is enforced, and an edit may
    name another of them where the policy allows that one too. Raises InvalidToolCall.
    """
    calls, tools, schemas = frozen(calls), tools or {}, Schemas()
    rulings = [
        await schemas.added(await policy.judged(call, state), tools.get(call.name))
        for call in calls
    ]
    edits = any("edit" in ruling.allowed_decisions for ruling in rulings)
    named = await schemas.targets(tools) if edits else {}
    return Request(
        calls,
        rulings,
        tuple(path),
        policy.dialect or "langchain",
        named,
        policy.edit_notice if edits else None,
        policy.digest,
        await schemas.excerpt(policy, calls, rulings, named),
    )


def checked(asked: Request) -> Request:
    """One that an integration made: what `judged` sees to by itself. Raises InvalidToolCall, also for a
    schema by which no card could be drawn: nobody would be asked.
    """
    asked = asked._replace(calls=frozen(asked.calls))
    for call, ruling in zip(asked.calls, asked.rulings, strict=True):
        if ruling.args_schema is not None and (flaw := flaw_of(ruling.args_schema)):
            raise InvalidToolCall(
                f"This schema can't be used for the arguments of {call.name}: {flaw}."
            )
    return asked


def check_clear(asked: Request) -> None:
    """Raise InvalidToolCall for arguments of which nobody can tell what is hidden: a card could hide anything
    in them, and people would approve it.
    """
    for call, ruling in zip(asked.calls, asked.rulings, strict=True):
        if ruling.verdict.kind == "review" and (
            flaw := flaw_of_hidden([ruling.policy_schema], call.args)
        ):
            raise InvalidToolCall(f"{call.name} can't be reviewed: {flaw}.")


def build(
    turn: Turn,
    calls: Sequence[ToolCall],
    rulings: Sequence[Ruling],
    partitions: int,
    now: float,
) -> tuple[Review, Event]:
    """`build_from`, for calls of which nothing else is known."""
    return build_from(turn, Request(calls, rulings), partitions, now)
