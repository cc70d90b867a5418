"""The tools of the demo's shop, for LangChain. The model reads their errors as messages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from slack_sandbox.demo import Shop, ShopError


def make_tools(folder: Path) -> list[BaseTool]:
    """`folder` contains `support.db` and the e-mails in `outbox/`."""
    return [
        StructuredTool.from_function(_with_tool_errors(function), handle_tool_error=True)
        for function in Shop(folder).tools.values()
    ]


def _with_tool_errors(function: Callable[..., str]) -> Callable[..., str]:
    """Only these errors go to the model; others end the run."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> str:
        try:
            return function(*args, **kwargs)
        except ShopError as error:
            raise ToolException(str(error)) from error

    return run
