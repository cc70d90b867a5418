"""A third channel, which only tests have: proof that a channel needs nothing of Slack, and the example of
docs/adding-a-channel.md.

`network` is the chat system, in memory, and `office` who is there. The channel is `channel` (posts and looks
up), `render` (spans → lines) and `events` (what people do → commands).
"""
