"""Counts the calls between our files while something runs."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import NamedTuple

from benchmarks.support.process import ROOT

OURS = tuple(f"{ROOT / program}/" for program in ("hitl_core", "bot"))


class Walk(NamedTuple):
    """`moves`: calls from one of our files into another. `repeated`: files that such calls entered at least
    twice.
    """

    files: int
    moves: int
    repeated: int


class Recorder:
    """Counts the calls of this thread within the block. A coroutine that continues after an await doesn't
    count.
    """

    def __init__(self) -> None:
        self._codes: dict[CodeType, str | None] = {}
        self._calls: Counter[str] = Counter()
        self._entries: Counter[str] = Counter()
        #: The frames are kept, so that no new frame gets the id of an old one.
        self._frames: dict[int, FrameType] = {}

    def __enter__(self) -> Recorder:
        gc.disable()
        sys.setprofile(self._record)
        return self

    def __exit__(self, *exc: object) -> None:
        sys.setprofile(None)
        gc.enable()
        self._frames.clear()

    @property
    def walk(self) -> Walk:
        repeated = sum(count > 1 for count in self._entries.values())
        return Walk(len(self._calls), self._entries.total(), repeated)

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or id(frame) in self._frames:
            return
        file = self._file_of(frame.f_code)
        if file is None:
            return
        self._frames[id(frame)] = frame
        self._calls[file] += 1
        caller = self._file_of(frame.f_back.f_code) if frame.f_back else None
        if caller is not None and caller != file:
            self._entries[file] += 1

    def _file_of(self, code: CodeType) -> str | None:
        """None if the file is not ours."""
        if code not in self._codes:
            name = code.co_filename
            self._codes[code] = name if name.startswith(OURS) else None
        return self._codes[code]
