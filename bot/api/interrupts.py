"""What another system asks, under the policy: which may only tighten it. People are offered nothing that the
system can't be told. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.api.problems import Problem
from hitl_core import dialects
from hitl_core.errors import DialectError, InvalidToolCall, Unsayable
from hitl_core.forms import SchemaError, check_schema
from hitl_core.gate import request
from hitl_core.gate.answers import denial
from hitl_core.gate.request import MAX_CALLS, Request, Turn
from hitl_core.model import Decision, DecisionType, DialectName, Review, ToolCall
from hitl_core.policy import Ruling
from hitl_core.policy.stricter import stricter
from hitl_core.review.proposal import Proposal

Schema = dict[str, Any]

#: How a system is told what the policy denies: the first of these that it takes.
_NO: tuple[DecisionType, ...] = ("reject", "ignore")


def read(
    interrupt: Any, dialect: DialectName | None, thread_id: str, calls: Sequence[ToolCall]
) -> list[Request]:
    """One for each interrupt in it; `calls` are those of the turn, where they are known. Raises Problem."""
    try:
        parts = dialects.split(interrupt)
        if len(parts) > MAX_CALLS:
            raise DialectError(f"These are more than {MAX_CALLS} interrupts at once.")
        found = [
            dialects.get(dialect or dialects.detect(part)).load_request(part, thread_id, calls)
            for part in parts
        ]
    except (DialectError, InvalidToolCall) as error:
        raise _wrong(str(error)) from error
    if (
        len(found) > 1 and calls
    ):  # each would take what the others ask about for calls that need nobody
        told = "They go with one interrupt; here are several."
        raise Problem("invalid", told, pointer="/calls")
    if len({tuple(call.id for call in each.calls) for each in found}) < len(found):
        raise _wrong(
            "Several of these interrupts have the same call ids: submit each under a `turn` of its own."
        )
    return found


def tightened(
    theirs: Request, ours: Request, tools: Mapping[str, Schema | None]
) -> tuple[Request, dict[str, Proposal]]:
    """Their interrupt with our policy's places, deadlines, schemas and limits; and what the policy denies, by
    the calls' keys. `ours` is what the policy says of the same calls. Raises Problem where the two leave
    nothing that could be decided, or nothing that could be told.
    """
    rulings: list[Ruling] = []
    denied: dict[str, Proposal] = {}
    renames = True
    each = zip(ours.calls, theirs.rulings, ours.rulings, strict=True)
    for key, (call, said, policy) in enumerate(each, start=1):
        if said.verdict.kind == "allow":
            rulings.append(_free(said, policy, call))
            continue
        ruling = _sayable(_asked(said, policy, call, tools.get(call.name)), call, theirs)
        if policy.verdict.kind == "deny":
            denied[str(key)] = no = _no(ruling, policy, call)
            ruling = replace(ruling, allowed_decisions=(no.type,))
        elif "edit" in ruling.allowed_decisions:
            renames = renames and _takes(_alone(ruling, call, theirs), "edit", name="another")
        rulings.append(ruling)
    made = theirs._replace(calls=ours.calls, rulings=rulings, policy=ours.policy)
    return made._replace(tools=ours.tools) if renames else made, denied


def _free(said: Ruling, policy: Ruling, call: ToolCall) -> Ruling:
    """A call that the agent runs without asking. The policy's default stops none: most systems let through
    what they don't list.
    """
    kind, rule = policy.verdict.kind, policy.verdict.rule
    if kind == "deny" or (kind == "review" and rule is not None):
        wants = "denies it" if kind == "deny" else "asks a person about it"
        raise _wrong(
            f"The agent does not interrupt before `{call.name}`, and the policy {wants}: let it interrupt"
            " there as well."
        )
    return replace(said, route=policy.route)


def _asked(said: Ruling, policy: Ruling, call: ToolCall, own: Schema | None) -> Ruling:
    """What people are asked. A rule for the tool may take decisions away; what no rule names, or nobody needs
    to be asked about, keeps those of the interrupt.
    """
    _check(said.args_schema, "/interrupt")
    if policy.verdict.kind == "deny":
        verdict = policy.verdict.model_copy(update={"kind": "review"})
        return replace(said, verdict=verdict, route=policy.route)
    limits = said.allowed_decisions
    if policy.verdict.kind == "review" and policy.verdict.rule is not None:
        limits = policy.allowed_decisions
        if "reject" in limits and "ignore" not in limits:
            limits = (*limits, "ignore")  # some systems have no other word for a rejection
    ruling = stricter(replace(policy, allowed_decisions=limits), said)
    if ruling.verdict.kind == "deny":
        raise _wrong(
            f"Nothing can be decided on `{call.name}`: the interrupt takes"
            f" {', '.join(said.allowed_decisions)}, the policy {', '.join(policy.allowed_decisions)}."
        )
    if ruling.args_schema is None and own is not None:
        _check(own, f"/tools/{call.name.replace('/', '~1')}")
        ruling = replace(ruling, args_schema=own)
    # A rule's own description is told to people, the interrupt's to its system.
    has_own = policy.verdict.reason.startswith(policy.description or "?")
    return replace(
        ruling,
        description=policy.description if has_own else said.description,
        text=(said.text or said.description) if has_own else said.text,
        title=said.title,
        interrupt_id=said.interrupt_id,
        answer_schema=policy.answer_schema if said.answer_schema is None else said.answer_schema,
        output=said.output,
    )


def _no(ruling: Ruling, policy: Ruling, call: ToolCall) -> Proposal:
    """The policy's own decision, as its system can be told of it."""
    kind: DecisionType | None = next(
        (kind for kind in _NO if kind in ruling.allowed_decisions), None
    )
    if kind is None:
        raise _wrong(
            f"The policy denies `{call.name}`, and the interrupt takes no rejection of it, only"
            f" {', '.join(ruling.allowed_decisions)}."
        )
    return Proposal(kind, 1, denial(call.name, policy.verdict.reason), verbatim=True)


