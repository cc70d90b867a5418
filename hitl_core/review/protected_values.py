"""The values that an edit must not change: `readOnly` ones, and hidden ones. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core.errors import DecisionError
from hitl_core.forms import find_changed_fixed, find_lost_hidden
from hitl_core.jsonschema import parse_pointer, to_pointer
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
    """Raises DecisionError if an edit changes a `readOnly` value, or removes a value that the editor can't
    see.

    `name` is the tool after the edit, and `rule_schema` the schema of the rule that matches the edit. The
    `readOnly` of all schemas counts: of the rules and of the tools, before and after the edit.
    """
    configs = [action.config, *(terms.config for terms in action.earlier)]
    own = [review.tools.get(tool) for tool in (action.name, name)]
    for schema in [rule_schema, *(config.args_schema for config in configs), *own]:
        if (path := find_changed_fixed(schema, before, after)) is not None:
            raise _make_refusal(to_pointer(path), "can't be changed: the schema says readOnly")
    hidden = [tuple(parse_pointer(each)) for each in redaction_pointers(action, before)]
    if (path := find_lost_hidden(hidden, before, after)) is not None:
        raise _make_refusal(
            to_pointer(path), "is hidden: keep it, or write a new value in its place"
        )


def _make_refusal(where: str, words: str) -> DecisionError:
    return DecisionError(f"{where or 'The arguments'}: {words}.", field=where, code="invalid_args")
