"""The connection to Slack: its Web API, its requests over HTTP, Socket Mode, and the check of every payload.

Public face: `api.Api`, `conversations.Conversations`, `people.PeopleLookup`, `http.SlackEndpoint`,
`socket_mode.open_socket_mode`.
"""
