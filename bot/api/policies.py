"""The policies for calls over HTTP: one for all agents, or a file for each agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from hitl_core.errors import PolicyError
from hitl_core.policy import Policy

from ..web import ApiProblem


class Policies:
    """`shared` is for every agent; without it, `by_agent` has a policy for each agent, by its full name."""

    def __init__(
        self, shared: Policy | None = None, by_agent: Mapping[str, Policy] | None = None
    ) -> None:
        self._shared, self._by_agent = shared, by_agent

    @classmethod
    def load(cls, location: str) -> Self:
        """Load HITL_POLICY once: a file, or a folder of `<agent>.yaml`. "": there is no policy.

        Raises PolicyError for the first wrong file, and for an empty folder. The text names the setting.
        """
        try:
            return cls._load(Path(location)) if location else cls()
        except PolicyError as error:
            raise PolicyError(f"HITL_POLICY: {error}") from error

    @classmethod
    def _load(cls, path: Path) -> Self:
        if not path.is_dir():
            return cls(Policy.load(path))
        files = sorted(file for file in path.glob("*.yaml") if not file.name.startswith("."))
        if not files:
            raise PolicyError(
                f"{path}: There is no policy in this folder. Each is a file <agent>.yaml."
            )
        return cls(by_agent={file.stem: Policy.load(file) for file in files})

    def __iter__(self) -> Iterator[tuple[str, Policy]]:
        """Each policy with the agent that it is for; "" for every agent."""
        if self._shared is not None:
            yield "", self._shared
        yield from (self._by_agent or {}).items()

    def for_agent(self, agent: str) -> Policy:
        """The agent's policy. Raises ApiProblem if there is none. The agent's name is only looked up among
        the loaded files, and is never used in a path.
        """
        if self._shared is not None:
            return self._shared
        if self._by_agent is None:
            raise ApiProblem(
                "no_policy",
                "The server has no policy for calls over HTTP. Set HITL_POLICY to a policy file, or to a"
                " folder with one file for each agent, and restart the bot.",
            )
        if (policy := self._by_agent.get(agent)) is None:
            raise ApiProblem(
                "no_policy_for_agent",
                f"There is no policy for this agent: {agent}.yaml was not in the folder HITL_POLICY"
                " when the server started.",
            )
        return policy
