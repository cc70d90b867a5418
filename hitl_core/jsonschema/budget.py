"""How much work may be done for somebody else. It is counted, not timed, so that the same schema and the same
arguments get the same answer on every machine."""

from __future__ import annotations

#: One step is about half a microsecond. A schema that is read (the largest real one in the tests' data takes
#: 16,000), a value that is checked, a form that is drawn:
SCHEMA_STEPS = 40_000
VALUE_STEPS = 60_000
FORM_STEPS = 40_000  # which cost more
#: All schemas of one request together; between two of them others get their turn.
REQUEST_STEPS = 6 * SCHEMA_STEPS
#: All checks by what one run's context says, of all calls of a turn.
CONTEXT_STEPS = VALUE_STEPS // 2
PATTERN_STEPS = 20_000
MAX_DEPTH = 100  # of a schema's parts in each other, and of references that are followed


class TooMuchWork(Exception):
    """The text is a sentence: what is too large, too deep or too slow to be checked."""


class TextTooLong(TooMuchWork):
    """A text that its pattern can't be tried on; the message reads after the name of its field."""


class Budget:
    """What is left of it. Pass one on to whatever must fit in together."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raises TooMuchWork where less is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the arguments and their schema are too large to be checked")
