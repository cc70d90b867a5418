"""The policy that judges an agent's calls at the door: one for all, or a file for each agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from hitl_core.errors import PolicyError
from hitl_core.policy import Policy

from ..web.problems import ApiProblem


class Policies:
    """`shared` judges for every agent; else `by_agent` has one for each, by the agent's whole name."""

    def __init__(
        self, shared: Policy | None = None, by_agent: Mapping[str, Policy] | None = None
    ) -> None:
        self._shared, self._by_agent = shared, by_agent

    @classmethod
    def load(cls, location: str) -> Self:
        """From HITL_POLICY: a file, or a folder of `<agent>.yaml`, read once. Empty: there is none.

        Raises PolicyError for the first file that is wrong, and for a folder without any.
        """
        path = Path(location)
        if not location:
            return cls()
        if not path.is_dir():
            return cls(Policy.load(path))
        files = sorted(file for file in path.glob("*.yaml") if not file.name.startswith("."))
        if not files:
            raise PolicyError(f"{path}: There is no policy here: each is a file <agent>.yaml.")
        return cls(by_agent={file.stem: Policy.load(file) for file in files})

    def for_agent(self, agent: str) -> Policy:
        """Raises Problem where there is none. An agent's name is looked up among the files that were read:
        it never makes a path.
        """
        if self._shared is not None:
            return self._shared
        if self._by_agent is None:
            raise ApiProblem(
                "no_policy",
                "The server has no policy to judge calls by: set HITL_POLICY to a policy file, or to a"
                " folder with one for each agent, and start it again.",
            )
        if (policy := self._by_agent.get(agent)) is None:
            raise ApiProblem(
                "no_policy_for_agent",
                f"There is no policy for this agent: {agent}.yaml was not in the folder HITL_POLICY"
                " when the server started.",
            )
        return policy
