"""What runs in processes of its own beside the bot: Slack, agents, and the floors."""
