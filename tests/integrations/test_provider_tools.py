"""Which tools of a model its provider runs itself, so that no guard can stop them. An unknown kind of tool
counts as one.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from pydantic import BaseModel

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.guard.provider_tools import provider_tools
from tests.integrations.agents import Lab, Script, go

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class GeminiTool(BaseModel):
    """As Google's SDK has it."""

    google_search: dict[str, Any] | None = None
    function_declarations: list[Any] | None = None


class Read(BaseModel):
    """Reads it: a class that describes a tool."""

    path: str


class ServedModel(Script):
    """As Anthropic's model: its servers are a field, which LangChain keeps secret."""

    mcp_servers: list[Any]

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    @property
    def lc_secrets(self) -> dict[str, str]:
        return {"mcp_servers": "MCP_SERVERS"}


@tool
def read(path: str) -> str:
    """Reads it."""
    return path


@pytest.mark.parametrize(
    ("described", "names"),
    [
        ({"google_search": {}}, ["google_search"]),
        ({"code_execution": {}}, ["code_execution"]),
        ({"url_context": {}}, ["url_context"]),
        ({"googleSearch": {}}, ["googleSearch"]),
        ({"function_declarations": [{"name": "read"}], "google_search": {}}, ["google_search"]),
        (GeminiTool(google_search={}), ["google_search"]),
        ({"systemTool": {"name": "nova_grounding"}}, ["systemTool"]),
        ({"name": "search"}, ["search"]),
        ({"type": "shell"}, ["shell"]),
        ({"type": "shell", "environment": {"type": "container_auto"}}, ["shell"]),
        ({"type": "shell_20300101", "name": "sh"}, ["sh"]),
        ({"type": "memory_bank"}, ["memory_bank"]),
        ({"type": "computer_hosted"}, ["computer_hosted"]),
        ({"type": "bash_code_execution"}, ["bash_code_execution"]),
        ({"type": "functions_hosted"}, ["functions_hosted"]),
        ({"type": "builtin_function", "function": {"name": "$web_search"}}, ["builtin_function"]),
        ({"type": "mcp", "server_url": "https://mcp.example"}, ["mcp"]),
        ({"type": "code_execution_20250825", "name": "code_execution"}, ["code_execution"]),
        ({"type": 7, "name": "x"}, ["x"]),
        (object(), ["object"]),
    ],
)
def test_an_unknown_tool_counts_as_the_providers(described: Any, names: list[str]) -> None:
    assert provider_tools({"tools": [described]}) == names
    assert provider_tools({"extra_body": {"tools": [described]}}) == names
    assert provider_tools({"toolConfig": {"tools": (described,)}}) == names


@pytest.mark.parametrize(
    "described",
    [
        {"type": "function", "function": {"name": "read", "parameters": SCHEMA}},
        {"type": "function", "name": "read", "parameters": SCHEMA},
        {"type": "custom", "name": "read"},
        {"name": "read", "input_schema": SCHEMA},
        {"name": "read", "parameters": SCHEMA},
        {"function_declarations": [{"name": "read"}], "google_search": None},
        {"functionDeclarations": [{"name": "read"}]},
        {"toolSpec": {"name": "read", "inputSchema": {"json": SCHEMA}}},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "computer_20251124", "name": "computer"},
        {"type": "computer_use_preview"},
        {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "apply_patch"},
        read,
        Read,
        GeminiTool(function_declarations=[{"name": "read"}]),
    ],
)
def test_what_a_tool_node_runs_is_ours(described: Any) -> None:
    assert provider_tools({"tools": [described]}) == []


def test_other_ways_to_give_a_provider_tools() -> None:
    assert provider_tools({"web_search_options": {}}) == ["web_search"]
    assert provider_tools({"mcp_servers": [{"type": "url", "name": "crm"}]}) == ["crm"]
    assert provider_tools({"tools": None, "extra_body": None, "mcp_servers": None}) == []


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"search_parameters": {"mode": "auto"}}, ["search_parameters"]),
        ({"search_parameters": {"mode": "off"}}, []),
        ({"plugins": [{"id": "web"}]}, ["plugins"]),
        ({"connectors": [{"id": "web-search"}]}, ["connectors"]),
        ({"enable_search": True}, ["enable_search"]),
        ({"enable_search": False, "plugins": []}, []),
        ({"compound_custom": {"tools": {"enabled_tools": ["visit_website"]}}}, ["compound_custom"]),
        ({"prompt": {"id": "pmpt_1"}}, ["prompt"]),
        ({"prompt": "Say hello."}, []),
    ],
)
def test_parameters_that_switch_on_a_tool_of_the_provider(params: Any, names: list[str]) -> None:
    assert provider_tools(params) == names
    assert provider_tools({"extra_body": params}) == names


@pytest.mark.parametrize("key", ["additionalModelRequestFields", "additional_model_request_fields"])
def test_tools_among_bedrocks_own_fields(key: str) -> None:
    hosted = {"type": "code_execution_20250825", "name": "code_execution"}
    assert provider_tools({key: {"tools": [hosted]}}) == ["code_execution"]


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ({"mcp_servers": {"lc": 1, "type": "secret", "id": ["MCP_SERVERS"]}}, ["mcp_servers"]),
        ({"model_kwargs": {"tools": [{"type": "web_search"}]}}, ["web_search"]),
        ({"model_kwargs": {"extra_body": {"tools": {"google_search": {}}}}}, ["google_search"]),
        ({"search_parameters": {"mode": "on"}}, ["search_parameters"]),
        ({"cached_content": "cachedContents/abc"}, ["cached_content"]),
        ({"model": "gpt-4o-search-preview"}, ["gpt-4o-search-preview"]),
        ({"model_name": "groq/compound-mini"}, ["groq/compound-mini"]),
        ({"model": "perplexity/sonar-pro"}, ["perplexity/sonar-pro"]),
        ({"model": "openai/gpt-5:online"}, ["openai/gpt-5:online"]),
        ({"model": "gpt-5", "model_kwargs": {"tools": []}, "mcp_servers": None}, []),
    ],
)
def test_what_a_model_was_made_with_counts_too(model: Any, names: list[str]) -> None:
    assert provider_tools({}, model) == names
    assert provider_tools(model, model) == names


async def test_a_model_that_was_made_with_a_tool_of_its_provider_is_not_called(lab: Lab) -> None:
    """Given a model with MCP servers, of which LangChain says nothing among the parameters of a call, and a
    policy that doesn't allow them, then the model is not called."""
    model = ServedModel(turns=[], mcp_servers=[{"type": "url", "name": "crm"}])
    lab.set_policy(default="review")
    driver = lab.reviews.drive(create_agent(model, [read], checkpointer=lab.saver))
    with pytest.raises(IntegrationError, match="runs `mcp_servers` itself"):
        await driver.run(go(), thread_id="t-1")
    lab.set_policy(default="review", interrupt_on={"mcp_servers": False})
    assert (await driver.run(go("again"), thread_id="t-2")).finished
