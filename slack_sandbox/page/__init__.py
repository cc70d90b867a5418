"""The web page of the local Slack, and its API."""
