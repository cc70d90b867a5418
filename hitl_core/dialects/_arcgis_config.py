"""ArcGIS' configuration, and the four kinds of its questions as decisions and a schema."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from hitl_core.model import DecisionType, Output, Route
from hitl_core.model.call import TOOL_NAME
from hitl_core.policy.node import Node, take
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.policy.reading import Reading
from hitl_core.policy.rule import Ask, Question, Rule, Seen

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
        rules.append(_rule("agent:*", agent, free, "state", known))
    for name, each in (take(fields, "tools", Node.entries) or {}).items():
        if TOOL_NAME.fullmatch(name):
            rules.append(_rule(name, each, free, "input", _GATE))
        else:
            each.problem("No tool is ever called that: names are literal here.")
    override = take(fields, "allowOverride", Node.boolean) or False
    return Reading(None if inherited else free, tuple(rules), allow_override=override)


def question(interrupt: Mapping[str, Any], *, into_input: bool, has_output: bool) -> Question:
    """What a (partial) UiInterrupt asks. Where the answer has a place to go, the tool runs with it or after
    it; where it has none, it is the tool's result.
    """
    kind, text = interrupt.get("kind"), interrupt.get("message")
    said = text if isinstance(text, str) else ""
    options = _options(interrupt)
    match kind:
        case "textInput":
            schema: dict[str, Any] | None = {"type": "string"}
        case "singleSelection":
            schema = {"enum": options} if options else {"type": "string"}
        case "multipleSelection":
            items = {"enum": options} if options else {"type": "string"}
            schema = {"type": "array", "items": items, "uniqueItems": True}
        case "booleanChoice":
            return Question(said, {"type": "boolean"} if has_output else None, _YES_NO)
        case _:  # not said: any answer but `false` goes on
            return Question(said, {} if has_output else None, _YES_NO)
    asks = has_output or into_input
    return Question(said, schema, _YES_NO if asks else ("respond",))


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
        asked = question(parts, into_input=into == "input", has_output=output is not None)
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
        output=output,
    )


def _made_by(function: Callable[..., object], output: Output | None) -> Ask:
    def asked(seen: Seen) -> object:
        request = {"toolName": seen.call.name, "args": copy.deepcopy(seen.call.args)}
        found = function(request)
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


def _options(interrupt: Mapping[str, Any]) -> list[Any]:
    """They stand in `metadata`, as texts or as `{"value", "label"}`."""
    metadata = interrupt.get("metadata")
    about: Mapping[str, Any] = (
        cast(Mapping[str, Any], metadata) if isinstance(metadata, Mapping) else {}
    )
    found = interrupt.get("options", about.get("options"))
    values = cast(list[Any], found) if isinstance(found, list) else []
    return [
        cast(Mapping[str, Any], each).get("value", each) if isinstance(each, Mapping) else each
        for each in values
    ]
