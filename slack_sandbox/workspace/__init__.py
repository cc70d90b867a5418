"""The workspace's data: people, channels, messages, modals. No HTTP."""
