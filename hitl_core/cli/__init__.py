"""The command `hitl`. Public: `main`.

Exit codes: 0 success; 1 a problem was found, the name was not found, or the change was refused; 2 the command
or a setting is wrong; 3 Redis can't be reached, or failed.
"""

from hitl_core.cli.command import Commands, add_command, add_subject, require_extra
from hitl_core.cli.main import main
from hitl_core.cli.session import add_redis, with_reviews
from hitl_core.cli.table import Cell, Column, say_table
from hitl_core.cli.terminal import complain, note, say, say_json

__all__ = [
    "Cell",
    "Column",
    "Commands",
    "add_command",
    "add_redis",
    "add_subject",
    "complain",
    "main",
    "note",
    "require_extra",
    "say",
    "say_json",
    "say_table",
    "with_reviews",
]
