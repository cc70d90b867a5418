"""Writes the help of every command into docs/cli.md: `python -m tests.cli.help_pages`."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from hitl_core.cli.main import build_parser

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
#: A command's name as a heading, and below it its help.
SECTION = re.compile(r"^(#+ `(hitl[a-z -]*)`\n\n)```text\n(.*?)```\n", re.DOTALL | re.MULTILINE)


def helps() -> dict[str, str]:
    """What every command says of itself, 80 columns wide, by its name."""
    with patch.dict(os.environ, COLUMNS="80"):
        return {one.prog: one.format_help() for one in _parsers(build_parser())}


def _parsers(parent: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parent
    for action in parent._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _parsers(child)


if __name__ == "__main__":
    texts = helps()
    page = SECTION.sub(lambda m: f"{m[1]}```text\n{texts[m[2]]}```\n", PAGE.read_text("utf-8"))
    PAGE.write_text(page, "utf-8")
