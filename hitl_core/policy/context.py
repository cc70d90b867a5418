"""What one run's own configuration may say: the agent hands it over, so it only makes rules stricter."""

from __future__ import annotations

from collections.abc import Iterator

from hitl_core.policy.reading import Reading
from hitl_core.policy.report import Report
from hitl_core.policy.rule import Rule

#: What the operator's `allow_override` does not open either: people would see less, or press something else.
_NEVER = ("redact", "answer_schema", "output")
#: What stands on cards as the policy's own words, and where and when people are asked.
_POLICYS = ("description", "idempotent")
_ROUTE = ("notify", "escalate", "remind", "clock", "fallback", "expire")


def check_context(reading: Reading, standard: Rule, report: Report, *, override: bool) -> None:
    """Adds what a run may not say to the report, by the tool and the word of ours for it; `standard` is the
    policy's default.
    """
    if reading.prefix is not None and not override:
        report.add(("description_prefix",), _why("description_prefix"))
    for rule in reading.rules:
        for word in _said(rule, standard, override):
            report.add((str(rule.name), word), _why(word))


def _said(rule: Rule, standard: Rule, override: bool) -> Iterator[str]:
    words = _NEVER if override else (*_NEVER, *_POLICYS)
    yield from (word for word in words if getattr(rule, word) not in (None, (), False))
    route, own = rule.route, standard.route
    if rule.dialect is None:
        yield from (word for word in _ROUTE if getattr(route, word) != getattr(own, word))
    if rule.kind == "review" and "reject" not in rule.allowed_decisions:
        yield "allowed_decisions"


def _why(word: str) -> str:
    if word == "allowed_decisions":
        return "A run's own configuration can't take `reject` away: add it."
    if word in _ROUTE:
        return f"`{word}` is the policy's to say, not that of one run: leave it out."
    return (
        f"A run's own configuration may make a rule stricter, and `{word}` changes what people see or"
        " decide: leave it out, or say it in the policy."
    )
