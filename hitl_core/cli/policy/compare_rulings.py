"""Compares the rulings of two policies on the same call: which one is looser. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hitl_core.cli import phrases
from hitl_core.model import Expire, Reviewers, Route
from hitl_core.policy import Ruling

#: The effects, the worst first. If nobody can tell which of two is looser, as with two schemas, it is
#: "looser".
Effect = Literal["looser", "different", "stricter"]
EFFECTS: tuple[Effect, ...] = ("looser", "different", "stricter")
_BY_STRICTNESS = ("allow", "review", "deny")


class Change(NamedTuple):
    effect: Effect
    text: str


def find_changes(before: Ruling, after: Ruling) -> tuple[Change, ...]:
    """What changes for one call: whether it runs, which decisions are allowed, by whom, and when. Texts are
    not compared.
    """
    old, new = before.verdict.kind, after.verdict.kind
    if old != new:
        looser = _BY_STRICTNESS.index(new) < _BY_STRICTNESS.index(old)
        return (Change("looser" if looser else "stricter", f"{old} → {new}"),)
    if old != "review":
        return ()
    return (
        *_decision_changes(before, after),
        *_reading_changes(before, after),
        *_route_changes(before.route, after.route),
    )


def worst_effect(all_changes: Iterable[Change]) -> Effect:
    """The worst effect of several changes."""
    effects = {change.effect for change in all_changes}
    return next(effect for effect in EFFECTS if effect in effects)


def _decision_changes(before: Ruling, after: Ruling) -> Iterator[Change]:
    old, new = before.allowed_decisions, after.allowed_decisions
    both = set(old) & set(new)
    yield from _list_changes("decisions", old, new)
    if "edit" in both:
        yield from _schema_changes("args_schema", before.args_schema, after.args_schema)
    if both & {"approve", "respond"}:
        yield from _schema_changes("answer_schema", before.answer_schema, after.answer_schema)
    if "reject" in both and before.reject_reason != after.reject_reason:
        looser = after.reject_reason == "optional"
        yield Change("looser" if looser else "stricter", f"reject_reason: {after.reject_reason}")
    if before.idempotent != after.idempotent:
        description = f"idempotent: {str(after.idempotent).lower()}"
        yield Change("looser" if after.idempotent else "stricter", description)


def _reading_changes(before: Ruling, after: Ruling) -> Iterator[Change]:
    """Changes of what a person must do to approve, what is hidden, and where the answer goes."""
    for key, old, new in (
        ("must_read", before.needs_reading, after.needs_reading),
        ("confirm", before.confirm, after.confirm),
    ):
        if old != new:
            yield Change("stricter" if new else "looser", f"{key}: {str(new).lower()}")
    if before.redact != after.redact:
        yield Change("different", f"redact: {', '.join(after.redact) or 'nothing'}")
    if before.display != after.display:
        yield Change("different", "display: changed")
    if before.hide_when_decided != after.hide_when_decided:
        yield Change("different", f"hide_when_decided: {str(after.hide_when_decided).lower()}")
    if before.output != after.output:
        yield Change("different", "output: changed")


def _reviewer_changes(before: Reviewers, after: Reviewers) -> Iterator[Change]:
    """More approvals by the same people are stricter. Other people count as looser."""
    if before == after:
        return
    raised = before.model_copy(update={"quorum": after.quorum}) == after
    stricter = raised and after.quorum > before.quorum
    yield Change(
        "stricter" if stricter else "looser",
        f"reviewers: {phrases.describe_reviewers(before)} → {phrases.describe_reviewers(after)}",
    )


def _route_changes(before: Route, after: Route) -> Iterator[Change]:
    """Changes of places and times. The members of each place may decide, so one more place is looser."""
    old, new = _places(before), _places(after)
    yield from _list_changes("places", old, new)
    yield from _reviewer_changes(before.reviewers, after.reviewers)
    if set(old) == set(new) and _steps_text(before) != _steps_text(after):
        same = [s.reviewers for s in before.escalate] == [s.reviewers for s in after.escalate]
        description = f"escalates: {_steps_text(before)} → {_steps_text(after)}"
        yield Change("different" if same else "looser", description)
    for key in ("remind", "clock", "fallback"):
        if (was := getattr(before, key)) != (now := getattr(after, key)):
            yield Change("different", f"{key}: {was or 'none'} → {now or 'none'}")
    if before.expire != after.expire:
        yield Change(
            "different", f"expires: {_expire_text(before.expire)} → {_expire_text(after.expire)}"
        )


def _list_changes(label: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Change]:
    added = [f"+{each}" for each in new if each not in old]
    gone = [f"-{each}" for each in old if each not in new]
    if added or gone:
        yield Change("looser" if added else "stricter", f"{label}: {' '.join([*added, *gone])}")


def _schema_changes(key: str, old: object, new: object) -> Iterator[Change]:
    if old != new:
        verb = "added" if old is None else "removed" if new is None else "changed"
        yield Change("stricter" if old is None else "looser", f"{key}: {verb}")


def _places(route: Route) -> tuple[str, ...]:
    return (*route.notify, *(step.to for step in route.escalate))


def _steps_text(route: Route) -> str:
    steps = [
        f"{step.to} after {phrases.duration(step.after)}"
        + (f" ({phrases.describe_reviewers(step.reviewers)})" if step.reviewers.is_explicit else "")
        for step in route.escalate
    ]
    return ", ".join(steps) or "never"


def _expire_text(expire: Expire | None) -> str:
    if expire is None:
        return "never"
    message = f" ({expire.message})" if expire.message else ""
    return f"{expire.decision} after {phrases.duration(expire.after)}{message}"
