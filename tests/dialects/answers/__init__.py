"""Reads an answer as the other system does: what our dialects write is read back, and compared. The product
only writes answers.
"""

from __future__ import annotations

from hitl_core.dialects import Dialect
from hitl_core.model import Review
from hitl_core.review import Proposal
from tests.dialects.answers import (
    agent_inbox,
    arcgis,
    langchain,
    langchain_js,
    langchain_per_call,
    sagents,
)

_READERS = {
    "langchain": langchain.read,
    "langchain_per_call": langchain_per_call.read,
    "langchain_js": langchain_js.read,
    "xpertai": langchain_js.read,
    "agent_inbox": agent_inbox.read,
    "sagents": sagents.read,
    "arcgis": arcgis.read,
}


def read_answers(dialect: Dialect, wire: object, review: Review) -> dict[str, Proposal]:
    """The answer as proposals by action key; {} for one without decisions. Raises DecisionError."""
    return _READERS[dialect.name](wire, review)
