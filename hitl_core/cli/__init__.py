"""The command `hitl`.

Exit codes: 0 fine; 1 a problem was found, nothing of that name was, or it was refused; 2 the command itself
or a setting was wrong; 3 Redis can't be reached, or failed.
"""

from hitl_core.cli.main import main

__all__ = ["main"]
