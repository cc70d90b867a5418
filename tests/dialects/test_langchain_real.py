"""LangChain's real middleware interrupts and accepts our answers, in both of its modes."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from hitl_core import dialects
from hitl_core.gate import JudgedCalls, Outcome
from hitl_core.gate.outcome.answers import replacement_calls
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.model import ToolCall, encode
from hitl_core.review import DecideAll
from hitl_core.review.edits.proposal import Proposal
from tests.dialects.conformance import ADA, Running, a_gate
from tests.support.message_calls import message_tool_calls

Json = dict[str, Any]
CONFIG: Json = {
    "interrupt_on": {
        "send_email": True,
        "delete_file": {
            "allowed_decisions": ["approve", "reject"],
            "description": lambda call, state, runtime: f"Delete {call['args']['path']}?",
            "when": lambda asked: asked.tool_call["args"]["path"] != "tmp.txt",
        },
        "ask_user": {"allowed_decisions": ["respond"]},
    },
    "description_prefix": "Please look",
}
CALLS: list[Json] = [
    {"id": "c1", "name": "send_email", "args": {"to": "alice", "body": "hi"}},
    {"id": "c2", "name": "delete_file", "args": {"path": "x.txt"}},
    {"id": "c3", "name": "delete_file", "args": {"path": "tmp.txt"}},
    {"id": "c4", "name": "read_file", "args": {"path": "y.txt"}},
    {"id": "c5", "name": "ask_user", "args": {"question": "Which colour?"}},
]


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


class Agent:
    """A real agent, with tools that record their arguments."""

    def __init__(self, mode: str) -> None:
        self.ran: list[tuple[str, Json]] = []

        @tool
        def send_email(to: str, body: str = "") -> str:
            """Send."""
            self.ran.append(("send_email", {"to": to, "body": body}))
            return "sent"

        @tool
        def delete_file(path: str) -> str:
            """Delete."""
            self.ran.append(("delete_file", {"path": path}))
            return "deleted"

        @tool
        def read_file(path: str) -> str:
            """Read."""
            self.ran.append(("read_file", {"path": path}))
            return "text"

        @tool
        def ask_user(question: str) -> str:
            """Ask."""
            raise AssertionError("a person answers this")

        self.tools = [send_email, delete_file, read_file, ask_user]
        turn = AIMessage("", tool_calls=[{**c, "type": "tool_call"} for c in CALLS])
        options: Json = {**CONFIG, "interrupt_mode": mode}
        self.graph = create_agent(
            Model(messages=iter([turn, AIMessage("done")])),
            self.tools,
            middleware=[HumanInTheLoopMiddleware(**options)],
            checkpointer=InMemorySaver(),
        )
        self.config: Any = {"configurable": {"thread_id": "1"}}

    def start(self) -> Any:
        question: Any = {"messages": [("user", "go")]}
        found = self.graph.invoke(question, self.config)
        return found["__interrupt__"]

    def resume(self, answer: Any) -> Json:
        return self.graph.invoke(Command(resume=answer), self.config)

    def tool_messages(self, state: Json) -> dict[str, tuple[Any, str]]:
        messages = [m for m in state["messages"] if isinstance(m, ToolMessage)]
        return {m.tool_call_id: (m.content, m.status) for m in messages}


async def decide(asked: JudgedCalls, **kinds: Proposal) -> Outcome:
    """Decides, by the calls' ids; all others are approved."""
    async with a_gate() as gate:
        running = await Running.start(gate, dialects.get(asked.dialect), asked)
        proposals = {
            action.key: kinds.get(action.request.tool_call_id, Proposal("approve", 1))
            for action in running.review.actions
        }
        await gate.reviews.apply(DecideAll(running.review.id, proposals, ADA, "op"))
        return await running.outcome()


EDIT = encode({"to": "bob", "body": "hello"})
SAID = {
    "c1": Proposal("edit", 1, args=EDIT),
    "c2": Proposal("reject", 1, "keep it"),
    "c5": Proposal("respond", 1, "blue"),
}


def turn() -> list[ToolCall]:
    return [ToolCall.from_mapping(call) for call in CALLS]


