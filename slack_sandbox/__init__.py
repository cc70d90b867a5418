"""A local Slack workspace, as strict as Slack: its Web API, signed clicks, and a page."""
