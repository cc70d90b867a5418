"""Interrupts that the HTTP API refuses, and answers that their systems have no word for."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.api.client import Client, tool_call
from tests.api.conftest import Open
from tests.api.interrupts import ALL, INTERRUPTS, OK, POLICY, asks, batch, post_interrupt
from tests.support.builders import person

BIG = {"n": 2**53}
TWO = [INTERRUPTS["sagents"]] * 2
BAD_SCHEMA = {**OK, "reviewConfigs": [{**OK["reviewConfigs"][0], "argsSchema": {"type": 7}}]}


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no turn": ({"turn": None}, "/turn", "must be text"),
    "nothing": ({"interrupt": None}, "/interrupt", "not an interrupt"),
    "nobody's": ({"interrupt": {"question": "Really?"}}, "/interrupt", "not an interrupt"),
    "an answer": ({"interrupt": {"decisions": []}}, "/interrupt", "must be a list"),
    "of another system": ({"dialect": "sagents"}, "/interrupt", "not an interrupt of Sagents"),
    "an unknown system": ({"dialect": "slack"}, "/dialect", "langchain_js"),
    "undecidable": ({"interrupt": batch(("ask", {}, []))}, "/interrupt", "nobody could decide"),
    "unsayable": ({"interrupt": batch(("ask", {}, ["respond"]))}, "/interrupt", "can't receive"),
    "a bad name": ({"interrupt": batch(("a b", {}, ALL))}, "/interrupt", "tool name 'a b'"),
    "no arguments": ({"interrupt": batch(("ask", None, ALL))}, "/interrupt", "JSON object"),
    "beyond JavaScript": ({"interrupt": batch(("ask", BIG, ALL))}, "/interrupt", "2^53"),
    "half a text": ({"interrupt": batch(("ask", {"a": "\ud800"}, ALL))}, "/interrupt", "half"),
    "too many": (
        {"interrupt": batch(*[("ask", {}, ALL)] * 101)},
        "/interrupt",
        "at most 100 tool calls",
    ),
    "the same twice": (
        {"interrupt": {"type": "multiple_interrupts", "interrupts": TWO}},
        "/interrupt",
        "its own `turn`",
    ),
    "more than there may be": (
        {"interrupt": {"type": "multiple_interrupts", "interrupts": TWO * 51}},
        "/interrupt",
        "more than 100 interrupts",
    ),
    "several, with calls": (
        {
            "interrupt": {"type": "multiple_interrupts", "interrupts": TWO},
            "calls": [tool_call(n=1)],
        },
        "/calls",
        "can only be sent with one interrupt",
    ),
    "another turn's": (
        {"calls": [tool_call(name="look_up")]},
        "/interrupt",
        "not a call of this turn",
    ),
    "a bad call": ({"calls": [tool_call(a="\ud800")]}, "/calls/0/args", "surrogate"),
    "unasked, but denied": (
        {"calls": [tool_call(n=1), tool_call("c2", "drop_table")]},
        "/interrupt",
        "`drop_table`, but the policy stops that call: The rule `drop_table` denies it.",
    ),
    "unasked, but to be asked": (
        {"calls": [tool_call(n=1), tool_call("c2", "strict")]},
        "/interrupt",
        "`strict`, but the policy stops that call: it requires a person",
    ),
    "denied, and no word for it": (
        {"interrupt": batch(("drop_table", {}, ["approve"]))},
        "/interrupt",
        "accepts no rejection",
    ),
    "decided by none": (
        {"interrupt": batch(("only_answers", {}, ALL))},
        "/interrupt",
        "the interrupt allows only approve, edit, reject, and the policy only respond",
    ),
    "a deadline that can't be told": (
        {"interrupt": batch(("timed", {}, ["approve"]))},
        "/interrupt",
        "deadline would reject `timed`",
    ),
    "a bad schema": ({"interrupt": BAD_SCHEMA}, "/interrupt", "This schema can't be used"),
    "a tool's schema": (
        {"tools": {"ask": {"type": 7}}},
        "/tools",
        "The schema of the tool ask can't be used",
    ),
    "a tool's name": ({"tools": {"a b": None}}, "/tools/a b", "pattern"),
    "tools without end": ({"tools": {"ask": {"a": "x" * 300_000}}}, "/tools", "262,144"),
    "a context with a slip": ({"context": {"interupt_on": {}}}, "/context", "interupt_on"),
    "a context of text": ({"context": "x"}, "/context", "must be an object"),
    "a context of half a text": ({"context": {"a": "\ud800"}}, "/context", "surrogate"),
    "an unknown key": ({"colour": 1}, "/colour", "key is not allowed"),
}


@pytest.mark.parametrize(("wrong", "pointer", "words"), BAD.values(), ids=list(BAD))
async def test_promise_10_what_is_wrong_with_an_interrupt_is_named(
    open_api: Open, store: RedisStore, wrong: dict[str, Any], pointer: str, words: str
):
    """And nothing is stored."""
    client = await open_api(policies=POLICY)
    good = {"thread_id": "t-1", "turn": "m1", "interrupt": OK}

    reply = await client.post("/v1/reviews", {**good, **wrong})

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{pointer}: ")
    assert words in reply.body["detail"]
    assert await store.live_ids() == []


async def test_people_are_offered_only_what_the_system_can_be_told(client: Client):
    """Given an interrupt that allows an answer in the tool's place, which LangChain for JavaScript has no
    word for; then nobody is offered it."""
    reply = await asks(client, "ask", "approve", "respond", "ignore", "reject")

    assert reply.body["actions"][0]["allowed_decisions"] == ["approve", "ignore", "reject"]


@pytest.mark.parametrize("where", ["interrupt", "context", "tools"])
async def test_endless_nesting_is_refused(client: Client, where: str):
    deep = '{"interrupt_on":' * 300 + "1" + "}" * 300
    good = '"thread_id":"t","turn":"m1"' + ("" if where == "interrupt" else ',"interrupt":{}')
    value = f'{{"ask":{deep}}}' if where == "tools" else deep
    body = f'{{{good},"{where}":{value}}}'.encode()

    reply = await client.send("POST", "/v1/reviews", body, Content_Type="application/json")

    assert (reply.status, reply.code) == (422, "invalid")


#: Values that nobody expects, in place of the right one.
JUNK = [None, True, -1, 2**53, 1e308, "", "\u202e", "constructor", "drop_table", "timed", "only_yes",
        [], [None], ["approve"], ["respond"], {}, {"$ref": "#"}, {"type": "object"}]  # fmt: skip


def places(value: Any, parent: Any = None, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """All places in it: a dict or a list, and a key of it."""
    if parent is not None:
        yield parent, key
    each = enumerate(value) if isinstance(value, list) else getattr(value, "items", list)()
    for inner, item in list(each):
        yield from places(item, value, inner)


@pytest.mark.parametrize("seed", range(4))
async def test_promise_10_any_interrupt_is_a_review_or_one_sentence(open_api: Open, seed: int):
    """Given interrupts with parts replaced, gone or doubled; then each is taken or refused, and what is taken
    can be withdrawn and read to its end."""
    client, chance = await open_api(policies=POLICY), random.Random(seed)
    for turn in range(150):
        interrupt = copy.deepcopy(INTERRUPTS[chance.choice(list(INTERRUPTS))])
        for _ in range(chance.randint(1, 3)):
            if not (found := list(places(interrupt))):
                break
            parent, key = chance.choice(found)
            match chance.randint(0, 4):
                case 0:
                    del parent[key]
                case 1 if isinstance(parent, list):
                    parent.append(copy.deepcopy(parent[key]))
                case _:
                    parent[key] = copy.deepcopy(chance.choice(JUNK))

        reply = await post_interrupt(client, interrupt, turn=f"m{turn}")

        assert reply.status in (201, 422), interrupt
        if reply.status == 201:
            ended = await client.post(f"/v1/reviews/{reply.body['id']}/cancel")
            assert ended.status == 200, interrupt


async def test_a_question_cancelled_after_its_answer_has_no_resume(
    client: Client, reviews: Reviews
):
    """Given a person who chose, and an agent that cancels then; then nothing carries
    the choice."""
    asked = {
        "id": "i1",
        "agentId": "map",
        "kind": "singleSelection",
        "message": "Which one?",
        "metadata": {"options": ["Delete all", "Keep"]},
    }
    id = (await post_interrupt(client, asked)).body["id"]
    await reviews.apply(Decide(id, "1", Proposal("respond", 1, answer="Delete all"), person(), "d"))

    cancelled = (await client.post(f"/v1/reviews/{id}/cancel", {})).body

    assert cancelled["resume"] is None
    [answer] = cancelled["outcome"]["answers"]
    assert (answer["status"], "was cancelled" in answer["content"]) == ("error", True)


async def test_an_approval_that_takes_only_a_response_is_refused(client: Client):
    """Sagents' approvals know none: nobody is asked what could not be told."""
    asked = copy.deepcopy(INTERRUPTS["sagents"])
    asked["review_configs"]["ask"]["allowed_decisions"] = ["respond"]
    refused = await post_interrupt(client, asked)
    assert (refused.status, "can't receive respond" in refused.body["detail"]) == (422, True)

    asked["review_configs"]["ask"]["allowed_decisions"] = ["approve", "reject", "respond"]
    [action] = (await post_interrupt(client, asked)).body["actions"]
    assert action["allowed_decisions"] == ["approve", "reject", "ignore"]
