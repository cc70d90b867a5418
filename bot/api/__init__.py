"""The HTTP API for agents in any language: submit tool calls or interrupts, wait, run what people approved.

`add_api` adds its routes to an application. The wire format is in `wire`.
"""

from .agent_api import AgentApi
from .policies import Policies
from .routes import add_api
from .submissions import judge_turn
from .wire import Submit

__all__ = ["AgentApi", "Policies", "Submit", "add_api", "judge_turn"]