async def test_its_configuration_asks_what_it_asks() -> None:
    """Given LangChain's configuration as our policy, then our interrupt is the one that LangChain raises."""
    (interrupt,) = Agent("batched").start()
    dialect = dialects.get("langchain")
    policy = dialect.load_policy(CONFIG)
    asked = await judge_calls(policy, turn(), state={})
    async with a_gate() as gate:
        running = await Running.start(gate, dialect, asked)

    assert dialect.dump_request(running.review) == interrupt.value
    assert dialects.detect(interrupt.value) == "langchain"


async def test_its_interrupt_becomes_our_review_and_our_answer_resumes_it() -> None:
    agent = Agent("batched")
    (interrupt,) = agent.start()
    dialect = dialects.get(dialects.detect(interrupt.value))
    asked = dialect.load_request(interrupt.value, "1", turn())
    outcome = await decide(asked, **SAID)

    assert dialect.dump_request(outcome.review) == interrupt.value
    state = agent.resume(dialect.dump_decisions(outcome.review))

    assert sorted(agent.ran, key=str) == sorted(
        [(call.name, call.args) for call in outcome.execute], key=str
    )
    text = agent.tool_messages(state)
    for answer in outcome.answers:
        assert text[answer.tool_call_id] == (answer.content, answer.status)
    message = next(m for m in state["messages"] if isinstance(m, AIMessage))
    found = [{k: c[k] for k in ("id", "name", "args")} for c in message.tool_calls]
    assert found == message_tool_calls(outcome.review)
    assert replacement_calls(outcome.review)["c1"] == {"name": "send_email", "args": EDIT.parse()}


async def test_the_notice_of_an_edit_is_langchains() -> None:
    agent = Agent("batched")
    agent.start()
    dialect = dialects.get("langchain")
    asked = await judge_calls(dialect.load_policy(CONFIG), turn(), state={})
    outcome = await decide(asked, **SAID)
    answer = dialect.dump_decisions(outcome.review)
    results = agent.tool_messages(agent.resume(answer))

    call = next(call for call in outcome.execute if call.id == "c1")
    assert results["c1"][0] == outcome.with_edit_notice(call, "sent")
    assert "a human reviewer replaced this tool call" in results["c1"][0]


async def test_per_call() -> None:
    """One interrupt for each call. Its schema says which answers are allowed, and ours pass LangGraph's
    check."""
    agent = Agent("per_call")
    raised = agent.start()
    wire = [
        {"id": one.id, "value": one.value, "response_schema": one.response_schema} for one in raised
    ]
    assert dialects.detect(wire) == "langchain_per_call"
    dialect = dialects.get("langchain_per_call")
    asked = dialect.load_request(wire, "1")
    assert {c.id: r.allowed_decisions for c, r in zip(asked.calls, asked.rulings, strict=True)} == {
        "c1": ("approve", "edit", "reject", "respond"),
        "c2": ("approve", "reject"),
        "c5": ("respond",),
    }
    outcome = await decide(asked, **SAID)

    again = dialect.dump_request(outcome.review)
    assert [each["value"] for each in again] == [each["value"] for each in wire]
    for ours, theirs in zip(again, wire, strict=True):
        assert branches(ours["response_schema"]) == branches(theirs["response_schema"])
    state = agent.resume(dialect.dump_decisions(outcome.review))

    assert ("send_email", EDIT.parse()) in agent.ran
    assert ("delete_file", {"path": "x.txt"}) not in agent.ran
    shown = agent.tool_messages(state)
    for answer in outcome.answers:
        assert shown[answer.tool_call_id] == (answer.content, answer.status)


async def test_an_edit_that_the_tool_would_refuse_is_refused_before() -> None:
    """We also check the argument schema that LangGraph publishes."""
    agent = Agent("per_call")
    wire = [
        {"id": i.id, "value": i.value, "response_schema": i.response_schema} for i in agent.start()
    ]
    asked = dialects.get("langchain_per_call").load_request(wire, "1")
    bad = encode({"to": 7})

    with pytest.raises(Exception, match="must be text"):
        await decide(asked, **{**SAID, "c1": Proposal("edit", 1, args=bad)})
    assert sorted(name for name, _ in agent.ran) == ["delete_file", "read_file"]


def branches(schema: Json) -> list[str]:
    """The decisions that a response schema takes, in their order."""
    return [*schema["discriminator"]["mapping"]] if "oneOf" in schema else [schema["title"]]
