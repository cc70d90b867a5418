"""Slack as a channel: cards become Block Kit messages, clicks become calls to the inbox.

Public face: `channel.SlackChannel`, `handlers.listeners.Listeners`, `handlers.home.HomeTab`,
`handlers.events.Events`, `transport.http` and `transport.socket_mode`.
"""
