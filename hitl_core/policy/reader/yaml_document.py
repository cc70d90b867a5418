"""Reads a policy's YAML. PyYAML is imported only when there is a text to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl_core.policy.reader.report import Report

MAX_BYTES = 1024 * 1024
#: Characters by which a text reads like another one: line breaks that end a comment in YAML 1.1, and that
#: many editors and diffs don't show (yaml.org/spec/1.1, b-char), and controls that reorder a line
#: (https://trojansource.codes).
_MISLEADING = re.compile("\r(?!\n)|[\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def parse_yaml(text: str, report: Report) -> object:
    """The data of one YAML document. Fills `report.lines`. Raises InvalidPolicy if the text is not one
    document.
    """
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        report.fail("The policy is larger than 1 MiB.")
    if found := _MISLEADING.search(text):
        report.fail(
            f"The character U+{ord(found[0]):04X} is not allowed: with it, the policy would read like another"
            " one. In text, write it as an escape, in double quotes.",
            line=text.count("\n", 0, found.start()) + 1,
        )
    import yaml

    from hitl_core.policy.reader.yaml_events import QUOTE_GLOB, YamlReader

    try:
        return YamlReader(text, report).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        hint = f" {QUOTE_GLOB}" if error.context and "alias" in error.context else ""
        problem = f"This is not YAML: {error.problem or error.context}.{hint}"
    except yaml.YAMLError as error:
        # A ReaderError has no line, only a position that people can't use.
        line, problem = None, f"This is not YAML: {getattr(error, 'reason', error)}."
    # Not in the `except`: with PyYAML's own traceback, ours is hard to find.
    return report.fail(problem, line=line)
