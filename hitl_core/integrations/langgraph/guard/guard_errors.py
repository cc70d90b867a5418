"""Errors of the guard itself: the store is away, or another process has the review now.

A middleware or a ToolNode that handles errors would make an answer for the model of them: it would say that
an approved call failed that ran, or that never started. LangGraph and LangChain let only a GraphBubbleUp
through. So the error becomes one too, and the run stops as if its process had died there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from langgraph.errors import GraphBubbleUp

from hitl_core.errors import HitlError, IntegrationError


class UnguardedToolCall(IntegrationError):
    """A tool was about to run, and no guard had checked it. It did not run."""


@contextlib.contextmanager
def let_errors_through() -> Generator[None, None, None]:
    """Within the block, a HitlError becomes one of the same class that is a GraphBubbleUp as well. Any other
    error, such as a cancellation of the gate's loop, becomes an IntegrationError of this kind.
    """
    try:
        yield
    except GraphBubbleUp:
        raise
    except HitlError as error:
        raise _add_bubble(error) from error
    except Exception as error:
        why = f"The review guard failed ({type(error).__name__}), so the run stops here."
        raise _add_bubble(IntegrationError(why)) from error


def is_guard_error(error: BaseException) -> bool:
    """Whether it comes from `let_errors_through`, also of the guard of an agent inside."""
    return isinstance(error, GraphBubbleUp) and isinstance(error, HitlError)


def _add_bubble(error: HitlError) -> HitlError:
    kind = type(error)
    bubble: type[HitlError] = type(kind.__name__, (GraphBubbleUp, kind), {})
    copy = bubble.__new__(bubble)
    copy.args = error.args
    vars(copy).update(vars(error))
    return copy