def _sayable(ruling: Ruling, call: ToolCall, theirs: Request) -> Ruling:
    """With those decisions only that its system has a word for."""
    review = _alone(ruling, call, theirs)
    allowed = tuple(kind for kind in ruling.allowed_decisions if _takes(review, kind))
    if not allowed:
        raise _wrong(
            f"{theirs.dialect} can't be told {', '.join(ruling.allowed_decisions)}, all that may be decided"
            f" on `{call.name}`."
        )
    ruling = replace(ruling, allowed_decisions=allowed)
    expire = ruling.route.expire
    if expire and not _takes(_alone(ruling, call, theirs), expire.decision, expire.message):
        raise _wrong(
            f"The policy's deadline would {expire.decision} `{call.name}`, and the interrupt takes only"
            f" {', '.join(allowed)}."
        )
    return ruling


def _alone(ruling: Ruling, call: ToolCall, theirs: Request) -> Review:
    """A review of this call only, to try what its system can be told. Its arguments change nothing there."""
    bare = theirs._replace(calls=[replace(call, args={})], rulings=[ruling])
    return request.build_from(Turn("-", "-", "-", None), bare, 1, 0.0)[0]


def _takes(
    review: Review, kind: DecisionType, message: str | None = None, name: str | None = None
) -> bool:
    [action] = review.actions
    decision = Decision(
        type=kind,
        by=None,
        at=0.0,
        revision=1,
        digest=action.digest,
        message=message or ("-" if kind == "respond" else None),
        name=name,
    )
    decided = (action.model_copy(update={"decision": decision}),)
    try:
        dialects.get(review.dialect).dump_decisions(review.model_copy(update={"actions": decided}))
    except Unsayable:
        return False
    return True


def _check(schema: Schema | None, where: str) -> None:
    try:
        check_schema(schema or {})
    except SchemaError as error:
        raise Problem("invalid", f"This schema can't be used: {error}.", pointer=where) from error


def _wrong(told: str) -> Problem:
    return Problem("invalid", told, pointer="/interrupt")
