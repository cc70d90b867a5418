"""What people can be offered of another system's interrupt: nothing that this system can't be told. Pure.

Nothing of ours stands between the answer and what acts on it, so all that may come of an action is asked for
here, before anybody is asked: each decision that people may take, the policy's deadline and its denial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hitl_core.dialects._arcgis_config import options_in
from hitl_core.dialects._decisions import Ending, takes
from hitl_core.dialects.base import Dialect
from hitl_core.errors import DialectError
from hitl_core.gate import Request
from hitl_core.gate.request import Turn, build_from
from hitl_core.model import Action, DecisionType, Expire, Review
from hitl_core.policy import Ruling

#: How a system is told no: the first of these that it takes.
_NO: tuple[DecisionType, ...] = ("reject", "ignore")


def sayable(dialect: Dialect, made: Request, asked: Request) -> Request:
    """`made` is what our policy makes of the interrupt `asked`. The same, with those decisions only that its
    system can be told. Raises DialectError, with what to change, where nothing is left, where the deadline or
    a denial can't be said, and where the policy lets people say no and the interrupt doesn't.
    """
    view = _view(asked)
    rulings: list[Ruling] = []
    for number, (theirs, ruling) in enumerate(zip(asked.rulings, made.rulings, strict=True), 1):
        action = view.action(str(number))
        if action is None:
            rulings.append(ruling)
        elif ruling.verdict.kind == "deny":
            _no(dialect, view, action)
            rulings.append(ruling)
        else:
            rulings.append(_cut(dialect, view, action, replace(ruling, extra=theirs.extra)))
    return made._replace(rulings=rulings, tools=made.tools if dialect.renames else {})


def no_of(dialect: Dialect, asked: Request, key: str) -> DecisionType:
    """The decision by which a call that the interrupt asks about, and the policy denies, is told. Raises
    DialectError.
    """
    view = _view(asked)
    action = view.action(key)
    assert action is not None  # it is asked about
    return _no(dialect, view, action)


def _view(asked: Request) -> Review:
    return build_from(Turn("agent", "thread", "", None), asked, 1, 0.0)[0]


def _no(dialect: Dialect, view: Review, action: Action) -> DecisionType:
    for kind in _NO:
        end = _ending(view, action, kind, message="no", by_person=False)
        if kind in takes(action) and dialect.word(view, action, end) is not None:
            return kind
    raise DialectError(
        f"The policy denies `{action.request.name}`, and the interrupt takes no rejection of it, only"
        f" {', '.join(takes(action))}. Let the interrupt take one, or let the agent not call this tool."
    )


def _cut(dialect: Dialect, view: Review, action: Action, ruling: Ruling) -> Ruling:
    tool, theirs = action.request.name, takes(action)
    can = {
        kind
        for kind in ruling.allowed_decisions
        if all(
            dialect.word(view, action, end) is not None
            for end in _by_people(view, action, ruling, kind)
        )
    }
    allowed = tuple(kind for kind in ruling.allowed_decisions if kind in can)
    if not allowed:
        raise DialectError(
            f"{dialect.name} can't be told {', '.join(ruling.allowed_decisions)}, all that may be decided on"
            f" `{tool}`."
        )
    expire = ruling.route.expire
    if expire and dialect.word(view, action, _in_time(view, action, expire)) is None:
        raise DialectError(
            f"The policy's deadline would {expire.decision} `{tool}`{_with(expire)}, and {dialect.name} has"
            f" no word for that here: the interrupt takes {', '.join(theirs)}, and an answer that the agent"
            " goes on with comes from a person. Give the rule for it another `expire`, or none."
        )
    if ruling.says_no and can & {"approve", "edit"} and not can & {*_NO}:
        raise DialectError(
            f"The policy lets people reject `{tool}`, and the interrupt has no word for that: it takes"
            f" {', '.join(theirs)}. Let the interrupt take a rejection, or leave `reject` out of the rule's"
            " `allowed_decisions`."
        )
    return replace(ruling, allowed_decisions=allowed, takes=theirs)


def _by_people(
    view: Review, action: Action, ruling: Ruling, kind: DecisionType
) -> Iterator[Ending]:
    """Everything that a person can say with this decision, as far as a system may tell it apart."""
    answer = None if ruling.answer_schema is None else _example(ruling.answer_schema)
    match kind:
        case "approve":
            yield _ending(view, action, kind, answer=answer)
        case "respond":
            yield _ending(view, action, kind, message="text", answer=answer)
        case "reject" if ruling.reject_reason == "optional":
            yield _ending(view, action, kind)
            yield _ending(view, action, kind, message="why")
        case "reject":
            yield _ending(view, action, kind, message="why")
        case "edit" | "ignore":
            yield _ending(view, action, kind)


def _in_time(view: Review, action: Action, expire: Expire) -> Ending:
    message = expire.message or ("Nobody decided." if expire.decision == "reject" else None)
    return _ending(view, action, expire.decision, message=message, by_person=False)


def _with(expire: Expire) -> str:
    return f" with {expire.message!r:.80}" if expire.message else ""


def _ending(
    view: Review,
    action: Action,
    kind: DecisionType,
    *,
    message: str | None = None,
    answer: Any = None,
    by_person: bool = True,
) -> Ending:
    args = view.arguments(action.key).parse()
    return Ending(kind, message, action.request.name, args, answer, by_person, "told")


def _example(schema: dict[str, Any]) -> Any:
    """An answer that a person could give, as far as a dialect looks at it."""
    if options := options_in(schema):
        return options[0]
    match schema.get("type"):
        case "array":
            return [_example(schema.get("items") or {})]
        case "boolean":
            return True
        case _:
            return "text"
