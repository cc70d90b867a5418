"""A LangGraph whose functions have other local variables than those that the guard reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import langgraph.types
import pytest
from langgraph._internal._runnable import RunnableSeq
from langgraph.pregel import Pregel

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.guard import check_langgraph
from tests.integrations.agents import Lab
from tests.integrations.langgraph.pauses.test_changed_questions import Till, graph_of

_SEQ: Any = RunnableSeq
#: The functions whose variables are read, each with the names of these.
READ = [
    (langgraph.types.interrupt, "value"),
    (langgraph.types.interrupt, "conf"),
    (_SEQ._start, "config"),
    (_SEQ._astart, "config"),
    (Pregel.stream, "config"),
    (Pregel.astream, "config"),
    (Pregel.stream, "self"),
    (Pregel.astream, "self"),
]


@pytest.fixture(autouse=True)
def _try_again() -> Iterator[None]:
    check_langgraph.cache_clear()
    yield
    check_langgraph.cache_clear()


def rename(monkeypatch: pytest.MonkeyPatch, function: Any, name: str) -> None:
    """Give this local variable another name. What the function does stays the same."""
    code = function.__code__
    assert name in code.co_varnames
    names = tuple("renamed" if each == name else each for each in code.co_varnames)
    monkeypatch.setattr(function, "__code__", code.replace(co_varnames=names))


@pytest.mark.parametrize(("function", "name"), READ)
def test_a_langgraph_whose_questions_cannot_be_checked_is_refused(
    monkeypatch: pytest.MonkeyPatch, function: Any, name: str
) -> None:
    rename(monkeypatch, function, name)
    with pytest.raises(
        IntegrationError, match="can't check the questions of agents with LangGraph"
    ):
        check_langgraph()


def test_the_installed_langgraph_is_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    check_langgraph()
    assert [each for each in caplog.records if each.name.startswith("hitl")] == []


async def test_no_agent_is_driven_or_guarded_with_it(
    monkeypatch: pytest.MonkeyPatch, lab: Lab
) -> None:
    agent = graph_of(Till(80, 9000).pay).compile(checkpointer=lab.saver)
    rename(monkeypatch, _SEQ._astart, "config")
    for use in (lab.reviews.drive, lab.reviews.guard):
        with pytest.raises(IntegrationError, match="Install an earlier version of LangGraph"):
            use(agent)
