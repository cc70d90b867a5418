"""Arguments that a tool doesn't take: LangChain would drop or replace them after a person has seen them."""

from __future__ import annotations

from typing import Annotated, Any, cast

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, Tool, tool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, ConfigDict

from hitl_core.errors import DecisionError, HitlError
from hitl_core.integrations.langgraph.arguments.accepted_args import changed_args
from tests.integrations.agents import Lab, Script, answers, call, go
from tests.integrations.langgraph.pauses.test_nested import delegating

RAN: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


class Address(BaseModel):
    street: str


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    to: str


@tool
def pay(
    to: str,
    state: Annotated[dict[str, Any], InjectedState],
    user: Annotated[str, InjectedToolArg] = "nobody",
    address: Address | None = None,
) -> str:
    """Pay somebody."""
    RAN.append((to, user, address and address.street))
    return f"paid {to}"


@tool
async def transfer(to: str, runtime: ToolRuntime) -> str:
    """Transfer."""
    RAN.append(to)
    return f"transferred {to}"


def _note_one(text: str) -> str:
    RAN.append(text)
    return "noted"


def _note(**args: Any) -> str:
    RAN.append(args)
    return "noted"


OPEN = StructuredTool.from_function(_note, name="note", description="Note.", args_schema=Open)
BY_JSON = StructuredTool.from_function(
    _note,
    name="note",
    description="Note.",
    args_schema={"type": "object", "properties": {"to": {"type": "string"}}},
)

BAD = [
    call("c1", "pay", to="a", amount=5),
    call("c1", "pay", to="a", state={"user": "root"}),
    call("c1", "pay", to="a", user="root"),
    call("c1", "pay", to="a", address={"street": "s", "floor": 3}),
    call("c1", "transfer", to="a", runtime={"x": 1}),
]
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


def agent(lab: Lab, *tools: Any, turn: Any, mode: Any = "batched", saver: Any = None) -> Any:
    pauses = HumanInTheLoopMiddleware(
        {"pay": True, "transfer": True, "note": True}, interrupt_mode=mode
    )
    return create_agent(
        Script(turns=[turn]), list(tools), middleware=[pauses], checkpointer=saver, name="payer"
    )


