"""ArcGIS' configuration, and the four kinds of its questions as decisions and a schema."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast

from hitl_core.dialects._json import plain
from hitl_core.errors import DialectError
from hitl_core.model import DecisionType, Output, Route
from hitl_core.model.call import TOOL_NAME
from hitl_core.policy.node import Node, take
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.policy.reading import Reading
from hitl_core.policy.rule import Ask, Question, Rule, Seen

#: What a call of an agent's own run is named: this, and the agent's id.
AGENT = "agent:"
_GATE = ("interrupt", "outputKey")
_YES_NO: tuple[DecisionType, ...] = ("approve", "reject")


def read_config(node: Node, inherited: Rule | None) -> Reading:
    fields = node.fields(("agent", "tools", *_GATE, "allowOverride"))
    free = Rule(
        name=None,
        kind="allow",
        line=None,
        prefix=inherited.prefix if inherited else DESCRIPTION_PREFIX,
        route=Route(),
        dialect="arcgis",
    )
    rules: list[Rule] = []
    agent = fields.get("agent") or (node if any(key in fields for key in _GATE) else None)
    if agent is not None:
        known = _GATE if agent is not node else (*_GATE, "agent", "tools", "allowOverride")
        rules.append(_rule(f"{AGENT}*", agent, free, "state", known))
    for name, each in (take(fields, "tools", Node.entries) or {}).items():
        if TOOL_NAME.fullmatch(name):
            rules.append(_rule(name, each, free, "input", _GATE))
        else:
            each.problem("No tool is ever called that: names are literal here.")
    override = take(fields, "allowOverride", Node.boolean) or False
    return Reading(None if inherited else free, tuple(rules), allow_override=override)


def question(interrupt: Mapping[str, Any], *, into_input: bool, has_output: bool) -> Question:
    """What a (partial) UiInterrupt asks. Where the answer has a place to go, the tool runs with it or after
    it; where it has none, it is the tool's result. People read its metadata below its message.
    """
    said, about = interrupt.get("message"), _metadata(interrupt)
    message = said if isinstance(said, str) else ""
    text = "\n\n".join(filter(None, (message, _shown(about))))
    extra = {"kind": interrupt["kind"]} if interrupt.get("kind") is not None else {}
    if about:
        extra |= {
            "message": message.encode("utf-8", "backslashreplace").decode(),
            "metadata": about,
        }
    asks = has_output or into_input
    one = _one(interrupt, about)
    match interrupt.get("kind"):
        case "textInput":
            schema: dict[str, Any] | None = {"type": "string"}
        case "singleSelection":
            schema = one
        case "multipleSelection":
            schema = {"type": "array", "items": one, "uniqueItems": True}
        case "booleanChoice":
            return Question(text, {"type": "boolean"} if has_output else None, _YES_NO, extra)
        case _:  # not said: any answer but `false` goes on
            return Question(text, {} if has_output else None, _YES_NO, extra)
    return Question(text, schema, _YES_NO if asks else ("respond",), extra)


def options_in(schema: Mapping[str, Any]) -> list[Any]:
    """The values of the options that `question` made a schema of."""
    branches = cast(list[Any], schema.get("anyOf", []))
    return list(schema.get("enum", [each["const"] for each in branches if "const" in each]))


def _one(interrupt: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of one selection: its options are in `metadata`, as texts or as `{"value", "label"}`."""
    found = interrupt.get("options", about.get("options"))
    options = cast(list[Any], found) if isinstance(found, list) else []
    return one_of(options) if options else {"type": "string"}


def one_of(options: Iterable[Any]) -> dict[str, Any]:
    """The schema of one of these, each a value or `{"value", "label"}`: people read the label."""
    values, labels = list[Any](), list[Any]()
    for each in options:
        option = cast(Mapping[str, Any], each) if isinstance(each, Mapping) else {"value": each}
        values.append(option.get("value", each))
        labels.append(option.get("label"))
    if not any(isinstance(label, str) and label.strip() for label in labels):
        return {"enum": values}
    pairs = zip(values, labels, strict=True)
    return {  # not oneOf: two options may have one value
        "anyOf": [
            {"const": value, "title": label} if isinstance(label, str) else {"const": value}
            for value, label in pairs
        ]
    }


def _metadata(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Raises DialectError for what is no JSON."""
    found = interrupt.get("metadata")
    return plain(dict(cast(Mapping[str, Any], found))) if isinstance(found, Mapping) else {}


def _shown(about: Mapping[str, Any]) -> str:
    """A line each, but for what a card shows anyway."""
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in about.items()
        if key not in ("toolName", "args", "options")
    )


def _rule(
    name: str, node: Node, free: Rule, into: Literal["state", "input"], known: tuple[str, ...]
) -> Rule:
    fields = node.fields(known)
    key = take(fields, "outputKey", Node.text)
    output = None if key is None else Output(key=key, into=into)
    interrupt = fields.get("interrupt")
    asked = Question("", {} if output else None, _YES_NO)
    description: str | Ask | None = None
    if interrupt is not None and callable(interrupt.value):
        description = _made_by(interrupt.value, output)
    elif interrupt is not None and isinstance(interrupt.value, str):
        description = interrupt.text()
    elif interrupt is not None:
        parts = {key: each.value for key, each in (interrupt.entries() or {}).items()}
        try:
            asked = question(parts, into_input=into == "input", has_output=output is not None)
        except DialectError as error:
            interrupt.problem(f"Its metadata can't be sent. {error}")
        description = asked.text or None
    return Rule(
        name=name,
        kind="review",
        line=node.line,
        prefix=free.prefix,
        route=free.route,
        dialect="arcgis",
        description=description,
        allowed_decisions=asked.allowed_decisions,
        answer_schema=asked.answer_schema,
        extra=asked.extra,
        output=output,
    )


def _made_by(function: Callable[..., object], output: Output | None) -> Ask:
    def asked(seen: Seen) -> object:
        found = function(_request(seen))
        return later(found) if inspect.isawaitable(found) else read(found)

    async def later(found: Any) -> object:
        return read(await found)

    def read(found: object) -> Question:
        interrupt: Mapping[str, Any] = (
            cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}
        )
        if isinstance(found, str):
            interrupt = {"message": found}
        into_input = output is not None and output.into == "input"
        asked = question(interrupt, into_input=into_input, has_output=output is not None)
        return asked._replace(text=asked.text or DESCRIPTION_PREFIX)

    return asked


def _request(seen: Seen) -> dict[str, Any]:
    """What its middleware is given: of a tool its name and arguments, of an agent's run its id and what the
    run was asked. A copy of the arguments, so that what a function does to them never reaches what will run.
    """
    args: dict[str, Any] = copy.deepcopy(seen.call.args)
    request = {"toolName": seen.call.name, "args": args, "state": seen.state}
    if not seen.call.name.startswith(AGENT):
        return request
    return {**args, **request, "agentId": seen.call.name.removeprefix(AGENT)}
