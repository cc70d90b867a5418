"""Slack's Web API of the local Slack: methods, errors, rate limits and injected faults."""
