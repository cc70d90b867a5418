"""The check of one schema: the state that it works on, and the problems that it reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hitl_core.jsonschema.errors import Together
from hitl_core.jsonschema.limits import VALUE_STEPS, Budget

MAX_PROBLEMS = 50


class Problem(NamedTuple):
    """`path` leads to the wrong value. `message` follows the value's name; None: `validate` writes it.
    `branches`: the problems of each schema of an `anyOf` or `oneOf`. `together`: see ArgError.
    """

    keyword: str
    limit: Any = None
    path: tuple[str | int, ...] = ()
    message: str | None = None
    branches: tuple[Sequence[Problem], ...] = ()
    together: Together | None = None


class CheckState(Budget):
    """The state of the check of one value.

    `seen` collects the evaluated names or items of the current object or list, for the `unevaluated…`
    keywords; None if no keyword needs it. `strict`: a text that can't be checked raises TextTooLong.
    Otherwise the text counts as wrong, and `unsure` says why: inside `not`, `if` or `oneOf`, "wrong" could
    make the whole value valid.
    """

    __slots__ = ("depth", "seen", "strict", "unsure")

    def __init__(self, steps: int = VALUE_STEPS, *, strict: bool = False) -> None:
        super().__init__(steps)
        self.depth, self.strict = 0, strict
        self.seen: set[str | int] | None = None
        self.unsure: str | None = None


Problems = Sequence[Problem]
#: Checks a value by a schema or keyword. Returns the problems, () if the value is valid. The caller spends
#: the step.
Check = Callable[[Any, CheckState], Problems]


class CompiledNode(NamedTuple):
    """A compiled schema. Values of the Python types in `accepted_types` are valid without a check."""

    check: Check
    accepted_types: frozenset[type] = frozenset()


def prefix_path(name: str | int, problems: Problems, state: CheckState) -> list[Problem]:
    """The problems, with paths that begin at the outer object or list."""
    state.spend(2 * len(problems))
    return [each._replace(path=(name, *each.path)) for each in problems]
