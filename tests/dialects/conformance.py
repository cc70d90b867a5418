"""Runs one case of another system through our dialects: its configuration, its interrupt, and the answer to
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hitl_core import dialects
from hitl_core.dialects import Dialect, agent_inbox
from hitl_core.errors import DialectError
from hitl_core.gate import Gate, Outcome
from hitl_core.gate.outcome.answers import replacement_calls
from hitl_core.gate.submission.calls import JudgedCalls, judge_calls
from hitl_core.model import Review, Reviewer, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import DecideAll
from hitl_core.store import MemoryStore
from tests.dialects.answers import read_answers
from tests.support.message_calls import message_tool_calls

Json = dict[str, Any]
ADA = Reviewer(channel="slack", team="T1", id="U1", name="Ada")
NAMES = {
    "langchain-py": "langchain",
    "langchain-js": "langchain_js",
    "xpertai": "xpertai",
    "sagents": "sagents",
    "agent-inbox": "agent_inbox",
    "arcgis": "arcgis",
}
ALLOW_ALL = Policy.from_mapping({"default": "allow"})


class Case:
    """The data of the file, and the parts of it that a dialect needs."""

    def __init__(self, data: Json) -> None:
        self.data, self.id, self.kind = data, data["id"], data["kind"]
        self.expect: Json = data["expect"]
        self.outcome: str = self.expect["outcome"]
        self.system: str = data["system"]

    @property
    def dialect(self) -> Dialect:
        config = self.data.get("policy") or {}
        per_call = config.get("interrupt_mode") == "per_call"
        return dialects.get("langchain_per_call" if per_call else NAMES[self.system])

    def policy(self, *, loose: bool = False) -> Policy:
        """`loose`: with the setting by which a run's context may remove a gate."""
        config = call_functions(self.data["policy"])
        if loose:
            config["allow_override" if self.system == "langchain-py" else "allowOverride"] = True
        return self.dialect.load_policy(config)

    @property
    def decisions(self) -> Any:
        return call_functions(self.data.get("decisions"))

    @property
    def rejects_some(self) -> bool:
        """LangChain for JavaScript then runs none of the others, and drops them."""
        given = self.data.get("decisions")
        batch = given["decisions"] if given and _is_batch(given) else []
        kinds = [each.get("type") for each in batch]
        rest = len(self.data.get("tool_calls") or []) - kinds.count("reject")
        return (self.system, self.outcome) == ("langchain-js", "completed") and (
            "reject" in kinds and rest > 0
        )

    @property
    def calls(self) -> list[ToolCall]:
        given = self.data.get("tool_calls") or []
        return [ToolCall(c["id"], c["name"], c["args"]) for c in given]

    @property
    def tools(self) -> dict[str, Json | None]:
        """The agent's tools: those of the case, else those that it mentions."""
        named = self.data.get("tools") or [*self._mentioned_tools()]
        return {name: self._schema(name) for name in named}

    def _mentioned_tools(self) -> dict[str, None]:
        found = {call["name"]: None for call in self.data.get("tool_calls") or []}
        text = json.dumps(self.data.get("decisions"))
        found |= dict.fromkeys(re.findall(r'"edited_?[aA]ction": {"name": "([^"]+)"', text))
        return found

    def _schema(self, name: str) -> Json | None:
        """Of a tool with typed arguments: those of its call, all required, all text."""
        first = next((c for c in self.data.get("tool_calls") or [] if c["name"] == name), None)
        if not self.data.get("typed_tools") or first is None:
            return None
        properties = {arg: {"type": "string"} for arg in first["args"]}
        return {"type": "object", "properties": properties, "required": [*properties]}

    async def judge(self, policy: Policy) -> JudgedCalls:
        if (context := self.data.get("context")) is not None:
            policy = policy.for_run(context)
        state = {"messages": ["a question", "an AI message"]}
        found = await judge_calls(policy, self.calls, tools=self.tools, state=state)
        answer = self.data.get("decisions")
        if self.system == "arcgis" and isinstance(answer, dict):  # the ids that the answer names
            rulings = [r._replace(interrupt_id=answer["id"]) for r in found.rulings]
            found = found._replace(rulings=rulings, path=(answer["agentId"],))
        return found


