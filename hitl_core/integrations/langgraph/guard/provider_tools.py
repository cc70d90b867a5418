"""Finds the tools that the model's provider runs. Tools of unknown kinds count as the provider's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from hitl_core.integrations.langgraph.graph import Json

#: The types of tools that the provider doesn't run: the provider only returns the model's call, and a tool
#: node runs it. Anthropic's types end with a date, OpenAI's don't.
_CLIENT_TYPE = re.compile(
    r"function|custom|local_shell|apply_patch|computer|computer_use_preview"
    r"|(?:bash|text_editor|computer|memory)_\d{8}"
)
#: The keys of a tool without `type` that we run: Anthropic, OpenAI, Cohere.
_SCHEMA_KEYS = ("input_schema", "parameters", "parameter_definitions")
#: The keys of Gemini and Bedrock for functions that we run. Every other key is a tool of the provider.
_CLIENT_KEYS = ("function_declarations", "functionDeclarations", "toolSpec", "cachePoint")
#: Parameters beside `tools` that switch on tools of the provider: Cohere, Groq, Qwen,
#: OpenRouter, xAI, and OpenAI's stored prompts, which may have tools of their own.
_SWITCHES = (
    "connectors",
    "compound_custom",
    "enable_search",
    "plugins",
    "prompt",
    "search_parameters",
)
#: Parameters whose tools only the provider knows: Gemini keeps tools with a cached conversation.
_STORED = ("cached_content",)
#: Parameters with more parameters in them. The first two are LangChain's, the last two Bedrock's.
_MORE_PARAMS = (
    "model_kwargs",
    "extra_body",
    "additionalModelRequestFields",
    "additional_model_request_fields",
)
#: Models that search or run code without any parameter: Groq, Perplexity, OpenAI, OpenRouter.
_MODEL = re.compile(
    r"(?:.*/)?(?:compound|sonar)(?:-.*)?|.*-search-(?:preview|api)(?:-.*)?|.*:online"
)


def provider_tools(params: Json, model: Json | None = None) -> list[str]:
    """The names of the tools that the provider runs. `params`: LangChain's `invocation_params`. `model`: the
    arguments with which the model was made (`kwargs` of its `serialized`); many are not in `params`.
    """
    parts = (*_with_more(params), *_with_more(model or {}))
    return list(dict.fromkeys(name for part in parts for name in _tools_in(part)))


def _with_more(params: Json) -> Iterator[Json]:
    yield params
    for more in map(params.get, _MORE_PARAMS):
        if part := _as_object(more):
            yield from _with_more(part)


def _tools_in(params: Json) -> Iterator[str]:
    names = (params.get("model"), params.get("model_name"))
    yield from (name for name in names if isinstance(name, str) and _MODEL.fullmatch(name))
    config = _as_object(params.get("toolConfig"))
    for tool in (*_as_list(params.get("tools")), *_as_list(config.get("tools"))):
        yield from _names(tool)
    for server in _as_list(params.get("mcp_servers")):
        # LangChain hides those of a model as a secret, so only that there are some is known.
        entry = _as_object(server)
        yield str(entry.get("name") or "mcp_servers")
    if params.get("web_search_options") is not None:
        yield "web_search"
    yield from (name for name in _SWITCHES if _is_on(params.get(name)))
    yield from (name for name in _STORED if params.get(name))


def _names(tool: object) -> list[str]:
    """The names of the tools in one entry that the provider runs; [] if we run them."""
    entry = _as_object(tool)
    if not entry:
        # A function or a class is our own code, for which LangChain writes a description.
        return [] if callable(tool) or hasattr(tool, "args_schema") else [type(tool).__name__]
    kind, name = entry.get("type"), entry.get("name")
    if kind is not None:
        return [] if _is_client_type(kind, entry) else [str(name or kind)]
    if isinstance(name, str):
        return [] if any(key in entry for key in _SCHEMA_KEYS) else [name]
    return [key for key, value in entry.items() if key not in _CLIENT_KEYS and value is not None]


def _is_on(value: object) -> bool:
    """Whether this parameter switches the tool on. A text does not: it is a plain prompt."""
    return bool(value) and not isinstance(value, str) and _as_object(value).get("mode") != "off"


def _is_client_type(kind: object, entry: Json) -> bool:
    if kind == "shell":  # OpenAI's: on the provider's machines unless it says otherwise
        return _as_object(entry.get("environment")).get("type") == "local"
    return isinstance(kind, str) and _CLIENT_TYPE.fullmatch(kind) is not None


def _as_object(value: object) -> Json:
    """A dict, or the content of a pydantic model, as providers' own classes are. {} for other types."""
    if isinstance(value, dict):
        return cast(Json, value)
    dump: Any = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is None or hasattr(value, "args_schema"):
        return {}
    dumped = dump(exclude_none=True)
    return cast(Json, dumped) if isinstance(dumped, dict) else {}


def _as_list(value: object) -> list[Any]:
    """One value counts as a list of it."""
    if value is None or isinstance(value, list | tuple):
        return list(cast("list[Any]", value or ()))
    return [value]
