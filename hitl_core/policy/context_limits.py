"""The limits of a run's own configuration. It comes from the agent, so it can only make rules stricter."""

from __future__ import annotations

from collections.abc import Iterator

from hitl_core.policy.reader import ParsedConfig, Report
from hitl_core.policy.rule import Rule

#: Never allowed, not even with `allow_override`: people would see less, or decide about something else.
_NEVER_ALLOWED = ("redact", "answer_schema", "output")
#: Not allowed without `allow_override`: cards show the description as the policy's own text.
_POLICY_ONLY = ("description", "idempotent")
_ROUTE_KEYS = ("notify", "escalate", "remind", "clock", "fallback", "expire")


def check_context(
    reading: ParsedConfig, default_rule: Rule, report: Report, *, override: bool
) -> None:
    """Report each key that a run must not set, by tool and by our name of the key."""
    if reading.prefix is not None and not override:
        report.add(("description_prefix",), _explain("description_prefix"))
    for rule in reading.rules:
        for word in _forbidden_keys(rule, default_rule, override):
            report.add((str(rule.name), word), _explain(word))


def _forbidden_keys(rule: Rule, default_rule: Rule, override: bool) -> Iterator[str]:
    words = _NEVER_ALLOWED if override else (*_NEVER_ALLOWED, *_POLICY_ONLY)
    yield from (word for word in words if getattr(rule, word) not in (None, (), False))
    route, own = rule.route, default_rule.route
    if rule.dialect is None:
        yield from (word for word in _ROUTE_KEYS if getattr(route, word) != getattr(own, word))
    if rule.kind == "review" and "reject" not in rule.allowed_decisions:
        yield "allowed_decisions"


def _explain(word: str) -> str:
    if word == "allowed_decisions":
        return "A run's own configuration can't remove `reject`: add it."
    if word in _ROUTE_KEYS:
        return f"Only the policy can set `{word}`: remove it from the run's own configuration."
    return (
        f"A run's own configuration can only make a rule stricter, but `{word}` changes what people see or"
        " decide: remove it, or set it in the policy."
    )
