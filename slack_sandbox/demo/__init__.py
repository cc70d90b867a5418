"""`hitl demo`: Redis, a local Slack, the bot and an agent, each in a process of its own."""
