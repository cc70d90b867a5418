"""Regular expressions that run in linear time. Start with `pattern.search` and `pattern.check_pattern`."""
