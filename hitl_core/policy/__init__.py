"""The policy: which tool calls run, which need a person, and which are denied.

`Policy` reads the YAML file and judges a `ToolCall`; the result is a `Ruling`. It is pure, except that
`Policy.load` reads a file.
"""

from hitl_core.policy.policy import Policy
from hitl_core.policy.reader.report import InvalidPolicy, Problem
from hitl_core.policy.ruling import Ruling

__all__ = ["InvalidPolicy", "Policy", "Problem", "Ruling"]
