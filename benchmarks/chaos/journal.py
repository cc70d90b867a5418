"""An append-only file of JSON lines, in which a part of the bench records what it saw. Several processes may
write to one file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


class Journal:
    """Each entry is one `write` to a file opened with O_APPEND, so a kill -9 leaves only whole lines, and
    keeps all earlier ones.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **entry: Any) -> None:
        os.write(self._descriptor, json.dumps(entry).encode() + b"\n")

    def read(self) -> list[Entry]:
        return read_journal(self._file)


class JournalReader:
    """Reads each entry once while others write, so a long file costs no more than a short one."""

    def __init__(self, file: Path) -> None:
        self._file, self._at = file, 0

    def new(self) -> list[Entry]:
        """The entries since the last call."""
        if not self._file.exists():
            return []
        with self._file.open("rb") as file:
            file.seek(self._at)
            lines = file.read().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            del lines[-1]  # this line is still being written
        self._at += sum(map(len, lines))
        return [json.loads(line) for line in lines]


def read_journal(file: Path) -> list[Entry]:
    """All entries; [] if the file doesn't exist."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_bytes().splitlines()]
