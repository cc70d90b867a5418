"""The function of a tool gets exactly the approved arguments, or the tool does not run."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
from collections.abc import Iterable
from typing import Annotated, Any

import pydantic.v1
import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool
from langgraph.prebuilt import InjectedState
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    Json,
    RootModel,
    StringConstraints,
    model_validator,
)
from typing_extensions import TypedDict

from hitl_core.errors import HitlError
from hitl_core.integrations.langgraph.arguments.accepted_args import changed_args
from tests.integrations.agents import Lab, Script, call, go
from tests.integrations.langgraph.arguments.test_arguments import MODES, agent, refusal_of

RAN: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def note(**args: Any) -> str:
    RAN.append(args)
    return "noted"


async def anote(**args: Any) -> str:
    return note(**args)


def by_model(**fields: Any) -> BaseTool:
    model = pydantic.create_model("Args", **fields)
    return of_model(model)


def of_model(model: Any) -> BaseTool:
    return StructuredTool.from_function(note, anote, "note", "Note.", args_schema=model)


def by_function(function: Any) -> BaseTool:
    return StructuredTool.from_function(function, name="note", description="Note.")


def aliased(alias: Any, **config: Any) -> BaseTool:
    class Aliased(BaseModel):
        model_config = ConfigDict(**config)
        to: str = Field(validation_alias=alias, default="boss")

    return of_model(Aliased)


def deploy(service: str, config: dict[str, Any] | None = None) -> str:
    return note(service=service, config=config)


def stage(service: str, runtime: str = "prod") -> str:
    """LangGraph injects what is named `runtime`, whatever its type is."""
    return note(service=service, runtime=runtime)


def manage(a: int = 0, run_manager: str = "z", callbacks: str = "c") -> str:
    return note(a=a, run_manager=run_manager, callbacks=callbacks)


def configured(a: int = 0, *, settings: RunnableConfig) -> str:
    return note(a=a, settings=settings)


def injected(
    a: int,
    runtime: ToolRuntime,
    state: Annotated[dict[str, Any], InjectedState],
    call_id: Annotated[str, InjectedToolCallId],
) -> str:
    return note(a=a)


def variable(*args: int, **kwargs: Any) -> str:
    return note(args=args, **kwargs)


class Own(BaseTool):
    """A tool with a `_run` of its own, where `config` is a name like any other."""

    name: str = "note"
    description: str = "Note."

    def _run(self, to: str, config: str = "x", run_manager: Any = None) -> str:
        return note(to=to, config=config)


class OwnConfig(Own):
    def _run(self, to: str, settings: RunnableConfig, run_manager: Any = None) -> str:  # type: ignore[override]
        return note(to=to)


class Passing(StructuredTool):
    """A tool that wraps LangChain's own way, and hands `config` on as LangChain's."""

    def _run(self, *args: Any, config: Any = None, run_manager: Any = None, **more: Any) -> Any:
        return super()._run(*args, config=config or {}, run_manager=run_manager, **more)


def passing(function: Any) -> BaseTool:
    return Passing.from_function(function, name="note", description="Note.")


def by_schema(function: Any = None, coroutine: Any = anote, **properties: Any) -> BaseTool:
    """As the MCP adapters make them."""
    schema = {"type": "object", "properties": properties}
    return StructuredTool(
        name="note", description="Note.", args_schema=schema, func=function, coroutine=coroutine
    )


async def of_mcp(runtime: Any = None, **arguments: Any) -> str:
    return note(**arguments)


class Inner(BaseModel):
    x: int = 1


class InnerAliased(BaseModel):
    x: int = Field(alias="ex", default=1)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    to: str = Field(alias="rcpt", default="boss")


class Swapped(BaseModel):
    s: str = ""

    @model_validator(mode="before")
    @classmethod
    def swap(cls, given: Any) -> Any:
        return {**given, "s": "evil"}


class Old(pydantic.v1.BaseModel):
    to: str = pydantic.v1.Field(alias="rcpt", default="boss")
    count: int = 0


class OldOpen(pydantic.v1.BaseModel):
    a: int = 0

    class Config:
        extra = "allow"


class Keys(TypedDict, total=False):
    x: int


@dataclasses.dataclass
class Point:
    x: int = 1


class Color(enum.Enum):
    red = "red"


class Names(RootModel[list[str]]):
    pass


PATHED = aliased(AliasPath("addr", "to"))
CHOICES = aliased(AliasChoices("to", AliasPath("list", -1)))
EVIL = BeforeValidator(lambda given: "evil")

CHANGED = [
    # what LangChain keeps or fills itself
    (by_function(deploy), {"service": "a", "config": {"replicas": 0}}, ["config"]),
    (by_function(stage), {"service": "a", "runtime": "staging"}, ["runtime"]),
    (by_function(manage), {"a": 1, "run_manager": "m"}, ["run_manager"]),
    (by_function(manage), {"a": 1, "callbacks": "m"}, ["callbacks"]),
    (by_function(configured), {"a": 1, "settings": {"x": 1}}, ["settings"]),
    (by_function(injected), {"a": 1, "state": {}, "call_id": "i"}, ["call_id", "state"]),
    (by_function(injected), {"a": 1, "runtime": {}}, ["runtime"]),
    (by_model(config=(dict[str, Any], {}), self=(str, "")), {"config": {}}, ["config"]),
    (OwnConfig(), {"to": "a", "settings": {}}, ["settings"]),
    (OwnConfig(), {"to": "a", "run_manager": "m"}, ["run_manager"]),
    (
        passing(deploy),
        {"service": "a", "config": {"x": 1}},
        ["config"],
    ),
    (by_schema(config={"type": "object"}), {"config": {"x": 1}}, ["config"]),
    (by_schema(run_manager={}), {"run_manager": 1}, ["run_manager"]),
    (by_schema(coroutine=of_mcp, runtime={}), {"runtime": "x"}, ["runtime"]),
    (by_schema(lambda a=0: note(a=a), None, a={}), {"a": 1, "z": 2}, ["z"]),
    # what a model reads from another place, or not at all
    (PATHED, {"to": "x"}, ["to"]),
    (PATHED, {"addr": {"to": "x", "z": 1}}, ["/addr/z"]),
    (CHOICES, {"to": "a", "list": ["b"]}, ["list"]),
    (CHOICES, {"list": ["b", "c"]}, ["/list/0"]),
    (aliased("rcpt"), {"to": "x"}, ["to"]),
    (aliased("rcpt", populate_by_name=True), {"to": "x", "rcpt": "y"}, ["to"]),
    (aliased("rcpt", validate_by_alias=False, validate_by_name=True), {"rcpt": "y"}, ["rcpt"]),
    (of_model(Open), {"to": "x"}, ["to"]),
    (of_model(Old), {"to": "x", "count": 1}, ["to"]),
    (by_model(), {"a": 1}, ["a"]),
    (by_model(i=(Inner, ...)), {"i": {"x": 1, "a/b": 2}}, ["/i/a~1b"]),
    (by_model(i=(list[InnerAliased], ...)), {"i": [{"ex": 1}, {"x": 2}]}, ["/i/1/x"]),
    (by_model(i=(dict[str, Point], ...)), {"i": {"k": {"x": 1, "y": 2}}}, ["/i/k/y"]),
    (by_model(i=(Keys, ...)), {"i": {"x": 1, "y": 2}}, ["/i/y"]),
    (by_model(i=(Inner | Point, ...)), {"i": {"x": 1, "y": 2}}, ["/i/y"]),
    # what arrives as another value
    (by_model(s=(Annotated[str, EVIL], ...)), {"s": "good"}, ["s"]),
    (by_model(s=(list[Annotated[str, EVIL]], ...)), {"s": ["evil", "good"]}, ["/s/1"]),
    (of_model(Swapped), {"s": "good"}, ["s"]),
    (by_model(i=(Swapped, ...)), {"i": {"s": "good"}}, ["/i/s"]),
    (of_model(Old), {"rcpt": "x", "count": 1.9}, ["count"]),
]

#: The arguments, and those that the function gets beside defaults.
SAME: list[tuple[BaseTool, dict[str, Any], dict[str, Any]]] = [
    (by_function(deploy), {"service": "a"}, {"service": "a", "config": None}),
    (by_function(variable), {"kwargs": {"a": 1}}, {"args": (), "kwargs": {"a": 1}}),
    (Own(), {"to": "a", "config": "y"}, {"to": "a", "config": "y"}),
    (
        passing(manage),
        {"a": 1},
        {"a": 1, "run_manager": "z"},
    ),
    (Tool("note", lambda text: note(text=text), "Note."), {"config": "y"}, {"text": "y"}),
    (by_schema(), {"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}),
    (by_schema(coroutine=of_mcp), {"a": 1}, {"a": 1}),
    (PATHED, {"addr": {"to": "x"}}, {"to": "x"}),
    (CHOICES, {"list": ["b"]}, {"to": "b"}),
    (aliased("rcpt"), {"rcpt": "x"}, {"to": "x"}),
    (aliased("rcpt", populate_by_name=True), {"to": "x"}, {"to": "x"}),
    (of_model(Open), {"rcpt": "x", "more": [1]}, {"to": "x", "more": [1]}),
    (of_model(Old), {"rcpt": "x", "count": "1"}, {"to": "x", "count": 1}),
    (of_model(OldOpen), {"a": 1, "z": 2}, {"a": 1, "z": 2}),
    (by_model(i=(list[InnerAliased], ...)), {"i": [{"ex": 2}]}, {"i": [InnerAliased(ex=2)]}),
    (by_model(i=(Point, ...)), {"i": {"x": 2}}, {"i": Point(2)}),
    (by_model(i=(Names, ...)), {"i": ["a"]}, {"i": Names(["a"])}),
    (by_model(i=(dict[int, Inner], ...)), {"i": {"1": {"x": 2}}}, {"i": {1: Inner(x=2)}}),
    (by_model(i=(Json[list[int]], ...)), {"i": "[1]"}, {"i": [1]}),
    (by_model(i=(int, ...), f=(float, ...)), {"i": "5", "f": 1}, {"i": 5, "f": 1.0}),
    (
        by_model(b=(bool, ...), c=(Color, ...)),
        {"b": "yes", "c": "red"},
        {"b": True, "c": Color.red},
    ),
    (by_model(i=(set[int], ...)), {"i": [1, 1, 2]}, {"i": {1, 2}}),
    (by_model(i=(tuple[str, int], ...)), {"i": ["a", 1]}, {"i": ("a", 1)}),
    (by_model(i=(decimal.Decimal, ...)), {"i": "1.0"}, {"i": decimal.Decimal("1.0")}),
    (by_model(i=(datetime.date, ...)), {"i": "2024-01-01"}, {"i": datetime.date(2024, 1, 1)}),
    (by_model(i=(HttpUrl, ...)), {"i": "http://a.com"}, {"i": HttpUrl("http://a.com")}),
    (
        by_model(s=(Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)], ...)),
        {"s": " ABC "},
        {"s": "abc"},
    ),
]


@pytest.mark.parametrize(("tool", "args", "names"), CHANGED)
def test_what_would_not_arrive_is_named(
    tool: BaseTool, args: dict[str, Any], names: list[str]
) -> None:
    assert changed_args(tool, args) == names


@pytest.mark.parametrize(("tool", "args", "received"), SAME)
async def test_what_arrives_is_accepted(
    tool: BaseTool, args: dict[str, Any], received: dict[str, Any]
) -> None:
    """Given arguments that pydantic converts by their types, then they are accepted, and LangChain gives the
    function these, also where it runs the coroutine."""
    given = {"type": "tool_call", "id": "c1", "name": tool.name, "args": args}
    assert changed_args(tool, args) == []
    await tool.ainvoke(given)
    if getattr(tool, "func", note) is not None:
        await asyncio.to_thread(tool.invoke, given)
    assert [{**each, **received} for each in RAN] == RAN
    assert RAN


def test_a_lazy_value_is_compared() -> None:
    assert changed_args(by_model(i=(Iterable[int], ...)), {"i": [1, "2"]}) == []


def test_injected_fields_hide_no_change() -> None:
    """Given a model with a required field that LangGraph injects, then its other arguments are compared. An
    argument that the tool itself refuses is a case for people, who may edit it."""

    class Injected(BaseModel):
        state: Annotated[dict[str, Any], InjectedState]
        to: str = Field(validation_alias=AliasPath("addr", "to"), default="boss")
        s: Annotated[str, EVIL] = ""
        count: int = 0

    class Doubtful(Injected):
        @model_validator(mode="after")
        def check(self) -> Any:
            assert self.state["user"]
            return self

    assert changed_args(of_model(Injected), {"addr": {"to": "x"}}) == []
    assert changed_args(of_model(Injected), {"to": "x"}) == ["to"]
    assert changed_args(of_model(Injected), {"s": "good"}) == ["s"]
    assert changed_args(of_model(Injected), {"count": "many"}) == []
    assert changed_args(of_model(Doubtful), {"count": 1}) == ["count"]


BAD = [
    (by_function(deploy), {"service": "a", "config": {"replicas": 0}}, "config"),
    (by_schema(config={"type": "object"}), {"config": {"replicas": 0}}, "config"),
    (PATHED, {"to": "x"}, "to"),
    (of_model(Swapped), {"s": "good"}, "s"),
]


@MODES
@pytest.mark.parametrize(("tool", "args", "name"), BAD)
async def test_nobody_is_asked_about_what_would_not_arrive(
    lab: Lab, tool: BaseTool, args: dict[str, Any], name: str, mode: str
) -> None:
    turn = [call("c1", "note", **args)]
    assert f"`{name}`" in await refusal_of(lab, tool, turn=turn, mode=mode)
    assert RAN == []


async def test_an_edit_that_adds_such_an_argument_is_refused(lab: Lab) -> None:
    turn = [call("c1", "note", service="a")]
    driver = lab.reviews.drive(agent(lab, by_function(deploy), turn=turn, saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        with pytest.raises(HitlError):
            await lab.decide(run.review_id, {"service": "a", "config": {"replicas": 0}})
        await lab.decide(run.review_id, {"service": "b"})
        await lab.done(run.review_id)
    assert [each["service"] for each in RAN] == ["b"]


@pytest.mark.parametrize(("tool", "args", "name"), BAD)
async def test_the_guard_stops_such_a_call_without_a_driver(
    lab: Lab, tool: BaseTool, args: dict[str, Any], name: str
) -> None:
    """Given a call that the policy allows without a review, then it doesn't run with other arguments."""
    made = create_agent(Script(turns=[[call("c1", "note", **args)]]), [tool])
    state = await lab.reviews.guard(made).ainvoke(go())
    assert (f"`{name}`" in state["messages"][-2].text, RAN) == (True, [])
