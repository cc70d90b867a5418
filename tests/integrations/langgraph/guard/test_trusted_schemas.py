"""A policy that trusts the tools' schemas hides what they mark as hidden. If such a schema can't be used,
there is no review.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, Json, SecretStr
from pydantic.v1 import BaseModel as BaseModelV1
from pydantic.v1 import Field as FieldV1

from bot.card import build_card, name_and_arguments
from hitl_core.errors import HitlError
from hitl_core.integrations.langgraph.arguments import schema_of
from hitl_core.jsonschema import check_args, find_hidden, mask_args
from hitl_core.policy import Policy
from tests.integrations.agents import Lab, Script, call, go
from tests.integrations.langgraph.pauses.test_nested import delegating

CANARY = "hunter2secret"
POLICY = {"default": "review", "trust_tool_schemas": True, "interrupt_on": {"delegate": False}}
SECRET: dict[str, Any] = {"writeOnly": True}


class Marked(BaseModel):
    user: str
    password: str = Field(json_schema_extra=SECRET)


class Secret(BaseModel):
    user: str
    password: SecretStr


def as_dict(zip_schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": "login",
        "description": "Log in.",
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string", **SECRET},
            "zip": zip_schema,
        },
    }


def login_tool(model: Any) -> BaseTool:
    def login(**args: Any) -> str:
        return "in"

    return StructuredTool.from_function(
        login, name="login", description="Log in.", args_schema=model
    )


def login_agent(saver: Any, model: Any, *, asks: bool = True, name: str | None = None) -> Any:
    turns: list[Any] = [
        [call("c1", "login", user="ann", password=CANARY), call("c2", "other", n=1)]
    ]

    @tool
    def other(n: int) -> str:
        """Something else."""
        return "other"

    hitl = HumanInTheLoopMiddleware({"login": asks, "other": True})
    tools = [login_tool(model), other]
    return create_agent(
        Script(turns=turns), tools, middleware=[hitl], checkpointer=saver, name=name
    )


def as_itself(saver: Any, model: Any) -> Any:
    return login_agent(saver, model)


def as_a_node(saver: Any, model: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("inner", login_agent(None, model, name="inner"))
    graph.add_edge(START, "inner")
    return graph.compile(checkpointer=saver)


def in_a_tool(saver: Any, model: Any) -> Any:
    inner = login_agent(None, model, name="inner")
    turns: list[Any] = [[call("o1", "delegate", task="log in")]]
    return create_agent(Script(turns=turns), [delegating(inner)], checkpointer=saver)


@pytest.mark.parametrize("make", [as_itself, as_a_node, in_a_tool])
@pytest.mark.parametrize("model", [Marked, Secret, as_dict({"type": "string"})])
async def test_a_value_that_a_trusted_tool_hides_is_on_no_card(
    lab: Lab, make: Callable[..., Any], model: Any
) -> None:
    """H3 a, c: given an agent anywhere in the graph, when its tool calls an argument write-only in any way,
    then people don't see its value."""
    lab.gate.policy = Policy.from_mapping(POLICY)
    run = await lab.reviews.drive(make(lab.saver, model), allow_in_memory=True).run(
        go(), thread_id="t-1"
    )
    review = (await lab.gate.reviews.load(str(run.review_id))).review
    assert [each.hides_values for each in review.calls] == [True, False]
    read = [build_card(review, place) for place in review.places]
    assert CANARY not in repr([read, name_and_arguments(review, "1")])
    assert "ann" in repr(read)


@pytest.mark.parametrize("make", [as_itself, as_a_node, in_a_tool])
@pytest.mark.parametrize(
    "flawed",
    [{"pattern": r"^(\d)\1$"}, {"$ref": "https://example.com/zip.json"},
     {"pattern": "^[a-z]{1,9000}$"}, {"type": "any"}, {"type": "string", "required": True}],
)  # fmt: skip
async def test_a_trusted_schema_that_cannot_be_used_stops_the_review(
    lab: Lab, make: Callable[..., Any], flawed: dict[str, Any]
) -> None:
    """H3 b: given a policy that trusts the tools, when a tool's schema can't be used, then nobody sees a card
    that shows too much: the run says which tool it is, as the HTTP API does."""
    lab.gate.policy = Policy.from_mapping(POLICY)
    driver = lab.reviews.drive(make(lab.saver, as_dict(flawed)), allow_in_memory=True)
    with pytest.raises(HitlError, match="that of 'login' can't be used"):
        await driver.run(go(), thread_id="t-1")


