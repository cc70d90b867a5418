"""The tools of the demo's shop, for LangChain: what they can't do the model reads as an error message."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from slack_sandbox.demo.agent.shop import Shop, ShopError


def make_tools(folder: Path) -> list[BaseTool]:
    """`support.db` and the e-mails in `outbox/` are in `folder`."""
    return [
        StructuredTool.from_function(_with_tool_errors(function), handle_tool_error=True)
        for function in Shop(folder).tools.values()
    ]


def _with_tool_errors(function: Callable[..., str]) -> Callable[..., str]:
    """Other errors than these end the run."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> str:
        try:
            return function(*args, **kwargs)
        except ShopError as error:
            raise ToolException(str(error)) from error

    return run
