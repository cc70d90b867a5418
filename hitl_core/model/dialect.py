"""The names of the wire formats that other systems write their interrupts and answers in."""

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
