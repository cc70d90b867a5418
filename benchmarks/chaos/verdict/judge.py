"""Finds the violations of a run, grouped by kind. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks.chaos.verdict import cards, decisions, timers, tools
from benchmarks.chaos.verdict.evidence import Evidence

#: A sentence for each violation, by the kind of violation.
Violations = Mapping[str, list[str]]

CHECKS: Mapping[str, Callable[[Evidence], Iterator[str]]] = {
    "acknowledged submits lost": decisions.lost_submits,
    "acknowledged decisions lost": decisions.lost_decisions,
    "acknowledged decisions contradicted": decisions.contradicted_decisions,
    "settled twice": decisions.double_decisions,
    "entries of the audit missing or double": decisions.broken_audit,
    "broken chains of the audit": decisions.broken_chains,
    "tools run twice": tools.tools_twice,
    "tools run unapproved": tools.tools_unapproved,
    "tools run with other arguments": tools.tools_other_arguments,
    "approved and never run, or stuck": tools.never_run,
    "timers missed or early": timers.timers,
    "messages missing": cards.messages_missing,
    "messages double": cards.messages_double,
    "cards with a wrong end": cards.wrong_cards,
    "digests with a wrong count": cards.wrong_digests,
    "programs that ended by themselves": lambda seen: iter(seen.ended),
}


def judge(evidence: Evidence) -> Violations:
    """All violations by kind; a kind without any has an empty list."""
    return {name: list(check(evidence)) for name, check in CHECKS.items()}
