"""The values that no edit may change, by whatever way it comes. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core.errors import DecisionError
from hitl_core.forms import find_changed_fixed, find_lost_hidden
from hitl_core.jsonschema.pointer import parse_pointer, to_pointer
from hitl_core.model import Action, Review
from hitl_core.review.redaction import redaction_pointers


def check_protected(
    review: Review,
    action: Action,
    name: str,
    before: dict[str, Any],
    after: dict[str, Any],
    rule_schema: dict[str, Any] | None,
) -> None:
    """Raise DecisionError where an edit, to these arguments of this tool, changes what the schema of any of
    the tools calls `readOnly`, or loses a value that its editor can't see. `now` is the schema of the rule
    that the edit falls under.
    """
    configs = [action.config, *(standing.config for standing in action.earlier)]
    own = [review.tools.get(tool) for tool in (action.name, name)]
    for schema in [rule_schema, *(config.args_schema for config in configs), *own]:
        if (path := find_changed_fixed(schema, before, after)) is not None:
            raise _make_refusal(to_pointer(path), "can't be changed: the schema says readOnly")
    hidden = [tuple(parse_pointer(each)) for each in redaction_pointers(action, before)]
    if (path := find_lost_hidden(hidden, before, after)) is not None:
        raise _make_refusal(
            to_pointer(path), "is hidden: an edit must keep it, or write another value"
        )


def _make_refusal(where: str, words: str) -> DecisionError:
    return DecisionError(f"{where or 'The arguments'}: {words}.", field=where, code="invalid_args")
