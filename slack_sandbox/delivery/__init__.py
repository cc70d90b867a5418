"""What the local Slack sends to the app: events, over HTTP or Socket Mode."""
