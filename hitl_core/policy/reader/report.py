"""What is wrong with a policy: all of it at once, each with its line and its key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hitl_core.errors import PolicyError

#: The keys and list indexes that lead to a value.
KeyPath = tuple[str | int, ...]

#: Of what comes from outside no more problems are looked for.
_MAX_PROBLEMS = 20
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_*?-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` is None where the policy came from no text; `path` is empty for the whole policy."""

    file: str
    line: int | None
    path: str
    message: str

    @property
    def where(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.path, self.message) if part)


class InvalidPolicy(PolicyError):
    """All that is wrong with a policy; its text is the first problem and the number of the rest."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - 1
        super().__init__(f"{self.problems[0]}{f' (and {more} more)' if more else ''}")


@dataclass(slots=True)
class Report:
    """Collects while a policy is read. `lines` says where the key of each path stands. `bounded`: it comes
    from outside, so it is small, and all its schemas together have one `budget`."""

    file: str
    lines: dict[KeyPath, int] = field(default_factory=dict[KeyPath, int])
    problems: list[Problem] = field(default_factory=list[Problem])
    bounded: bool = False
    budget: Any = None

    def add(self, path: KeyPath, message: str, *, line: int | None = None) -> None:
        line = self.line(path) if line is None else line
        self.problems.append(Problem(self.file, line, format_key_path(path), message))
        if self.bounded and len(self.problems) >= _MAX_PROBLEMS:
            raise InvalidPolicy(self.problems)

    def fail(self, message: str, *, line: int | None = None, path: KeyPath = ()) -> NoReturn:
        """For what leaves nothing to read on from."""
        self.add(path, message, line=line)
        raise InvalidPolicy(self.problems)

    def line(self, path: KeyPath) -> int | None:
        """Of the value, or of the nearest thing around it that has one."""
        around = (path[:end] for end in range(len(path), 0, -1))
        return next((self.lines[part] for part in around if part in self.lines), None)

    def check(self) -> None:
        if self.problems:
            raise InvalidPolicy(sorted(self.problems, key=lambda problem: problem.line or 0))


def format_key_path(path: KeyPath) -> str:
    """`interrupt_on.run_sql.escalate[0].to`; a key that is no plain word stands in brackets."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f'["{key}"]'
    return text
