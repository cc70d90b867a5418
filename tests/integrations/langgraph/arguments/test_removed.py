"""An argument that an edit removes does not come back as a default of the tool."""

from __future__ import annotations

from typing import Any

import pydantic.v1
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from tests.integrations.agents import Lab, Script, answers, call, go

RAN: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def note(**args: Any) -> str:
    RAN.append(args)
    return "noted"


def plain(to: str, copy_to: str = "boss", memo: str | None = None) -> str:
    return note(to=to, copy_to=copy_to, memo=memo)


class Options(BaseModel):
    copy_to: str = "boss"
    memo: str | None = None


class Nested(BaseModel):
    to: str
    options: Options


class Several(BaseModel):
    to: str
    parts: list[Options]


class Aliased(BaseModel):
    to: str
    copies: str = Field(default="boss", validation_alias="copy_to")


class Old(pydantic.v1.BaseModel):
    to: str
    copy_to: str = "boss"


def of_schema(schema: Any, function: Any = note) -> BaseTool:
    return StructuredTool.from_function(function, None, "note", "Note.", args_schema=schema)


#: Its function has the default, and the schema says nothing of it.
BARE = {"type": "object", "properties": {"to": {}, "copy_to": {}, "memo": {}}}
ALL = {"to": "a", "copy_to": "me", "memo": "x"}
TO = {"to": "a"}


@pytest.mark.parametrize(
    ("tool", "given", "edited", "where"),
    [
        (StructuredTool.from_function(plain, None, "note", "Note."), ALL, TO, "copy_to"),
        (of_schema(BARE, plain), ALL, TO, "copy_to"),
        (of_schema(Old), {"to": "a", "copy_to": "me"}, TO, "copy_to"),
        (of_schema(Aliased), {"to": "a", "copy_to": "me"}, TO, "copy_to"),
        (
            of_schema(Nested),
            {"to": "a", "options": {"copy_to": "me", "memo": "x"}},
            {"to": "a", "options": {}},
            "/options/copy_to",
        ),
        (
            of_schema(Several),
            {"to": "a", "parts": [{"copy_to": "me"}, {"copy_to": "you", "memo": "x"}]},
            {"to": "a", "parts": [{"copy_to": "me"}, {"memo": "x"}]},
            "/parts/1/copy_to",
        ),
        (
            of_schema(Several),
            {"to": "a", "parts": [{"copy_to": "me", "memo": "x"}, {"memo": "x"}]},
            {"to": "a", "parts": [{"memo": "x"}, {"memo": "x"}]},
            "/parts/0/copy_to",
        ),
        (
            of_schema(Several),
            {"to": "a", "parts": [{"copy_to": "me"}, {"copy_to": "you", "memo": "x"}]},
            {"to": "a", "parts": [{"memo": "x"}]},
            "/parts/0/copy_to",
        ),
    ],
    ids=["function", "schema", "pydantic 1", "alias", "nested", "list", "equal items", "shorter"],
)
async def test_what_an_edit_removes_does_not_come_back_as_a_default(
    lab: Lab, tool: BaseTool, given: Any, edited: Any, where: str
) -> None:
    """Given an edit that removes a value for which the tool has a default, then the tool does not run, and
    its card says why."""
    review = await run_edited(lab, tool, given, edited)
    assert RAN == []
    line = review.runs["1"].line or ""
    assert f"not executed: an edit removed `{where}`, and the tool would use its default" in line
    status, text = answers(lab.stops[-1])["c1"]
    assert status == "error"
    assert "NOT executed" in text


async def test_what_the_model_leaves_out_has_its_default(lab: Lab) -> None:
    """Given a value that the model did not give, or whose default is nothing, then the tool runs."""
    tool = StructuredTool.from_function(plain, None, "note", "Note.")
    await run_edited(lab, tool, {"to": "a", "memo": "x"}, {"to": "b"})
    assert RAN == [{"to": "b", "copy_to": "boss", "memo": None}]


@pytest.mark.parametrize(
    "parts",
    [[{"memo": "x"}], [{"memo": "x"}, {"copy_to": "me"}], [{"copy_to": "you"}, {"memo": "x"}]],
    ids=["shorter", "in another order", "another value"],
)
async def test_items_that_an_edit_keeps_have_their_defaults(lab: Lab, parts: Any) -> None:
    """Given an edit that removes, moves or changes items of a list, then the tool runs: an item to which the
    model gave no value has the default."""
    given = {"to": "a", "parts": [{"copy_to": "me"}, {"memo": "x"}]}
    await run_edited(lab, of_schema(Several), given, {"to": "a", "parts": parts})
    [ran] = RAN
    assert [each.copy_to for each in ran["parts"]] == [
        each.get("copy_to", "boss") for each in parts
    ]


async def run_edited(lab: Lab, tool: BaseTool, given: Any, edited: Any) -> Any:
    agent = create_agent(
        Script(turns=[[call("c1", "note", **given)]]),
        [tool],
        middleware=[HumanInTheLoopMiddleware({"note": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, edited)
        return await lab.done(run.review_id)
