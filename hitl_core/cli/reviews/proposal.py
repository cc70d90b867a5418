"""The options of `hitl reviews decide` → a proposal."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, cast

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.model import Action, Arguments, Review, decode, encode
from hitl_core.review import Proposal


def read_edit(args: argparse.Namespace) -> Arguments | None:
    """The arguments of --args or --args-file. Raises InvalidToolCall, OSError."""
    if args.args is not None:
        return encode(decode(args.args))
    if args.args_file is None:
        return None
    piped = args.args_file == "-"
    return encode(decode(sys.stdin.buffer.read() if piped else Path(args.args_file).read_bytes()))


def make_proposal(
    review: Review, action: Action, args: argparse.Namespace, edited: Arguments | None
) -> Proposal:
    """Raises Refused for several answers where only one is allowed."""
    if args.decision == "edit":
        new = review.arguments(action.key) if edited is None else edited
        return Proposal("edit", action.revision, args.message, new, args.tool)
    given: list[str] = args.answers or []
    schema = action.config.answer_schema
    if not given or schema is None or schema.get("type") == "string":
        if len(given) > 1:
            raise Refused("invalid_answer", "Only one --answer is allowed here.")
        return Proposal(args.decision, action.revision, given[0] if given else args.message)
    return Proposal(args.decision, action.revision, answer=_read_answer(schema, given))


def _read_answer(schema: dict[str, Any], given: list[str]) -> Any:
    """An option by its value or its name; else a JSON value, or the text itself."""
    if schema.get("type") == "array":
        items = schema.get("items")
        return [_read_value(cast("dict[str, Any]", items or {}), each) for each in given]
    if len(given) > 1:
        raise Refused("invalid_answer", "Only one --answer is allowed here, because it is no list.")
    return _read_value(schema, given[0])


def _read_value(schema: dict[str, Any], given: str) -> Any:
    from hitl_core.forms import list_options

    for label, value in list_options(schema):
        if given in (label, value if isinstance(value, str) else json.dumps(value)):
            return value
    if schema.get("type") == "string":
        return given
    try:
        return decode(f'{{"value": {given}}}')["value"]
    except InvalidToolCall:
        return given
