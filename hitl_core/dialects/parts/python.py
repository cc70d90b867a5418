"""One decision in the format of LangChain for Python, the same in both of its modes."""

from __future__ import annotations

from hitl_core.dialects.parts.config import ConfigFormat
from hitl_core.model import DecisionType

PYTHON_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond")
CONFIG_FORMAT = ConfigFormat(
    dialect="langchain",
    rules="interrupt_on",
    prefix="description_prefix",
    allowed="allowed_decisions",
    schema="args_schema",
    override="allow_override",
    known=PYTHON_DECISIONS,
    everything=PYTHON_DECISIONS,
    python=True,
)
