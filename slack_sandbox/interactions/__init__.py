"""What people do in the local Slack: clicks, modals, slash commands, response URLs."""
