"""`hitl policy import DIALECT FILE`: writes another system's configuration as a policy, in YAML."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from hitl_core import dialects
from hitl_core.cli.command import add_command
from hitl_core.cli.terminal import clean, complain, note, say, say_problems
from hitl_core.forms import read_json
from hitl_core.model import DIALECTS
from hitl_core.policy import (
    DEFAULT_DECISIONS,
    DESCRIPTION_PREFIX,
    InvalidPolicy,
    Policy,
    Problem,
    Report,
    Rule,
    format_key_path,
    parse_yaml,
)

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_EPILOG = """\
examples:
  $ hitl policy import langchain hitl.json > policy.yaml
  $ cat hitl.json
  {"interrupt_on": {"send_email": true, "read_file": false}}
  $ hitl policy import sagents interrupts.yaml | tee policy.yaml

The file is JSON or YAML, with the options of the system: for LangChain for
Python the middleware's arguments, {"interrupt_on": …, "edit_notice": …}; for
LangChain for JavaScript and XpertAI {"interruptOn": …}; for Sagents
{"interrupt_on": …}; for ArcGIS {"agent": …, "tools": …}. The policy has the
same meaning: tools that are not listed run without a review, and names are
not patterns.

A file can't contain functions. If `when` or `description` is one, the command
names it and prints no policy. Write a JSON Schema in its place, or load the
configuration in Python: hitl_core.dialects.get("langchain").load_policy(…).

Exits with 0; 1 if the configuration is invalid or can't be written as YAML; 2
if the command is wrong, or the system has no configuration.
"""
_FUNCTION_MESSAGE = "This is a function, which a file can't contain."
_SCHEMA_MESSAGE = (
    f"{_FUNCTION_MESSAGE} Write a JSON Schema over the arguments,"
    " or load the configuration in Python."
)
_TEXT_MESSAGE = f"{_FUNCTION_MESSAGE} Write a text, or load the configuration in Python."
#: How Python prints a function.
_REPR = re.compile(r"<.+ at 0x[0-9a-fA-F]+>")
_RULES = ("interrupt_on", "interruptOn")


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "import",
        run,
        help="write another system's configuration as a policy",
        epilog=_EPILOG,
    )
    parser.add_argument("dialect", metavar="DIALECT", choices=DIALECTS, help=", ".join(DIALECTS))
    parser.add_argument(
        "file", metavar="FILE", help="its configuration, JSON or YAML; - reads standard input"
    )


def run(args: argparse.Namespace) -> int:
    try:
        data = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
    except OSError as error:
        return complain(f"{args.file} can't be read: {error.strerror or error}.")
    try:
        policy, text = import_policy(args.dialect, data, args.file)
    except InvalidPolicy as error:
        return say_problems(error, to=sys.stderr)
    if policy.dialect == "langchain_per_call":
        note("A policy has no `interrupt_mode`: keep it in the agent's middleware.")
    say(f"# Imported from {args.dialect}. Tools that are not listed run without a review.")
    print(text, end="")
    if policy.allow_override:
        note("The policy has allow_override: write the configuration of a run with our keys now.")
    return 0


def import_policy(dialect: str, data: bytes, name: str) -> tuple[Policy, str]:
    """The policy, and its YAML. Raises InvalidPolicy, UnsupportedByDialect."""
    config = _parse_config(data, name)
    policy = _load_policy(dialect, config, name)
    return policy, to_yaml(
        policy, {tool: rule.get("when") for _, tool, rule in _list_rules(config)}
    )


def _parse_config(data: bytes, name: str) -> Mapping[str, Any]:
    """Raises InvalidPolicy."""
    report = Report(name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        report.fail("The file is not UTF-8 text.")
    if not text.strip():
        report.fail("The file is empty.")
    if not text.lstrip().startswith("{"):
        return cast(Mapping[str, Any], parse_yaml(text, report))
    try:
        return read_json(text)
    except ValueError as error:
        report.fail(f"This {error}.")


def _load_policy(dialect: str, config: Mapping[str, Any], name: str) -> Policy:
    """Raises InvalidPolicy, UnsupportedByDialect. Functions that were printed into the file get their own
    error; Sagents has none.
    """
    functions = {} if dialect == "sagents" else dict(_find_functions(config))
    lost_functions = [
        Problem(name, None, path, message)
        for path, message in functions.items()
        if message == _TEXT_MESSAGE
    ]
    try:
        policy = dialects.get(dialect).load_policy(config, name=name)
    except InvalidPolicy as error:
        problems = [replace(p, message=functions.get(p.path, p.message)) for p in error.problems]
        raise InvalidPolicy([*problems, *lost_functions]) from error
    if lost_functions:
        raise InvalidPolicy(lost_functions)
    return policy


def _find_functions(config: object) -> Iterator[tuple[str, str]]:
    """The path of each printed function, and the error text for it."""
    for key, name, rule in _list_rules(config):
        when, description = rule.get("when"), rule.get("description")
        if isinstance(when, str):
            yield format_key_path((key, name, "when")), _SCHEMA_MESSAGE
        if isinstance(description, str) and _REPR.fullmatch(description):
            yield format_key_path((key, name, "description")), _TEXT_MESSAGE


def _list_rules(config: object) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each tool with a detailed rule: the key of the map of tools, the tool's name, and the rule."""
    for key in _RULES:
        for name, rule in _as_mapping(_as_mapping(config).get(key)).items():
            if entries := _as_mapping(rule):
                yield key, name, entries


