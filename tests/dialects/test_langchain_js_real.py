"""The real LangChain for JavaScript interrupts and accepts our answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.gate import JudgedCalls, Outcome
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.model import ToolCall, encode
from hitl_core.review import DecideAll
from hitl_core.review.edits.proposal import Proposal
from tests.dialects.conformance import ADA, Running, a_gate
from tests.support.processes.node import langchain_js

pytestmark = pytest.mark.node
Json = dict[str, Any]
SCRIPT = Path(__file__).with_name("langchain_js_agent.mjs")
JS = dialects.get("langchain_js")
ODD = {
    "to": "bob",
    "whole": 2.0,
    "small": 1e-7,
    "large": 1e21,
    "half": 0.5,
    "text": 'ü\n"\u2028\u0007',
    "10": [],
    "9": {},
    "deep": {"list": [1, None, [True]]},
}
CONFIG: Json = {
    "interruptOn": {
        "send": True,
        "drop": {"allowedDecisions": ["approve", "reject"], "description": "Drop it?"},
        "edit_me": {
            "allowedDecisions": ["edit"],
            "argsSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    },
    "descriptionPrefix": "Please look",
}
CALLS = [
    {"id": "c1", "name": "send", "args": ODD},
    {"id": "c2", "name": "read", "args": {}},
    {"id": "c3", "name": "drop", "args": {"table": "users"}},
    {"id": "c4", "name": "edit_me", "args": {"n": 1}},
]


class Agent:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def say(self, value: Any) -> Any:
        """One line of JSON in, the next one out."""
        self._in.write(json.dumps(value) + "\n")
        self._in.flush()
        return json.loads(self._out.readline())


@contextmanager
def an_agent() -> Iterator[Agent]:
    process = subprocess.Popen(
        ["node", str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "HITL_NODE_MODULES": str(langchain_js())},
    )  # fmt: skip
    try:
        yield Agent(process)
    finally:
        process.kill()
        process.communicate()


async def decide(asked: JudgedCalls, **kinds: Proposal) -> Outcome:
    async with a_gate() as gate:
        running = await Running.start(gate, JS, asked)
        keys = {action.request.name: action.key for action in running.review.actions}
        proposals = {key: kinds.get(name, Proposal("reject", 1)) for name, key in keys.items()}
        await gate.reviews.apply(DecideAll(running.review.id, proposals, ADA, "op"))
        return await running.outcome()


def turn(calls: list[Json]) -> list[ToolCall]:
    return [ToolCall.from_mapping(call) for call in calls]


async def test_its_configuration_asks_what_it_asks() -> None:
    with an_agent() as agent:
        raised = agent.say({"config": CONFIG, "calls": CALLS})
    asked = await judge_calls(JS.load_policy(CONFIG), turn(CALLS))
    async with a_gate() as gate:
        running = await Running.start(gate, JS, asked)
    assert JS.dump_request(running.review) == raised
    assert dialects.detect(raised) == "langchain_js"


async def test_its_interrupt_becomes_our_review_and_our_answer_resumes_it() -> None:
    with an_agent() as agent:
        raised = agent.say({"config": CONFIG, "calls": CALLS})
        outcome = await decide(
            JS.load_request(raised, "1", turn(CALLS)),
            send=Proposal("approve", 1),
            drop=Proposal("approve", 1),
            edit_me=Proposal("edit", 1, args=encode({"n": 2})),
        )
        ended = agent.say(JS.dump_decisions(outcome.review))
    ours = [{"name": call.name, "args": call.args} for call in outcome.execute]
    assert sorted(ended["ran"], key=str) == sorted(ours, key=str)


async def test_its_model_gets_the_same_answers_as_ours() -> None:
    """If everything is rejected. If only a part is rejected, it drops the rest."""
    calls = [CALLS[0], CALLS[2]]
    with an_agent() as agent:
        raised = agent.say({"config": CONFIG, "calls": calls})
        asked = JS.load_request(raised, "1", turn(calls))
        outcome = await decide(asked, drop=Proposal("reject", 1, "not today"))
        ended = agent.say(JS.dump_decisions(outcome.review))
    assert ended["ran"] == []
    assert ended["told"] == [answer._asdict() for answer in outcome.answers]
