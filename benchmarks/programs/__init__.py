"""Programs that run as separate processes: Slack, Teams, agents, special bots, and the floors."""
