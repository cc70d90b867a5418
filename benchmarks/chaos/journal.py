"""An append-only file of JSON lines: what one witness saw. Several processes may write to one file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


class Journal:
    """Each entry is one `write` to a file opened with O_APPEND, so a kill -9 leaves whole lines, and what was
    written before it stays.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **entry: Any) -> None:
        os.write(self._descriptor, json.dumps(entry).encode() + b"\n")

    def read(self) -> list[Entry]:
        return read_journal(self._file)


def read_journal(file: Path) -> list[Entry]:
    """All entries; [] if there is no such file."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_bytes().splitlines()]
