"""The limit of work for schemas and arguments from outside.

Work is counted in steps, not in seconds, so that the same input has the same result on every machine.
"""

from __future__ import annotations

#: One step takes about half a microsecond; a step of a form takes longer. The limits for reading one schema
#: (the largest real one in the tests' data takes 16,000), for checking one value, and for building one form:
SCHEMA_STEPS = 40_000
VALUE_STEPS = 60_000
FORM_STEPS = 40_000
#: For all schemas of one request together.
REQUEST_STEPS = 6 * SCHEMA_STEPS
#: For all checks of one run's context, over all calls of a turn.
CONTEXT_STEPS = VALUE_STEPS // 2
#: For reading one pattern.
PATTERN_STEPS = 20_000
MAX_DEPTH = 100  # nested parts of a schema, and references followed inside each other


class TooMuchWork(Exception):
    """The message says what is too large, too deep or too slow to be checked."""


class TextTooLong(TooMuchWork):
    """A text that is too long for its pattern or format. The message follows the field's name."""


class Budget:
    """The steps that are left. Pass the same budget to all work that shares one limit."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raises TooMuchWork if fewer steps are left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the arguments and their schema are too large to be checked")
