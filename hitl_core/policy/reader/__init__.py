"""Reads a policy (YAML, or a mapping) and reports all problems. Start with `read_policy.read_policy`."""
