"""Checks blocks, views and inputs as strictly as Slack does."""