@pytest.mark.parametrize("make", [as_itself, as_a_node])
async def test_a_schema_that_nobody_trusts_may_have_a_flaw(
    lab: Lab, make: Callable[..., Any]
) -> None:
    """Given a policy that doesn't trust the tools, then a flaw of a tool's schema stops nothing."""
    lab.gate.policy = Policy.from_mapping({"default": "review"})
    driver = lab.reviews.drive(make(lab.saver, as_dict({"type": "any"})), allow_in_memory=True)
    assert (await driver.run(go(), thread_id="t-1")).review_id


async def test_the_value_of_a_call_that_needs_nobody_is_hidden_too(lab: Lab) -> None:
    """H3, H4: given an inner agent that doesn't ask about a call which the policy allows, then the review of
    the turn hides its value."""
    lab.gate.policy = Policy.from_mapping({**POLICY, "interrupt_on": {"login": False}})
    graph = StateGraph(MessagesState)
    graph.add_node("inner", login_agent(None, Marked, asks=False, name="inner"))
    graph.add_edge(START, "inner")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver), allow_in_memory=True)
    run = await driver.run(go(), thread_id="t-1")
    review = (await lab.gate.reviews.load(str(run.review_id))).review
    assert [each.verdict.kind for each in review.calls] == ["allow", "review"]
    assert CANARY not in repr(name_and_arguments(review, "1"))


class Card(BaseModel):
    pin: str = Field(alias="PIN", json_schema_extra=SECRET)
    spare: Card | None = None


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    password: str = Field(alias="pw", json_schema_extra=SECRET)
    key: str = Field(
        validation_alias=AliasChoices("k", AliasPath("deep", "key")), json_schema_extra=SECRET
    )
    card: Card


class Tree(BaseModel):
    password: str = Field(json_schema_extra=SECRET)
    child: Tree | None = None


def _mark_password(schema: dict[str, Any]) -> None:
    schema["properties"]["password"].update(SECRET)


class Whole(BaseModel):
    model_config = ConfigDict(json_schema_extra=_mark_password)
    password: str


class Inner(BaseModel):
    password: SecretStr


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SecretStr]  # pyright: ignore[reportIncompatibleVariableOverride]
    user: str = ""


class OpenInside(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[Inner]]  # pyright: ignore[reportIncompatibleVariableOverride]


class InText(BaseModel):
    creds: Json[Inner]
    several: Json[list[Inner]] = Field(default_factory=list)


class Old(BaseModelV1):
    password: str = FieldV1(alias="pw", writeOnly=True)


@tool
def by_parameter(password: Annotated[str, Field(json_schema_extra=SECRET)]) -> str:
    """Log in."""
    return "in"


@pytest.mark.parametrize(
    ("of", "args"),
    [
        (login_tool(Aliased), {"password": CANARY, "card": {"PIN": CANARY, "spare": {"PIN": CANARY}}}),
        (login_tool(Aliased), {"pw": CANARY, "k": CANARY, "card": {"pin": CANARY, "spare": {"pin": CANARY}}}),
        (login_tool(Aliased), {"deep": {"key": CANARY}, "key": CANARY}),
        (login_tool(Tree), {"password": CANARY, "child": {"child": {"password": CANARY}}}),
        (login_tool(Whole), {"password": CANARY}),
        (login_tool(Old), {"password": CANARY}),
        (login_tool(Old), {"pw": CANARY}),
        (by_parameter, {"password": CANARY}),
        (login_tool(Open), {"other": CANARY}),
        (login_tool(OpenInside), {"other": [{"password": CANARY}]}),
        (login_tool(InText), {"creds": f'{{"password": "{CANARY}"}}', "several": f'["{CANARY}"]'}),
    ],
)  # fmt: skip
def test_all_names_under_which_a_tool_reads_a_secret_are_hidden(
    of: BaseTool, args: dict[str, Any]
) -> None:
    """H3 c: LangChain's copy of a model loses aliases and `json_schema_extra`; the review doesn't."""
    schema = schema_of(of)
    assert CANARY not in json.dumps(mask_args(args, find_hidden([schema], args)))


def test_marks_check_nothing() -> None:
    """Given a model with aliases, then the marks that are added to its schema refuse no arguments."""
    args = {"password": "x", "key": "y", "card": {"PIN": "z", "spare": None}}
    assert check_args(schema_of(login_tool(Aliased)), args) == []
