"""Limits the decisions on another system's interrupt to those that this system can receive. Pure.

The other system acts on the answer itself, and no guard of ours checks what it runs. So before a card is
shown, each possible result of an action is tried: people's decisions, the decision at the policy's deadline,
and the policy's denial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hitl_core.dialects.base import Dialect
from hitl_core.dialects.parts import FinalDecision, interrupt_decisions, list_options
from hitl_core.errors import DialectError
from hitl_core.gate import JudgedCalls, ReviewKey, build_review
from hitl_core.model import Action, DecisionType, Expire, Review
from hitl_core.policy import Ruling

#: A denial is sent as the first of these that the system accepts.
_REJECTION_TYPES: tuple[DecisionType, ...] = ("reject", "ignore")


class LimitedRequest(NamedTuple):
    """The result of `limit_decisions`. `calls` have only the decisions that the system can receive.
    `denial_types`: by call key, the decision to send for a call that the interrupt asks about and the policy
    denies.
    """

    calls: JudgedCalls
    denial_types: Mapping[str, DecisionType]


def limit_decisions(
    dialect: Dialect, policy_request: JudgedCalls, interrupt_request: JudgedCalls
) -> LimitedRequest:
    """`policy_request` is the interrupt with our policy applied. Returns it with only those decisions that
    the system of `interrupt_request` can receive.

    Raises DialectError, with what to change, if no decision is left, if the system can't receive the
    deadline's decision or a denial, or if the policy lets people reject but the interrupt doesn't.
    """
    preview = _preview_review(interrupt_request)
    rulings, denial_types = list[Ruling](), dict[str, DecisionType]()
    for number, (theirs, ruling) in enumerate(
        zip(interrupt_request.rulings, policy_request.rulings, strict=True), 1
    ):
        action = preview.action(str(number))
        if action is None:
            rulings.append(ruling)
        elif ruling.verdict.kind == "deny":
            denial_types[action.key] = _find_denial_type(dialect, preview, action)
            rulings.append(ruling)
        else:
            rulings.append(
                _limit_ruling(dialect, preview, action, ruling._replace(extra=theirs.extra))
            )
    limited = policy_request._replace(rulings=rulings)
    if not dialect.can_rename:
        limited = limited._replace(tools={})
    return LimitedRequest(limited, denial_types)


def _preview_review(interrupt_request: JudgedCalls) -> Review:
    return build_review(ReviewKey("agent", "thread", "", None), interrupt_request, 1, 0.0)[0]


def _find_denial_type(dialect: Dialect, preview: Review, action: Action) -> DecisionType:
    for kind in _REJECTION_TYPES:
        final = _make_decision(preview, action, kind, message="no", by_person=False)
        if (
            kind in interrupt_decisions(action)
            and dialect.dump_decision(preview, action, final) is not None
        ):
            return kind
    raise DialectError(
        f"The policy denies `{action.request.name}`, but the interrupt accepts no rejection of it, only"
        f" {', '.join(interrupt_decisions(action))}. Let the interrupt accept a rejection, or take the tool"
        " away from the agent."
    )


def _limit_ruling(dialect: Dialect, preview: Review, action: Action, ruling: Ruling) -> Ruling:
    tool, theirs = action.request.name, interrupt_decisions(action)
    can = {
        kind
        for kind in ruling.allowed_decisions
        if all(
            dialect.dump_decision(preview, action, final) is not None
            for final in _person_decisions(preview, action, ruling, kind)
        )
    }
    allowed = tuple(kind for kind in ruling.allowed_decisions if kind in can)
    if not allowed:
        raise DialectError(
            f"{dialect.name} can't receive {', '.join(ruling.allowed_decisions)}, the only decisions allowed"
            f" on `{tool}`."
        )
    expire = ruling.route.expire
    if (
        expire
        and dialect.dump_decision(preview, action, _deadline_decision(preview, action, expire))
        is None
    ):
        raise DialectError(
            f"The policy's deadline would {expire.decision} `{tool}`{_message_text(expire)},"
            f" but {dialect.name} can't receive that here: the interrupt accepts {', '.join(theirs)}, and"
            " an answer that lets the agent continue must come from a person. Give the tool's rule another"
            " `expire`, or none."
        )
    if ruling.says_no and can & {"approve", "edit"} and not can & {*_REJECTION_TYPES}:
        raise DialectError(
            f"The policy lets people reject `{tool}`, but the interrupt can't receive that: it accepts"
            f" {', '.join(theirs)}. Let the interrupt accept a rejection, or leave `reject` out of the rule's"
            " `allowed_decisions`."
        )
    reviewers = ruling.route.reviewers
    decides_alone = reviewers.quorum == 1 and reviewers.editor_approves
    if "edit" in can and "approve" not in can and not decides_alone:
        raise DialectError(
            f"The policy lets other people approve an edited `{tool}`, but the interrupt can't receive an"
            f" approval: it accepts {', '.join(theirs)}. Let the interrupt accept an approval, or leave"
            " `edit` out of the rule's `allowed_decisions`."
        )
    return ruling._replace(allowed_decisions=allowed, accepted_decisions=theirs)


def _person_decisions(
    preview: Review, action: Action, ruling: Ruling, kind: DecisionType
) -> Iterator[FinalDecision]:
    """One example of each form that a person's decision of this kind can have in the other system."""
    answer = None if ruling.answer_schema is None else _example(ruling.answer_schema)
    match kind:
        case "approve":
            yield _make_decision(preview, action, kind, answer=answer)
        case "respond":
            yield _make_decision(preview, action, kind, message="text", answer=answer)
        case "reject" if ruling.reject_reason == "optional":
            yield _make_decision(preview, action, kind)
            yield _make_decision(preview, action, kind, message="why")
        case "reject":
            yield _make_decision(preview, action, kind, message="why")
        case "edit" | "ignore":
            yield _make_decision(preview, action, kind)


def _deadline_decision(preview: Review, action: Action, expire: Expire) -> FinalDecision:
    message = expire.message or ("Nobody decided." if expire.decision == "reject" else None)
    return _make_decision(preview, action, expire.decision, message=message, by_person=False)


def _message_text(expire: Expire) -> str:
    return f" with {expire.message!r:.80}" if expire.message else ""


def _make_decision(
    preview: Review,
    action: Action,
    kind: DecisionType,
    *,
    message: str | None = None,
    answer: Any = None,
    by_person: bool = True,
) -> FinalDecision:
    args = preview.arguments(action.key).parse()
    return FinalDecision(kind, message, action.request.name, args, answer, by_person, "text")


def _example(schema: dict[str, Any]) -> Any:
    """An example of a person's answer. It has only the properties that a dialect checks."""
    if options := list_options(schema):
        return options[0]
    match schema.get("type"):
        case "array":
            return [_example(schema.get("items") or {})]
        case "boolean":
            return True
        case _:
            return "text"
