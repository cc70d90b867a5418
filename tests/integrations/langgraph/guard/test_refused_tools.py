"""Tools that nobody can guard are refused before anything runs; tools of a provider must be allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph import HumanReview
from hitl_core.integrations.langgraph.guard.watch import Watch
from tests.integrations.agents import Lab, tools
from tests.integrations.langgraph.guard.test_paths import outer, own

pytestmark = pytest.mark.usefixtures("deny_policy")


class Fast(ToolNode):
    async def _arun_one(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        return await self.tools_by_name[call["name"]].ainvoke(call)


class ByFunction(ToolNode):
    async def _afunc(self, input: Any, config: Any, runtime: Any) -> Any:
        return {"messages": []}


class Invoking(ToolNode):
    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        return {"messages": []}


def on_the_instance(name: str) -> Callable[[list[BaseTool]], ToolNode]:
    def make_node(given: list[BaseTool]) -> ToolNode:
        node = ToolNode(given)
        setattr(node, name, Fast(given)._arun_one)
        return node

    return make_node


@pytest.mark.parametrize(
    "make",
    [Fast, ByFunction, Invoking, *map(on_the_instance, ("_arun_one", "ainvoke", "afunc"))],
)
async def test_a_tool_node_that_runs_tools_its_own_way_is_refused(lab: Lab, make: Any) -> None:
    """A subclass, and a method that was put on the node itself."""
    graph = StateGraph(MessagesState)
    graph.add_node("act", make(tools(lab.folder / "effects")))
    graph.add_edge(START, "act")
    with pytest.raises(IntegrationError, match=r"act.*plain ToolNode"):
        lab.reviews.drive(graph.compile(checkpointer=lab.saver))


async def test_two_guards_in_one_place_are_refused(lab: Lab) -> None:
    agent = outer(lab, own(lab, "read"))
    lab.reviews.drive(agent)
    lab.reviews.drive(agent)
    with pytest.raises(IntegrationError, match="Another HumanReview"):
        HumanReview(lab.gate).drive(agent)


@pytest.mark.parametrize("name", ["send mail", "größe"])
async def test_a_tool_that_no_rule_can_name_is_refused_before_anything_runs(
    lab: Lab, name: str
) -> None:
    """dialects 10: LangChain takes such a name; the error names the tool and what to do."""

    async def run(task: str) -> str:
        return task

    odd = StructuredTool.from_function(coroutine=run, name=name, description="Odd.")
    with pytest.raises(IntegrationError, match=rf"'{name}'.*Rename it"):
        lab.reviews.drive(outer(lab, odd))


@pytest.mark.parametrize("kind", ["func", "coroutine"])
async def test_a_tool_that_is_a_generator_is_refused(lab: Lab, kind: str) -> None:
    """LangChain would call it, run nothing of it, and take the generator for its result."""

    def by_parts(task: str) -> Any:
        yield task

    async def by_async_parts(task: str) -> Any:
        yield task

    function: Any = {"func": by_parts, "coroutine": by_async_parts}[kind]
    slow = StructuredTool.from_function(**{kind: function}, name="slow", description="Slow.")
    with pytest.raises(IntegrationError, match=r"slow.*generator"):
        lab.reviews.drive(outer(lab, slow))


@pytest.mark.parametrize(
    ("tools", "stops"),
    [
        ([{"type": "web_search_20250305", "name": "web_search"}], True),
        ([{"type": "code_interpreter", "container": {}}], True),
        ([{"type": "function", "function": {"name": "read"}}], False),
        ([{"name": "read", "input_schema": {}}], False),
        ([{"type": "bash_20250124", "name": "bash"}], False),
    ],
)
async def test_what_a_provider_runs_itself_has_to_be_allowed(
    lab: Lab, tools: list[Any], stops: bool
) -> None:
    """Given tools that run on the model's own servers, then the model is not called where the policy wants a
    person for them."""
    lab.set_policy(default="review")
    watch = Watch(lambda: lab.gate.policy)
    try:
        watch.on_chat_model_start({}, [], invocation_params={"tools": tools})
    except IntegrationError:
        assert stops
    else:
        assert not stops
    lab.set_policy(default="allow")
    Watch(lambda: lab.gate.policy).on_chat_model_start({}, [], invocation_params={"tools": tools})


async def test_what_a_provider_runs_itself_has_to_be_allowed_with_any_arguments(
    lab: Lab,
) -> None:
    """Given a rule that depends on the arguments, which the provider doesn't tell, then the model is not
    called."""
    when = {"properties": {"query": {"const": "secret"}}, "required": ["query"]}
    lab.set_policy(default="allow", interrupt_on={"web_search": {"when": when}})
    hosted = [{"type": "web_search_20250305", "name": "web_search"}]
    with pytest.raises(IntegrationError, match="are not known"):
        Watch(lambda: lab.gate.policy).on_chat_model_start(
            {}, [], invocation_params={"tools": hosted}
        )
