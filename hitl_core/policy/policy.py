"""The policy: which of an agent's tool calls need a person."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from hitl_core.model import ToolCall
from hitl_core.policy.document import MAX_BYTES, parse
from hitl_core.policy.glob import covers, is_glob
from hitl_core.policy.node import Node
from hitl_core.policy.read import read_policy
from hitl_core.policy.report import Report
from hitl_core.policy.rule import Rule
from hitl_core.policy.ruling import Ruling


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """`rules` are in the order of the file; `default` speaks where none of them matches.

    `digest` is the SHA-256, in hex, of the source; of a callable it covers the name only.
    """

    name: str
    default: Rule
    rules: tuple[Rule, ...]
    digest: str

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a YAML file. Raises PolicyError with file, line and key of what is wrong."""
        report = Report(str(path))
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            report.stop("There is no such file.")
        except IsADirectoryError:
            report.stop("This is a directory; a policy is a YAML file.")
        except OSError as error:
            report.stop(f"The file can't be read: {error.strerror or error}.")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            report.stop("The file is not UTF-8 text.")
        return cls.from_yaml(text, name=str(path))

    @classmethod
    def from_yaml(cls, text: str, *, name: str = "policy") -> Self:
        """From YAML. Raises PolicyError with the line and the key of what is wrong."""
        report = Report(name)
        default, rules = read_policy(Node(parse(text, report), (), report))
        return cls(name, default, rules, _digest(text))

    @classmethod
    def from_mapping(cls, config: Mapping[str, Any], *, name: str = "policy") -> Self:
        """From Python: the same keys. Raises PolicyError with the key of what is wrong.

        A rule's `when` may be a callable `(args) -> bool` here, and its `description` one
        `(args) -> str`. Both are plain functions, called once a call, with arguments of their own.
        """
        default, rules = read_policy(Node(config, (), Report(name)))
        return cls(name, default, rules, _digest(json.dumps(config, default=_plain)))

    def judge(self, call: ToolCall) -> Ruling:
        """One ruling for every call; never raises. The first rule that matches speaks."""
        rulings = (rule.judge(call) for rule in self._candidates(call.name))
        return next(ruling for ruling in rulings if ruling is not None)

    def _candidates(self, tool: str) -> Iterator[Rule]:
        """The exact name, then the globs in the order of the file, then the default."""
        yield from (rule for rule in self.rules if rule.name == tool)
        for rule in self.rules:
            if rule.name and is_glob(rule.name) and covers(rule.name, tool):
                yield rule
        yield self.default


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def _plain(value: object) -> object:
    """For the digest: other mappings as objects, callables by their name."""
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, object], value))
    return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
