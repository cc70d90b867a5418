"""Slack: cards as Block Kit, clicks as commands."""
