"""The agent's conversations, in one file. Each message is appended before the agent acts on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitl_core import ToolCall

from .script import Result


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)


class Question(_Message):
    """A user's question. `id` is Slack's `ts`; `origin` is the place where it was asked."""

    kind: Literal["question"] = "question"
    id: str
    text: str
    user: str
    origin: str


class Calls(_Message):
    """A model turn: the tool calls that the agent makes next."""

    kind: Literal["calls"] = "calls"
    calls: tuple[ToolCall, ...]


class Results(_Message):
    """The results of all calls of the turn."""

    kind: Literal["results"] = "results"
    results: tuple[Result, ...]


class FinalAnswer(_Message):
    """The agent's final answer, which was posted."""

    kind: Literal["final_answer"] = "final_answer"
    text: str


Message = Annotated[Question | Calls | Results | FinalAnswer, Field(discriminator="kind")]


class _Line(_Message):
    thread_id: str
    message: Message


class Threads:
    """All threads. One process at a time writes the file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._threads: dict[str, list[Message]] = {}
        lines = file.read_bytes().split(b"\n") if file.exists() else []
        *whole, cut = lines or [b""]
        for line in whole:
            self._keep(_Line.model_validate_json(line))
        if cut:  # the process died while it wrote this line, so it has not acted on it
            file.write_bytes(b"".join(line + b"\n" for line in whole))

    def __getitem__(self, thread_id: str) -> Sequence[Message]:
        """The thread's messages in order; empty for an unknown thread."""
        return self._threads.get(thread_id, ())

    def append(self, thread_id: str, message: Message) -> None:
        """Add a message. It is on disk when this returns."""
        line = _Line(thread_id=thread_id, message=message)
        with self._file.open("ab") as file:
            file.write(line.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._keep(line)

    def open_threads(self) -> list[str]:
        """The threads without a final answer."""
        return [id for id, messages in self._threads.items() if messages[-1].kind != "final_answer"]

    def _keep(self, line: _Line) -> None:
        self._threads.setdefault(line.thread_id, []).append(line.message)
