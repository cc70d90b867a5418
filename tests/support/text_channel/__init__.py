"""A third channel, only for tests. It proves that a channel needs nothing of Slack, and it is the example in
docs/adding-a-channel.md.

`network` is the chat system, in memory, and `office` has its people and rooms. The channel is `channel`
(posts messages, and looks up places and people), `render` (spans → lines) and `events` (what people do →
commands).
"""