async def refusal_of(lab: Lab, *tools: Any, turn: Any, mode: Any = "batched") -> str:
    """What the model reads about a call of which nobody is asked."""
    driver = lab.reviews.drive(agent(lab, *tools, turn=turn, mode=mode, saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        review = await lab.done(run.review_id)
    status, text = answers(lab.stops[-1])["c1"]
    assert (review.actions, status) == ((), "error")
    return text


@MODES
@pytest.mark.parametrize("bad", BAD)
async def test_nobody_is_asked_about_an_argument_that_the_tool_does_not_take(
    lab: Lab, bad: Any, mode: str
) -> None:
    """Given a call with an unknown argument, an injected one or an unknown key inside of one, then nobody is
    asked, nothing runs, and the model reads which argument it is and that it may call again."""
    text = await refusal_of(lab, pay, transfer, turn=[bad], mode=mode)
    name = next(
        name
        for name in ("amount", "state", "user", "/address/floor", "runtime")
        if name.strip("/").split("/")[0] in bad["args"]
    )
    assert RAN == []
    assert f"`{name}`" in text
    assert "Call it again" in text


@MODES
@pytest.mark.parametrize(
    ("args", "named"),
    [
        ({}, "`to`: Field required"),
        ({"to": "a", "address": {}}, "`/address/street`: Field required"),
        ({"to": ["a"]}, "`to`: Input should be a valid string"),
    ],
    ids=["missing", "missing inside", "wrong"],
)
async def test_nobody_is_asked_about_a_call_that_the_tool_would_refuse(
    lab: Lab, args: Any, named: str, mode: str
) -> None:
    """Given a call without a required argument, or with one of another type, then nobody is asked about what
    could not run, and the model reads what is wrong and that it may call again."""
    turn = [call("c1", "pay", **args)]
    text = await refusal_of(lab, pay, turn=turn, mode=mode)
    assert RAN == []
    assert named in text
    assert "Call it again" in text


async def test_nobody_is_asked_about_a_call_without_what_the_tools_own_schema_requires(
    lab: Lab,
) -> None:
    """Given a tool with a JSON Schema in place of a model, as those of MCP servers have, and a call without
    an argument that it requires, then nobody is asked."""
    note = BY_JSON.model_copy(
        update={"args_schema": {**cast(Any, BY_JSON.args_schema), "required": ["to"]}}
    )
    assert "`to`: Field required" in await refusal_of(lab, note, turn=[call("c1", "note")])
    assert RAN == []


async def test_what_people_have_to_fill_in_may_be_missing(lab: Lab) -> None:
    """Given a rule by which a call can only be edited or rejected, and a call without an argument, then
    people are asked for it."""
    lab.set_policy(default="allow", interrupt_on={"pay": {"allowed_decisions": ["edit", "reject"]}})
    driver = lab.reviews.drive(agent(lab, pay, turn=[call("c1", "pay")], saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, {"to": "b"})
        await lab.done(run.review_id)
    assert RAN == [("b", "nobody", None)]


@MODES
async def test_the_other_calls_of_the_turn_are_asked_about(lab: Lab, mode: str) -> None:
    turn = [BAD[0], call("c2", "pay", to="b", address={"street": "s"})]
    driver = lab.reviews.drive(agent(lab, pay, turn=turn, mode=mode, saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert RAN == [("b", "nobody", "s")]


@pytest.mark.parametrize("given", [OPEN, BY_JSON])
async def test_a_tool_that_takes_any_argument_gets_what_was_approved(lab: Lab, given: Any) -> None:
    """Given a model with extra="allow", or a JSON Schema, with which LangChain doesn't check arguments."""
    turn = [call("c1", "note", to="a", more=1)]
    driver = lab.reviews.drive(agent(lab, given, turn=turn, saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert RAN == [{"to": "a", "more": 1}]


async def test_an_edit_that_adds_such_an_argument_is_refused(lab: Lab) -> None:
    """Given an edit to an argument that is unknown, injected, or inside of one, then it is refused."""
    turn = [call("c1", "pay", to="a")]
    driver = lab.reviews.drive(agent(lab, pay, turn=turn, saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        for bad in BAD[:4]:
            with pytest.raises(HitlError):
                await lab.decide(run.review_id, bad["args"])
        await lab.decide(run.review_id, {"to": "b"})
        await lab.done(run.review_id)
    assert RAN == [("b", "nobody", None)]


async def test_an_edit_that_the_policy_s_own_schema_lets_pass_does_not_run(lab: Lab) -> None:
    """Given a policy with a schema of its own that knows more arguments than the tool, then the guard stops
    the call, and the card says so."""
    schema = {"type": "object", "properties": {"to": {}, "amount": {}}}
    lab.set_policy(default="allow", interrupt_on={"pay": {"args_schema": schema}})
    driver = lab.reviews.drive(agent(lab, pay, turn=[call("c1", "pay", to="a")], saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, {"to": "b", "amount": 5})
        review = await lab.done(run.review_id)
    assert "not executed" in str(review.runs["1"].line)
    assert "`amount`" in answers(lab.stops[-1])["c1"][1]
    assert RAN == []


@MODES
async def test_an_inner_agent_s_call_is_not_asked_about_either(lab: Lab, mode: str) -> None:
    inner = agent(lab, pay, turn=[BAD[0]], mode=mode)
    outer = create_agent(
        Script(turns=[[call("o1", "delegate", task="x")]]),
        [delegating(inner)],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(outer)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        review = await lab.done(run.review_id)
    assert (review.actions, RAN) == ((), [])
    assert "`amount`" in answers(lab.stops[-1])["o1"][1]


@pytest.mark.parametrize("bad", BAD)
async def test_a_free_call_with_such_an_argument_does_not_run(lab: Lab, bad: Any) -> None:
    """With and without a driver: it would run with other arguments than the policy judged."""
    driven = create_agent(Script(turns=[[bad]]), [pay, transfer], checkpointer=lab.saver)
    run = await lab.reviews.drive(driven).run(go(), thread_id="t-1")
    free = lab.reviews.guard(create_agent(Script(turns=[[bad]]), [pay, transfer]))
    state = await free.ainvoke(go())
    assert (run.finished, RAN) == (True, [])
    assert answers(run)["c1"][0] == state["messages"][-2].status == "error"


async def test_a_middleware_that_adds_an_argument_to_a_free_call_is_stopped(lab: Lab) -> None:
    class Adding(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            args = {**request.tool_call["args"], "user": "root"}
            return await handler(request.override(tool_call={**request.tool_call, "args": args}))

    turn = [call("c1", "pay", to="a")]
    made = create_agent(Script(turns=[turn]), [pay], middleware=[Adding()], checkpointer=lab.saver)
    run = await lab.reviews.drive(made).run(go(), thread_id="t-1")
    assert ("`user`" in answers(run)["c1"][1], RAN) == (True, [])


async def test_what_a_tool_takes_is_read_from_its_function_where_it_has_no_model() -> None:
    """Given tools whose arguments LangChain passes on as they are, then the function's own names count."""

    class Plain(BaseTool):
        name: str = "plain"
        description: str = "Plain."

        def _run(self, to: str, runtime: ToolRuntime) -> str:
            return to

    class Any_(BaseTool):
        name: str = "any"
        description: str = "Any."

        def _run(self, to: str, **more: Any) -> str:
            return to

    given = {"to": "a", "more": 1, "runtime": 2}
    assert changed_args(Plain(), given) == ["more", "runtime"]
    assert changed_args(Any_(), given) == []
    assert changed_args(BY_JSON, given) == []


async def test_a_tool_of_one_value_can_be_edited(lab: Lab) -> None:
    """Given LangChain's old kind of tool, whose model reads one name that is no parameter, when people edit
    its value, then it runs with that, and an edit with another name is refused."""
    search = Tool("search", _note_one, "Search.")
    agent = create_agent(
        Script(turns=[[call("c1", "search", __arg1="a")]]),
        [search],
        middleware=[HumanInTheLoopMiddleware({"search": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        with pytest.raises(DecisionError, match="more"):
            await lab.decide(paused.review_id, {"__arg1": "b", "more": "c"})
        await lab.decide(paused.review_id, {"__arg1": "b"})
        await lab.done(paused.review_id)
    assert RAN == ["b"]


@pytest.mark.parametrize("args", [{}, {"a": "x", "b": "y"}], ids=["none", "two"])
async def test_nobody_is_asked_about_a_tool_of_one_value_that_gets_another_number_of_them(
    lab: Lab, args: Any
) -> None:
    note = Tool("note", _note_one, "Note.")
    text = await refusal_of(lab, note, turn=[call("c1", "note", **args)])
    assert RAN == []
    assert "it takes exactly one value" in text
