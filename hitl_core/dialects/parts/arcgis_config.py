"""ArcGIS' configuration, and its four kinds of questions as decisions and a schema."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast

from hitl_core.dialects.parts.json import check_wire
from hitl_core.errors import DialectError
from hitl_core.model import TOOL_NAME, DecisionType, Output, Route
from hitl_core.policy import (
    DESCRIPTION_PREFIX,
    CallContext,
    ConfigNode,
    ParsedConfig,
    Question,
    Rule,
    RuleFunction,
    read_field,
)

#: The tool name for an agent's own run is this prefix and the agent's id.
AGENT_PREFIX = "agent:"
_INTERRUPT_KEYS = ("interrupt", "outputKey")
_YES_NO: tuple[DecisionType, ...] = ("approve", "reject")


def read_config(node: ConfigNode, inherited: Rule | None) -> ParsedConfig:
    fields = node.fields(("agent", "tools", *_INTERRUPT_KEYS, "allowOverride"))
    default_rule = Rule(
        name=None,
        kind="allow",
        line=None,
        prefix=inherited.prefix if inherited else DESCRIPTION_PREFIX,
        route=Route(),
        dialect="arcgis",
    )
    rules: list[Rule] = []
    agent = fields.get("agent") or (node if any(key in fields for key in _INTERRUPT_KEYS) else None)
    if agent is not None:
        known = (
            _INTERRUPT_KEYS
            if agent is not node
            else (*_INTERRUPT_KEYS, "agent", "tools", "allowOverride")
        )
        rules.append(_make_rule(f"{AGENT_PREFIX}*", agent, default_rule, "state", known))
    for name, each in (read_field(fields, "tools", ConfigNode.entries) or {}).items():
        if TOOL_NAME.fullmatch(name):
            rules.append(_make_rule(name, each, default_rule, "input", _INTERRUPT_KEYS))
        else:
            each.add_problem("This is not a tool name: write the tool's full name, without `*`.")
    override = read_field(fields, "allowOverride", ConfigNode.boolean) or False
    return ParsedConfig(None if inherited else default_rule, tuple(rules), allow_override=override)


def make_question(interrupt: Mapping[str, Any], *, into_input: bool, has_output: bool) -> Question:
    """The question of a UiInterrupt, or of a part of one. If the tool uses the answer or continues after it,
    the tool runs; otherwise the answer is the tool's result. People read the metadata below the message.
    """
    message_value, metadata = interrupt.get("message"), _metadata(interrupt)
    message = message_value if isinstance(message_value, str) else ""
    options = _options(interrupt, metadata)
    text = "\n\n".join(filter(None, (message, _context(interrupt, metadata, options))))
    extra = {"kind": interrupt["kind"]} if interrupt.get("kind") is not None else {}
    if metadata:
        extra |= {
            "message": message.encode("utf-8", "backslashreplace").decode(),
            "metadata": metadata,
        }
    answer_is_used = has_output or into_input
    option_schema = one_of(options) if options else {"type": "string"}
    match interrupt.get("kind"):
        case "textInput":
            schema: dict[str, Any] | None = {"type": "string"}
        case "singleSelection":
            schema = option_schema
        case "multipleSelection":
            schema = {"type": "array", "items": option_schema, "uniqueItems": True}
        case "booleanChoice":
            return Question(text, {"type": "boolean"} if has_output else None, _YES_NO, extra)
        case _:  # without a kind, the agent continues with any answer but `false`
            return Question(text, {} if has_output else None, _YES_NO, extra)
    return Question(text, schema, _YES_NO if answer_is_used else ("respond",), extra)


def list_options(schema: Mapping[str, Any]) -> list[Any]:
    """The values of the options in a schema from `one_of`."""
    branches = cast(list[Any], schema.get("anyOf", []))
    return list(schema.get("enum", [each["const"] for each in branches if "const" in each]))


def _options(interrupt: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[Any] | None:
    """The options of a selection; None if the answer isn't chosen from options. They are in `metadata`, as
    strings or as `{"value", "label"}`. Raises DialectError for a value that is not JSON.
    """
    options = check_wire(interrupt.get("options", metadata.get("options")))
    if interrupt.get("kind") not in ("singleSelection", "multipleSelection"):
        return None
    return cast(list[Any], options) if isinstance(options, list) else None


def one_of(options: Iterable[Any]) -> dict[str, Any]:
    """The schema for one of these options. Each is a value, or `{"value", "label"}`: people read
    the label.
    """
    values, labels = list[Any](), list[Any]()
    for each in options:
        option = cast(Mapping[str, Any], each) if isinstance(each, Mapping) else {"value": each}
        values.append(option.get("value", each))
        labels.append(option.get("label"))
    if not any(isinstance(label, str) and label.strip() for label in labels):
        return {"enum": values}
    pairs = zip(values, labels, strict=True)
    return {  # not oneOf, because two options may have the same value
        "anyOf": [
            {"const": value, "title": label} if isinstance(label, str) else {"const": value}
            for value, label in pairs
        ]
    }


def _metadata(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Raises DialectError for a value that is not JSON."""
    value = interrupt.get("metadata")
    return check_wire(dict(cast(Mapping[str, Any], value))) if isinstance(value, Mapping) else {}


