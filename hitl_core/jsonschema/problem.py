"""What one keyword finds wrong with a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hitl_core.jsonschema.budget import VALUE_STEPS, Budget


class Problem(NamedTuple):
    """`path` leads to the value that is wrong. `message`, where there is one, is final and reads after the
    value's name. `branches`: what each of several schemas found, of which one had to be met."""

    keyword: str
    limit: Any = None
    path: tuple[str | int, ...] = ()
    message: str | None = None
    branches: tuple[Sequence[Problem], ...] = ()


class CheckState(Budget):
    """One value that is checked. `seen`, where somebody asks for it, collects which names or items of the
    object or list at hand a keyword was about. `strict`: a text that can't be checked raises TextTooLong;
    else it is wrong, and `unsure` says why: under `not`, `if` or `oneOf` that no could be a yes."""

    __slots__ = ("depth", "seen", "strict", "unsure")

    def __init__(self, steps: int = VALUE_STEPS, *, strict: bool = False) -> None:
        super().__init__(steps)
        self.depth, self.strict = 0, strict
        self.seen: set[str | int] | None = None
        self.unsure: str | None = None


Problems = Sequence[Problem]
#: What a schema, or one of its keywords, finds wrong with a value: () for nothing. Who calls it pays a step.
Check = Callable[[Any, CheckState], Problems]
MAX_PROBLEMS = 50


def prefix_path(name: str | int, problems: Problems, state: CheckState) -> list[Problem]:
    """As the object or list around says them."""
    state.spend(2 * len(problems))
    return [each._replace(path=(name, *each.path)) for each in problems]
