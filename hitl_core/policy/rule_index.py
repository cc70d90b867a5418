"""The rules of a policy, found by a tool's name: the exact name, then the globs in their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from hitl_core.policy.glob import Glob, is_glob
from hitl_core.policy.rule import Rule

#: How many tools' rules are remembered. An agent has fewer; a model that makes names up must not fill memory.
_MAX_CACHED = 1_000


class RuleIndex:
    """Looks at every glob once for each tool, so that a thousand rules cost a call no more than fifty."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._all = tuple(rules)
        named = [(rule.name, rule) for rule in self._all if rule.name]
        self._exact = {name: rule for name, rule in named if not is_glob(name)}
        self._globs = [
            (*_literal_ends(name), Glob(name), rule) for name, rule in named if is_glob(name)
        ]
        self._cache: dict[str, tuple[Rule, ...]] = {}

    def rules_for(self, tool: str) -> tuple[Rule, ...]:
        rules = self._cache.get(tool)
        if rules is None:
            exact = (self._exact[tool],) if tool in self._exact else ()
            rules = (*exact, *self._matching_globs(tool))
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            self._cache[tool] = rules
        return rules

    def sort_rules(self, some: Collection[Rule]) -> list[Rule]:
        """Some of these rules, in the policy's order."""
        ids = {id(rule) for rule in some}
        return [rule for rule in self._all if id(rule) in ids]

    def _matching_globs(self, tool: str) -> Iterator[Rule]:
        """The ends are looked at first: they tell most globs apart, in no time."""
        for start, end, glob, rule in self._globs:
            if tool.startswith(start) and tool.endswith(end) and glob.matches(tool):
                yield rule


def until_unconditional(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Up to the first that speaks whatever the arguments are."""
    for rule in rules:
        yield rule
        if rule.when is None:
            return


def _literal_ends(glob: str) -> tuple[str, str]:
    """What stands before the first wildcard and after the last."""
    first, *_, last = re.split(r"[*?]", glob)
    return first, last
