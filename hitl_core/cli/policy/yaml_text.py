"""Writes an imported policy as YAML. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from hitl_core.cli.terminal import clean
from hitl_core.policy import DEFAULT_DECISIONS, DESCRIPTION_PREFIX, Policy, Rule

#: Text that our reader reads as a number, even if PyYAML doesn't.
_NUMBER = re.compile(r"[-+]?\.?[0-9].*")


def to_yaml(policy: Policy, whens: Mapping[str, object]) -> str:
    """`whens` are the JSON Schemas of the rules' `when`, by tool, because a rule has only the
    compiled form.
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
    """Without anchors, and with quotes around text that a reader could read as another value."""

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
