"""Finds the rules for a tool: first the rule with its exact name, then the matching globs in their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from hitl_core.policy.glob import Glob, is_glob
from hitl_core.policy.rule import Rule

#: For how many tools the rules are cached. A model can invent names, so this is limited.
_MAX_CACHED = 1_000


class RuleIndex:
    """Matches the globs once for each tool, so that a call with a thousand rules is as fast as with fifty."""

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

    def knows(self, tool: str) -> bool:
        """Whether the rules of this tool were looked up before."""
        return tool in self._cache

    def sort_rules(self, some: Collection[Rule]) -> list[Rule]:
        """These rules in the policy's order."""
        ids = {id(rule) for rule in some}
        return [rule for rule in self._all if id(rule) in ids]

    def _matching_globs(self, tool: str) -> Iterator[Rule]:
        """Compare the literal start and end first: this is fast and excludes most globs."""
        for start, end, glob, rule in self._globs:
            if tool.startswith(start) and tool.endswith(end) and glob.matches(tool):
                yield rule


def until_unconditional(rules: Iterable[Rule]) -> Iterator[Rule]:
    """The rules up to the first one that matches any arguments."""
    for rule in rules:
        yield rule
        if rule.when is None:
            return


def _literal_ends(glob: str) -> tuple[str, str]:
    """The text before the first wildcard and after the last one."""
    first, *_, last = re.split(r"[*?]", glob)
    return first, last
