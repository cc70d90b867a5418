"""The names of the dialects: the formats in which other systems write interrupts and answers."""

from __future__ import annotations

from typing import Literal

DialectName = Literal[
    "langchain",
    "langchain_per_call",
    "langchain_js",
    "xpertai",
    "sagents",
    "agent_inbox",
    "arcgis",
]
DIALECTS: tuple[DialectName, ...] = (
    "langchain",
    "langchain_per_call",
    "langchain_js",
    "xpertai",
    "sagents",
    "agent_inbox",
    "arcgis",
)
