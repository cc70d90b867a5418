"""A tool asks a question, but the graph's saved messages don't contain its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt

from tests.integrations.agents import Lab
from tests.integrations.langgraph.pauses.test_own_questions import (
    CANARY,
    TURN,
    all_texts,
    inbox,
    paying,
    words,
)

CALLS = [{**each, "type": "tool_call"} for each in TURN]


class Messages(TypedDict):
    messages: Annotated[list[Any], add_messages]


class History(TypedDict):
    history: Annotated[list[Any], add_messages]


def calls() -> AIMessage:
    return AIMessage(content="", tool_calls=CALLS, id="ai-1")


def other_key(tool: Any) -> Any:
    graph = StateGraph(History)
    graph.add_node("model", lambda state: {"history": [calls()]})
    graph.add_node("tools", ToolNode([tool], messages_key="history"))
    graph.add_edge("model", "tools")
    return graph


def nodes_own_code(tool: Any) -> Any:
    node = ToolNode([tool])

    async def model(state: Messages) -> Any:
        return await node.ainvoke({"messages": [calls()]})

    graph = StateGraph(Messages)
    graph.add_node("model", model)
    return graph


def sent(tool: Any) -> Any:
    graph = StateGraph(Messages)
    graph.add_node("model", lambda state: {})
    graph.add_node("tools", ToolNode([tool]))
    graph.add_conditional_edges("model", lambda _: [Send("tools", CALLS)], ["tools"])
    return graph


def around_an_inner_graph(tool: Any) -> Any:
    graph = StateGraph(Messages)
    graph.add_node("model", nodes_own_code(tool).add_edge(START, "model").compile())
    return graph


SHAPES = pytest.mark.parametrize("shape", [other_key, nodes_own_code, sent, around_an_inner_graph])


async def ask(lab: Lab, graph: Any) -> Any:
    graph.add_edge(START, "model")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver), allow_in_memory=True)
    said = [HumanMessage("go")]
    run = await driver.run({"messages": said, "history": said}, thread_id="t-1")
    return await lab.review(run.review_id)


def hiding_tool() -> Any:
    pay = paying(words)
    names: dict[str, Any] = {"to": {"type": "string"}, "pin": {"type": "string", "writeOnly": True}}
    pay.args_schema = {"type": "object", "properties": names}
    return pay


@SHAPES
@pytest.mark.parametrize(
    ("policy", "tool"),
    [
        ({"default": "allow", "trust_tool_schemas": True}, hiding_tool),
        (
            {
                "default": "allow",
                "interrupt_on": {
                    "p*": {
                        "redact": ["/pin"],
                        "when": {"properties": {"to": {"const": "eve"}}},
                    }
                },
            },
            lambda: paying(words),
        ),
    ],
)
async def test_a_question_shows_nothing_that_its_call_may_hide(
    lab: Lab,
    shape: Callable[[Any], Any],
    policy: Any,
    tool: Callable[[], Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """attack 7, M3: given a policy that can hide a value of a tool of the node that asks, then people read
    that a call asks, and nothing of its words."""
    lab.set_policy(**policy)
    question = await ask(lab, shape(tool()))
    assert CANARY not in await all_texts(lab, question, capsys)
    assert question.calls[0].name == "call.question"
    assert question.hides_values


@SHAPES
async def test_a_question_is_shown_if_the_policy_hides_nothing(
    lab: Lab, shape: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.set_policy(default="allow", interrupt_on={"other": {"redact": ["/pin"]}})
    question = await ask(lab, shape(paying(words)))
    assert CANARY in await all_texts(lab, question, capsys)


async def test_a_node_without_tools_shows_its_question(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """attack 7, M3: given a node that asks and runs no tool, beside a tool with hidden values, then its words
    are shown."""

    def model(state: Messages) -> Any:
        return {"messages": [AIMessage(str(interrupt(inbox("confirm", {"to": "bob"}))))]}

    lab.set_policy(default="allow", trust_tool_schemas=True)
    graph = StateGraph(Messages)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([hiding_tool()]))
    graph.add_edge("model", "tools")
    question = await ask(lab, graph)
    assert question.calls[0].name == "confirm"
    assert "bob" in await all_texts(lab, question, capsys)
