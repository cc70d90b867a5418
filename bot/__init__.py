"""The approval bot: shows reviews in a chat system, stores decisions, and serves agents over HTTP.

An application on top of `hitl_core`. Public face: the command `hitl serve`, and `app.running_bot`.
"""