def _as_mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


#: Text that our reader reads as a number, even if PyYAML doesn't.
_NUMBER = re.compile(r"[-+]?\.?[0-9].*")


def to_yaml(policy: Policy, whens: Mapping[str, object]) -> str:
    """The policy as YAML. `whens`: the JSON Schemas of the rules' `when`, by tool; a rule has them only
    compiled.
    """
    config: dict[str, Any] = {"default": policy.default.kind}
    if policy.allow_override:
        config["allow_override"] = True
    if policy.default.prefix.strip() not in ("", DESCRIPTION_PREFIX):
        config["description_prefix"] = policy.default.prefix
    if policy.edit_notice is not None:
        config["edit_notice"] = policy.edit_notice
    config["interrupt_on"] = {
        str(rule.name): _rule_to_yaml(rule, whens.get(str(rule.name))) for rule in policy.rules
    }
    dumped = yaml.dump(config, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    text = "\n".join(map(clean, dumped.split("\n")))
    Policy.from_yaml(text, name=f"{policy.name}, as YAML")  # raises if our reader refuses it
    return text


def _rule_to_yaml(rule: Rule, when: object) -> object:
    if rule.kind == "allow":
        return False
    entry: dict[str, Any] = {}
    if rule.allowed_decisions != DEFAULT_DECISIONS:
        entry["allowed_decisions"] = list(rule.allowed_decisions)
    if isinstance(rule.description, str) and rule.description.strip():
        entry["description"] = rule.description
    if rule.when is not None:
        entry["when"] = when
    for key in ("args_schema", "answer_schema"):
        if (schema := getattr(rule, key)) is not None:
            entry[key] = schema
    if rule.output is not None:
        entry["output"] = rule.output.model_dump()
    return entry or True


class _Dumper(yaml.SafeDumper):
    """Writes no anchors, and quotes every text that a reader could read as another value."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        # Inside double quotes, the escapes of `clean` are YAML's own escapes.
        plain = clean(text) == text and not _NUMBER.fullmatch(text)
        return cast(Any, self).represent_scalar(
            "tag:yaml.org,2002:str", text, None if plain else '"'
        )

    def represent_items(self, items: list[object]) -> yaml.Node:
        flat = not any(isinstance(item, list | dict) for item in items)
        return self.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flat)


cast(Any, _Dumper).add_representer(str, _Dumper.represent_text)
cast(Any, _Dumper).add_representer(list, _Dumper.represent_items)
