"""The values that no edit may change, by whatever way it comes. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core.errors import DecisionError
from hitl_core.forms import change_of_fixed, loss_of_hidden
from hitl_core.forms.pointer import parts, pointer
from hitl_core.model import Action, Review
from hitl_core.review.redaction import redacted


def check_kept(
    review: Review,
    action: Action,
    name: str,
    before: dict[str, Any],
    after: dict[str, Any],
    now: dict[str, Any] | None,
) -> None:
    """Raise DecisionError where an edit, to these arguments of this tool, changes what the schema of any of
    the tools calls `readOnly`, or loses a value that its editor can't see. `now` is the schema of the rule
    that the edit falls under.
    """
    configs = [action.config, *(standing.config for standing in action.earlier)]
    own = [review.tools.get(tool) for tool in (action.name, name)]
    for schema in [now, *(config.args_schema for config in configs), *own]:
        if (path := change_of_fixed(schema, before, after)) is not None:
            raise _refused(pointer(path), "can't be changed: the schema says readOnly")
    hidden = [tuple(parts(each)) for each in redacted(action, before)]
    if (path := loss_of_hidden(hidden, before, after)) is not None:
        raise _refused(pointer(path), "is hidden: an edit must keep it, or write another value")


def _refused(where: str, words: str) -> DecisionError:
    return DecisionError(f"{where or 'The arguments'}: {words}.", field=where, code="invalid_args")
