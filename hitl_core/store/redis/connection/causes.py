"""The errors behind an error."""

from __future__ import annotations

from collections.abc import Iterator


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, its cause, that one's cause, and so on, each once: the chain is a ring if an inner error was
    raised again while an outer one was handled.
    """
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
