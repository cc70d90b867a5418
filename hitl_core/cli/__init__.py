"""The command `hitl`. Public: `main`.

Exit codes: 0 success; 1 a problem was found, the name was not found, or the change was refused; 2 the command
or a setting is wrong; 3 Redis can't be reached, or failed.
"""

from hitl_core.cli.command import Commands, add_command, require_extra
from hitl_core.cli.main import main
from hitl_core.cli.terminal import complain

__all__ = ["Commands", "add_command", "complain", "main", "require_extra"]
