"""What one run's own configuration may say: the agent hands it over, so it only makes rules stricter."""

from __future__ import annotations

from collections.abc import Iterator

from hitl_core.policy.reader.parsed_config import ParsedConfig
from hitl_core.policy.reader.report import Report
from hitl_core.policy.rule import Rule

#: What the operator's `allow_override` does not open either: people would see less, or press something else.
_NEVER_ALLOWED = ("redact", "answer_schema", "output")
#: What stands on cards as the policy's own words, and where and when people are asked.
_POLICY_ONLY = ("description", "idempotent")
_ROUTE_KEYS = ("notify", "escalate", "remind", "clock", "fallback", "expire")


def check_context(
    reading: ParsedConfig, default_rule: Rule, report: Report, *, override: bool
) -> None:
    """Adds what a run may not say to the report, by the tool and the word of ours for it; `standard` is the
    policy's default.
    """
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
        return "A run's own configuration can't take `reject` away: add it."
    if word in _ROUTE_KEYS:
        return f"`{word}` is the policy's to say, not that of one run: leave it out."
    return (
        f"A run's own configuration may make a rule stricter, and `{word}` changes what people see or"
        " decide: leave it out, or say it in the policy."
    )
