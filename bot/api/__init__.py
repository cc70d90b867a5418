"""The HTTP API for agents in any language: submit tool calls or interrupts, wait, run what people approved.

`add_api` adds its routes to an application. The wire format is in `wire`.
"""

from .agent_api import AgentApi
from .policies import Policies
from .routes import add_api

__all__ = ["AgentApi", "Policies", "add_api"]
