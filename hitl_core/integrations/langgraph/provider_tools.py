"""Which tools of a model call its provider runs itself. Only what is known to be run here counts as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from hitl_core.integrations.langgraph.graph import Json

#: Tools that a provider only describes: the model's call of one comes back, and a tool node runs it. Types
#: of Anthropic end in a date, those of OpenAI don't.
_CLIENT_TYPE = re.compile(
    r"function|custom|local_shell|apply_patch|computer|computer_use_preview"
    r"|(?:bash|text_editor|computer|memory)_\d{8}"
)
#: What stands beside the name of a tool without `type`, of Anthropic, OpenAI and Cohere.
_SCHEMA_KEYS = ("input_schema", "parameters", "parameter_definitions")
#: Where Gemini and Bedrock put the functions that are run here. Each other key is a tool of the provider.
_CLIENT_KEYS = ("function_declarations", "functionDeclarations", "toolSpec", "cachePoint")


def provider_tools(params: Json) -> list[str]:
    """Their names. `params` are what LangChain says of a model call (`invocation_params`)."""
    return [
        name for part in (params, params.get("extra_body")) for name in _tools_in(_as_object(part))
    ]


def _tools_in(params: Json) -> Iterator[str]:
    config = _as_object(params.get("toolConfig"))
    for tool in (*_as_list(params.get("tools")), *_as_list(config.get("tools"))):
        yield from _names(tool)
    for server in _as_list(params.get("mcp_servers")):
        described = _as_object(server)
        yield str(described.get("name") or described.get("type") or "mcp_servers")
    if params.get("web_search_options") is not None:
        yield "web_search"


def _names(tool: object) -> list[str]:
    """Those of one entry that the provider runs; [] where it is run here."""
    described = _as_object(tool)
    if not described:
        # A function or a class: code of ours, which LangChain would describe.
        return [] if callable(tool) or hasattr(tool, "args_schema") else [type(tool).__name__]
    kind, name = described.get("type"), described.get("name")
    if kind is not None:
        return [] if _is_client_type(kind, described) else [str(name or kind)]
    if isinstance(name, str):
        return [] if any(key in described for key in _SCHEMA_KEYS) else [name]
    return [
        key for key, value in described.items() if key not in _CLIENT_KEYS and value is not None
    ]


def _is_client_type(kind: object, described: Json) -> bool:
    if kind == "shell":  # OpenAI's: on the provider's machines unless it says otherwise
        return _as_object(described.get("environment")).get("type") == "local"
    return isinstance(kind, str) and _CLIENT_TYPE.fullmatch(kind) is not None


def _as_object(value: object) -> Json:
    """A provider's own classes are pydantic models."""
    if isinstance(value, dict):
        return cast(Json, value)
    dump: Any = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is None or hasattr(value, "args_schema"):
        return {}
    dumped = dump(exclude_none=True)
    return cast(Json, dumped) if isinstance(dumped, dict) else {}


def _as_list(value: object) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []
