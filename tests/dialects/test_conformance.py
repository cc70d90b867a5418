"""The cases of six systems, most of them from their own tests, run through our dialects.

We do what the other system does, with the same messages. Where its behaviour is a defect (`peer_bug`), we do
what the case calls better.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hitl_core.dialects import agent_inbox, arcgis, sagents
from hitl_core.errors import DecisionError, InvalidToolCall, UnsupportedByDialect
from hitl_core.gate.submission.calls import freeze_calls, judge_calls
from hitl_core.model import ToolCall, encode
from hitl_core.policy import InvalidPolicy
from hitl_core.review import DecideAll
from hitl_core.review.edits.proposal import Proposal
from tests.dialects.answers import read_answers
from tests.dialects.answers.agent_inbox import page_offers
from tests.dialects.conformance import (
    ADA,
    ALLOW_ALL,
    Case,
    Json,
    Running,
    a_gate,
    call_functions,
    render,
    results,
)

DATA = Path(__file__).parents[1] / "data"
#: The cases of the systems themselves, and more of the same kinds.
FILES = (DATA / "conformance.json", DATA / "conformance-more.json")
CASES = [Case(data) for file in FILES for data in json.loads(file.read_text("utf-8"))]

#: What can't apply to us, and why.
EXCLUDED = {
    "lcpy-041": "the private state of LangChain's middleware between two turns: a review has no next turn",
    "lcpy-065": "an empty tool call id is refused here: no answer could be matched to it",
    "lcjs-004": "the defect of lcjs-020 in a test that doesn't see it: asserted as `better` says",
    "sagents-048": "which of Sagents' middlewares claims a resume; without a review nobody is asked",
}
BUGS = [c for c in CASES if c.kind == "peer_bug" or c.rejects_some]
SAME = [c for c in CASES if c not in BUGS and c.id not in EXCLUDED]


def ids(case: Case) -> str:
    return case.id


@pytest.mark.parametrize("case", SAME, ids=ids)
async def test_what_the_peer_does(case: Case) -> None:
    check = {
        "config_error": a_config_error,
        "run_error": run_error,
        "configured": check_config,
        "restorable": restorable,
        "not_claimed": restorable,
        "no_interrupt": no_interrupt,
        "interrupt": check_interrupt,
        "completed": check_completion,
        "decisions_valid": check_completion,
        "resume_error": resume_error,
        "annotated": check_notice,
        "rendered": in_the_inbox,
        "default_response": check_offer,
        "resume_value": check_resume,
        "thread_ended": check_cancellation,
        "payload": a_payload,
        "wire_types": wire_types,
    }[case.outcome]
    await check(case)


def test_few_cases_are_left_out() -> None:
    assert len(EXCLUDED) <= 12
    assert EXCLUDED.keys() <= {case.id for case in CASES}


# ------------------------------------------------------------------------------ configurations


async def a_config_error(case: Case) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        case.policy()
    assert [p.message for p in caught.value.problems] == [case.expect["error"]["message"]]


async def run_error(case: Case) -> None:
    """An error that LangChain for JavaScript raises at the first turn is raised here on loading; one that it
    raises while it resumes, when the answer comes."""
    if case.decisions is not None:
        await resume_error(case)
        return
    with pytest.raises(InvalidPolicy) as caught:
        case.policy()
    assert caught.value.problems[0].path.startswith("interruptOn.")
    assert "allowedDecisions" in str(caught.value)


async def check_config(case: Case) -> None:
    policy = case.policy()
    if "resolved_interrupt_on" not in case.expect:
        return
    resolved = {
        rule.name: {
            "allowed_decisions": list(rule.allowed_decisions) if rule.kind == "review" else []
        }
        for rule in policy.rules
    }
    assert resolved == case.expect["resolved_interrupt_on"]


async def restorable(case: Case) -> None:
    """Sagents asks its middlewares which of them an interrupt belongs to."""
    claimed = sagents.is_approval(case.data["interrupt_data"])
    assert claimed == case.expect.get("value", False)


# ------------------------------------------------------------------------------------- turns


async def no_interrupt(case: Case) -> None:
    policy = case.policy()
    if not case.calls:
        with pytest.raises(InvalidToolCall, match="no tool call to review"):
            freeze_calls(case.calls)
        return
    async with a_gate() as gate:
        running = await Running.start(gate, case.dialect, await case.judge(policy))
        assert running.review.actions == ()
        same(case, results(case, await running.outcome()))


async def check_interrupt(case: Case) -> None:
    async with a_gate() as gate:
        running = await start(gate, case)
        same_request(case, running)
        if case.decisions is not None:
            await running.answer(case.decisions)
            assert running.review.status == "pending"


async def check_completion(case: Case) -> None:
    async with a_gate() as gate:
        running = await start(gate, case)
        same_request(case, running)
        await running.answer(case.decisions)
        outcome = await running.outcome()
        same(case, results(case, outcome))
        for call in outcome.execute:
            prefix = case.expect.get("result_prefix", {}).get(call.id)
            if prefix is not None:
                result = outcome.with_edit_notice(call, "result")
                assert sort_arguments(result) == sort_arguments(f"{prefix}result")
                without = case.expect.get("result_excludes", {}).get(call.id, ())
                assert not [text for text in without if text in result]


def sort_arguments(text: str) -> str:
    """Arguments are stored with their keys sorted, and so a notice shows them."""
    return re.sub(r"({.*})", lambda found: json.dumps(json.loads(found[1]), sort_keys=True), text)


async def resume_error(case: Case) -> None:
    """The error says what is wrong, nothing is stored, and the right answer is still accepted."""
    async with a_gate() as gate:
        running = await start(gate, case)
        with pytest.raises(DecisionError) as caught:
            await running.answer(case.decisions)
        error = case.expect["error"]
        if "message" in error:
            assert str(caught.value) == error["message"]
        else:
            assert error["message_contains"] in str(caught.value)
        assert await running.is_unchanged()
        if retry := case.expect.get("retry"):
            await running.answer(retry["decisions"])
            same(case, results(case, await running.outcome()), retry)


async def check_notice(case: Case) -> None:
    ((id, edit),) = case.data["prior_state"]["hitl_edited_tool_calls"].items()
    async with a_gate() as gate:
        running = await Running.start(gate, case.dialect, await case.judge(case.policy()))
        await running.answer({"decisions": [{"type": "edit", "edited_action": edit}]})
        outcome = await running.outcome()
    (call,) = outcome.execute
    assert call.id == id
    result = outcome.with_edit_notice(call, case.data["tool_output"])
    assert result == case.expect["content"]
    assert outcome.with_edit_notice(call, result) == result


async def start(gate: Any, case: Case) -> Running:
    data = case.data.get("interrupt_data")
    if isinstance(data, dict):
        asked = case.dialect.load_request(data, "t")
    elif data == "none":
        asked = await judge_calls(ALLOW_ALL, [ToolCall("1", "free", {})])
    elif case.system == "arcgis" and not case.calls:
        run = ToolCall("i1", f"agent:{case.data['agent_id']}", {})
        asked = await judge_calls(case.policy(), [run])
        asked = asked._replace(path=(case.data["agent_id"],))
    else:
        asked = await case.judge(case.policy(loose="context" in case.data))
    return await Running.start(gate, case.dialect, asked)


def same_request(case: Case, running: Running) -> None:
    expected = case.expect.get("request", case.expect.get("requests"))
    if expected is None:
        return
    wire = running.dialect.dump_request(running.review)
    if case.dialect.name == "langchain_per_call":
        branches = case.expect.get("response_schema_branches", {})
        for each in wire:
            if each["value"]["tool_call_id"] in branches:
                assert [*each["response_schema"]["$defs"]] == branches[each["id"]]
        wire = [each["value"] for each in wire]
    if case.system == "arcgis":
        wire = {key: wire[key] for key in expected}
    assert wire == expected


def same(case: Case, found: Json, expect: Json | None = None) -> None:
    """Only JavaScript puts the calls without a review before the others."""
    expect = expect or case.expect
    for key in found.keys() & expect.keys():
        wanted = expect[key]
        if key == "tool_messages" and wanted:
            wanted = [{**w, **_status(w)} for w in wanted]
            wanted = [{k: v for k, v in w.items() if k != "is_error"} for w in wanted]
            text = zip(found[key], wanted, strict=True)
            found[key] = [{k: v for k, v in f.items() if k in w} for f, w in text]
        if case.system in ("langchain-js", "xpertai") and key in ("executed", "tool_calls_after"):
            wanted, found[key] = (
                sorted(each, key=lambda c: c["id"]) for each in (wanted, found[key])
            )
        assert found[key] == wanted, key
    if "executed_before_answers" in expect:
        free = [call for call in found["executed"] if call in expect["executed_before_answers"]]
        assert free == expect["executed_before_answers"]


def _status(message: Json) -> Json:
    if "is_error" not in message:
        return {}
    return {"status": "error" if message["is_error"] else "success"}


# ------------------------------------------------------------------------------- Agent Inbox


async def in_the_inbox(case: Case) -> None:
    value = call_functions(case.data["interrupt_value"])
    inbox, asked = render(value)
    async with a_gate() as gate:
        running = await Running.start(gate, inbox, asked)
    wire = inbox.dump_request(running.review)
    assert wire == case.expect["interrupts"]
    improper = wire[0]["action_request"]["action"] == "improper_schema"
    assert improper == case.expect["invalid_schema"]


async def check_offer(case: Case) -> None:
    found = page_offers(case.data["human_interrupt"])
    assert found.responses == case.expect["responses"]
    assert found.submit == case.expect.get("defaultSubmitType")
    assert found.accepts == case.expect["hasAccept"]


async def check_resume(case: Case) -> None:
    """Given an interrupt of an agent, and what a person did about it, then its answer is the same as the
    inbox's."""
    async with a_gate() as gate:
        running = await inbox_review(gate, case)
        (action,) = running.review.actions
        proposal = proposal_for(case.data["reviewer"], running)
        await gate.reviews.apply(DecideAll(running.review.id, {action.key: proposal}, ADA, "op"))
        settled = (await gate.reviews.load(running.review.id)).review
        wire = agent_inbox.dialect.dump_decisions(settled)
        assert wire == case.expect["resume"]
        again = read_answers(agent_inbox.dialect, wire, running.review)
        assert again[action.key].type == proposal.type


async def check_cancellation(case: Case) -> None:
    async with a_gate() as gate:
        running = await inbox_review(gate, case)
        await gate.cancel(running.review.id)
        cancelled = (await gate.reviews.load(running.review.id)).review
        with pytest.raises(UnsupportedByDialect, match="end the thread"):
            agent_inbox.dialect.dump_decisions(cancelled)


async def inbox_review(gate: Any, case: Case) -> Running:
    asked = agent_inbox.dialect.load_request(case.data["human_interrupt"], "t")
    return await Running.start(gate, agent_inbox.dialect, asked)


def proposal_for(did: Json, running: Running) -> Proposal:
    (action,) = running.review.actions
    args = running.review.arguments(action.key).parse()
    match did["submit"]:
        case "accept":
            return Proposal("approve", 1)
        case "response":
            return Proposal("respond", 1, did["text"])
        case "edit":
            edited = encode({**args, **did["edits"]})
            return Proposal("edit", 1, args=edited)
        case _:
            return Proposal("ignore", 1)


# ------------------------------------------------------------------------------------ ArcGIS


async def a_payload(case: Case) -> None:
    assert arcgis.payload(case.decisions) == case.expect["value"]


async def wire_types(case: Case) -> None:
    assert list(arcgis.INTERRUPT_KEYS) == case.expect["interrupt_keys"]
    assert list(arcgis.RESPONSE_KEYS) == case.expect["response_keys"]
    assert list(arcgis.KINDS) == case.expect["kinds"]
