"""Runs an agent's threads: each pause becomes a review, and the decisions resume the run."""

from hitl_core.integrations.langgraph.driver.driver import Driver
from hitl_core.integrations.langgraph.driver.run import Run, Settings
from hitl_core.integrations.langgraph.driver.thread import Stream, Streaming

__all__ = ["Driver", "Run", "Settings", "Stream", "Streaming"]
