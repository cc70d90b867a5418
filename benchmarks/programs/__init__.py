"""Programs that run in their own processes: Slack, agents, special bots, and the floors."""