def _is_batch(value: Any) -> bool:
    decisions = value.get("decisions") if isinstance(value, dict) else None
    return isinstance(decisions, list) and all(isinstance(each, dict) for each in decisions)


class Running:
    """A review of one case in a gate of its own."""

    def __init__(self, gate: Gate, dialect: Dialect, review: Review) -> None:
        self.gate, self.dialect, self.review = gate, dialect, review

    @classmethod
    async def start(cls, gate: Gate, dialect: Dialect, asked: JudgedCalls) -> Running:
        id = await gate.submit(asked, thread_id="t")
        return cls(gate, dialect, (await gate.reviews.load(id)).review)

    async def answer(self, wire: Any) -> None:
        """Raises DecisionError, and then stores nothing."""
        proposals = read_answers(self.dialect, wire, self.review)
        if proposals:
            op = f"op{self.review.version}"
            applied = await self.gate.reviews.apply(DecideAll(self.review.id, proposals, ADA, op))
            self.review = applied.review

    async def is_unchanged(self) -> bool:
        return (await self.gate.reviews.load(self.review.id)).review == self.review

    async def outcome(self) -> Outcome:
        return await self.gate.wait(self.review.id)


def a_gate() -> Gate:
    return Gate(MemoryStore(), policy=ALLOW_ALL, agent="nav")


def results(case: Case, outcome: Outcome) -> Json:
    """Everything that a case may expect of a finished turn."""
    review = outcome.review
    executed = [
        {"id": call.id, "name": call.name, "args": declared_args(case, call)}
        for call in outcome.execute
    ]
    return {
        "executed": executed,
        "tool_calls_after": message_tool_calls(review),
        "edited_tool_calls": replacement_calls(review),
        "tool_messages": [answer._asdict() for answer in outcome.answers],
        "jump_to": "model" if outcome.jump_to_model else None,
        "state_update": outcome.state_update,
        "paired": {c.id for c in outcome.execute} | {a.tool_call_id for a in outcome.answers}
        == {call["id"] for call in message_tool_calls(review)},
    }


def declared_args(case: Case, call: ToolCall) -> Json:
    """The arguments that a typed tool accepts: those that it declares."""
    schema = case.tools.get(call.name) or {}
    known = schema.get("properties")
    return {k: v for k, v in call.args.items() if known is None or k in known}


def render(value: Any) -> tuple[Dialect, JudgedCalls]:
    """What an inbox shows of an agent's interrupt."""
    try:
        name = dialects.detect(value)
    except DialectError:
        name = "agent_inbox"
    dialect = dialects.get(name)
    return agent_inbox.dialect, dialect.load_request(value, "t")


# ----------------------------------------------------------------- callables, which the file has as data


def call_functions(value: Any) -> Any:
    if isinstance(value, list):
        return [call_functions(item) for item in value]
    if isinstance(value, str):
        return value.removeprefix("$atom:")  # JSON has no atoms: a text replaces one
    if not isinstance(value, dict):
        return value
    if "$json_string" in value:
        return json.dumps(value["$json_string"])
    if "$template" in value:
        return _template(value["$template"])
    if "$when" in value:
        return _predicate(value["$when"])
    return {key: call_functions(item) for key, item in value.items()}


def _template(text: str) -> Callable[..., Any]:
    def describe(call: Json, state: Any = None, runtime: Any = None) -> str:
        def fill(found: re.Match[str]) -> str:
            kind, _, path = found[1].rpartition(":")
            value: Any = {**call, "name": call.get("name", call.get("toolName"))}
            if path == "n_messages":
                return str(len(state["messages"]))
            for key in path.split("."):
                value = value[key]
            if kind == "json":
                return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
            return str(len(value)) if kind == "len" else str(value)

        return re.sub(r"{([^{}]+)}", fill, text)

    return describe


def _predicate(said: Json) -> Callable[[Any], bool]:
    flips = iter(said.get("flips", ()))

    def when(asked: Any) -> bool:
        if "const" in said:
            return said["const"]
        if "flips" in said:
            return next(flips)
        value = asked.tool_call["args"].get(said["arg"])
        match said["op"]:
            case "truthy":
                return bool(value)
            case "startswith":
                return str(value).startswith(said["value"])
            case _:
                return value != said["value"]

    return when
