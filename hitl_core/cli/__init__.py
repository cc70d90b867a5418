"""The command `hitl`. Exit codes: 0 fine, 1 something was found, 2 the command itself was wrong."""

from hitl_core.cli.main import main

__all__ = ["main"]