def _context(
    interrupt: Mapping[str, Any], metadata: Mapping[str, Any], options: list[Any] | None
) -> str:
    """One line for each entry of the metadata, and for options that are beside it, without what a card shows
    anyway: the call, and the options that people choose from.
    """
    entries = [(key, value) for key, value in metadata.items() if key not in ("toolName", "args")]
    entries += [("options", interrupt["options"])] if "options" in interrupt else []
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in entries
        if options is None or value is not options
    )


def _make_rule(
    name: str,
    node: ConfigNode,
    default_rule: Rule,
    into: Literal["state", "input"],
    known: tuple[str, ...],
) -> Rule:
    fields = node.fields(known)
    key = read_field(fields, "outputKey", ConfigNode.text)
    output = None if key is None else Output(key=key, into=into)
    interrupt = fields.get("interrupt")
    spec = Question("", {} if output else None, _YES_NO)
    description: str | RuleFunction | None = None
    if interrupt is not None and callable(interrupt.value):
        description = _call_interrupt(interrupt.value, output)
    elif interrupt is not None and isinstance(interrupt.value, str):
        description = interrupt.text()
    elif interrupt is not None:
        parts = {key: each.value for key, each in (interrupt.entries() or {}).items()}
        try:
            spec = make_question(parts, into_input=into == "input", has_output=output is not None)
        except DialectError as error:
            interrupt.add_problem(f"Its metadata can't be sent. {error}")
        description = spec.text or None
    return Rule(
        name=name,
        kind="review",
        line=node.line,
        prefix=default_rule.prefix,
        route=default_rule.route,
        dialect="arcgis",
        description=description,
        allowed_decisions=spec.allowed_decisions,
        answer_schema=spec.answer_schema,
        extra=spec.extra,
        output=output,
    )


def _call_interrupt(function: Callable[..., object], output: Output | None) -> RuleFunction:
    def ask(context: CallContext) -> object:
        result = function(_make_request(context))
        return wait_result(result) if inspect.isawaitable(result) else to_question(result)

    async def wait_result(pending_result: Any) -> object:
        return to_question(await pending_result)

    def to_question(result: object) -> Question:
        interrupt: Mapping[str, Any] = (
            cast(Mapping[str, Any], result) if isinstance(result, Mapping) else {}
        )
        if isinstance(result, str):
            interrupt = {"message": result}
        into_input = output is not None and output.into == "input"
        spec = make_question(interrupt, into_input=into_input, has_output=output is not None)
        return spec._replace(text=spec.text or DESCRIPTION_PREFIX)

    return ask


def _make_request(context: CallContext) -> dict[str, Any]:
    """The request for an `interrupt` function: a tool's name and arguments; for an agent's run also its id
    and its input. The arguments are a copy, so that the function can't change what will run.
    """
    args: dict[str, Any] = copy.deepcopy(context.call.args)
    request = {"toolName": context.call.name, "args": args, "state": context.state}
    if not context.call.name.startswith(AGENT_PREFIX):
        return request
    return {**args, **request, "agentId": context.call.name.removeprefix(AGENT_PREFIX)}
