"""A tool gets the exact number that people approved. pydantic can round a number to the tool's annotation
without an error.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import StructuredTool, tool
from pydantic import ByteSize, Json, create_model

from hitl_core.integrations.langgraph.arguments.accepted_args import changed_args
from tests.integrations.agents import Lab, Script, answers, call, go

#: The smallest whole number that a float can't hold.
BIG = 2**53 + 1
RAN: list[float] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool
def pay(account: float) -> str:
    """Pay to an account."""
    RAN.append(account)
    return f"{account:.0f}"


def _note(value: Any) -> str:
    return str(value)


def taking(kind: Any) -> StructuredTool:
    model = create_model("Args", value=(kind, ...))
    return StructuredTool.from_function(_note, name="take", description="Take.", args_schema=model)


def agent(lab: Lab, *, account: object) -> Any:
    return create_agent(
        Script(turns=[[call("c1", "pay", account=account)]]),
        [pay],
        middleware=[HumanInTheLoopMiddleware({"pay": True})],
        checkpointer=lab.saver,
    )


@pytest.mark.parametrize(
    ("kind", "given", "at"),
    [
        (float, BIG, "value"),
        (float, -BIG, "value"),
        (float, str(BIG), "value"),
        (float, f"{BIG}.0", "value"),
        (float, "0.10000000000000000001", "value"),
        (float, "1e999999999999999999999", "value"),
        (float | None, BIG, "value"),
        (str | float, BIG, "value"),
        (complex, BIG, "value"),
        (int, float(2**60), "value"),
        (list[list[float]], [[1, BIG]], "/value/0/1"),
        (tuple[float, ...], [BIG], "/value/0"),
        (set[float], [1, BIG], "value"),
        (frozenset[float], [str(BIG)], "value"),
        (dict[str, float], {"a": BIG}, "/value/a"),
        (dict[float, str], {str(BIG): "a"}, f"/value/{BIG}"),
        (Json[list[float]], f"[{BIG}]", "/value/0"),
        (Json[list[float]], f"[{BIG}.0]", "/value/0"),
    ],
)
def test_a_number_that_the_tool_would_get_rounded_is_named(kind: Any, given: Any, at: str) -> None:
    assert changed_args(taking(kind), {"value": given}) == [at]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (float, 2**53),
        (float, 2**60),
        (float, 3),
        (float, True),
        (float, 0.1),
        (float, "0.1"),
        (float, " 1_000 "),
        (float, "6.02214076e23"),
        (int, 3.0),
        (int, str(BIG)),
        (Decimal, 0.1),
        (Decimal, BIG),
        (Decimal, "0.10000000000000000001"),
        (complex, "1+2j"),
        (Fraction, "1/3"),
        (ByteSize, "2 KB"),
        (set[float], [1, "0.1"]),
        (list[list[float]], [["0.1", 2]]),
        (Json[list[float]], "[0.1, 2]"),
        (Json[list[Decimal]], "[0.1]"),
    ],
)
def test_a_number_that_arrives_exactly_is_no_change(kind: Any, given: Any) -> None:
    assert changed_args(taking(kind), {"value": given}) == []


async def test_nobody_is_asked_about_a_number_that_the_tool_would_round(lab: Lab) -> None:
    driver = lab.reviews.drive(agent(lab, account=BIG))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        review = await lab.done(run.review_id)
    status, text = answers(lab.stops[-1])["c1"]
    assert (review.actions, RAN, status, "`account`" in text) == ((), [], "error", True)


async def test_a_call_with_such_a_number_after_an_edit_does_not_run(lab: Lab) -> None:
    driver = lab.reviews.drive(agent(lab, account=5.0))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, {"account": BIG})
        review = await lab.done(run.review_id)
    assert "not executed" in str(review.runs["1"].line)
    assert "`account`" in answers(lab.stops[-1])["c1"][1]
    assert RAN == []


async def test_a_number_that_a_float_can_hold_is_paid_after_an_edit(lab: Lab) -> None:
    driver = lab.reviews.drive(agent(lab, account=5.0))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, {"account": 2**53})
        await lab.done(run.review_id)
    assert RAN == [2.0**53]
