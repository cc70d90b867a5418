"""Regular expressions that run in linear time. Start with `search` and `check_pattern`."""

from hitl_core.jsonschema.patterns.pattern import check_pattern, cost_of, search

__all__ = ["check_pattern", "cost_of", "search"]
