"""Collects all problems of a policy, each with its line and its key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hitl_core.errors import PolicyError

#: The keys and list indexes that lead to a value.
KeyPath = tuple[str | int, ...]

#: Reading a run's context stops after this many problems.
_MAX_PROBLEMS = 20
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_*?-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` is None if the policy is not from a text. `path` is empty for the whole policy."""

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
    """All problems of a policy. The text has the first one, the number of the others, and how to see them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first, *others = self.problems
        how = "" if first.line is None else f"; see `hitl policy check {first.file}`"
        super().__init__(f"{first} (and {len(others)} more{how})" if others else str(first))


@dataclass(slots=True)
class Report:
    """Collects the problems. `lines` has the line of each key, by path. `bounded`: the configuration comes
    from outside, so its size is limited and all its schemas share one `budget`.
    """

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
        """Add a problem after which reading can't go on, and raise InvalidPolicy."""
        self.add(path, message, line=line)
        raise InvalidPolicy(self.problems)

    def line(self, path: KeyPath) -> int | None:
        """The line of the value, or of the nearest value around it that has one."""
        around = (path[:end] for end in range(len(path), 0, -1))
        return next((self.lines[part] for part in around if part in self.lines), None)

    def check(self) -> None:
        if self.problems:
            raise InvalidPolicy(sorted(self.problems, key=lambda problem: problem.line or 0))


def format_key_path(path: KeyPath) -> str:
    """Such as `interrupt_on.run_sql.escalate[0].to`. A key that is not a plain word is written in
    brackets.
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f'["{key}"]'
    return text
