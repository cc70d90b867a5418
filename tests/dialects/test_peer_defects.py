"""Where a peer's behaviour is a defect, ours differs on purpose."""

from __future__ import annotations

import pytest

from hitl_core.errors import DecisionError, InvalidToolCall
from hitl_core.gate.submission.calls import freeze_calls
from hitl_core.model import ToolCall
from hitl_core.policy import InvalidPolicy
from hitl_core.policy.kept_policy import parse_kept_policy
from tests.dialects.conformance import (
    Case,
    Running,
    a_gate,
    call_functions,
    render,
    results,
)
from tests.dialects.test_conformance import BUGS, ids, same, start


@pytest.mark.parametrize("case", BUGS, ids=ids)
async def test_what_would_be_better(case: Case) -> None:
    if case.rejects_some:
        await the_rest_runs(case)
        return
    check = next(check for text, check in BETTER.items() if text in case.data["better"])
    await check(case)


async def one_typed_error(case: Case) -> None:
    """It names index, tool and field, and consumes nothing. The format of Agent Inbox is accepted."""
    async with a_gate() as gate:
        running = await start(gate, case)
        if isinstance(case.decisions, list) or "editedAction" in str(case.decisions):
            await running.answer(case.decisions)
            assert [call.id for call in (await running.outcome()).execute] == ["2"]
            return
        with pytest.raises(DecisionError) as caught:
            await running.answer(case.decisions)
        assert caught.value.field
        if isinstance(case.decisions["decisions"], list):
            assert (caught.value.index, caught.value.tool) == (0, "b")
        assert await running.is_unchanged()


async def check_refused_calls(case: Case) -> None:
    with pytest.raises(InvalidToolCall, match="Two calls of this turn have the id '2'"):
        freeze_calls(case.calls)


async def check_refused_config(case: Case) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        case.policy()
    assert caught.value.problems[0].path


async def the_rest_runs(case: Case) -> None:
    """Every call stays declared and has its answer; the model is asked only when nothing is left to run."""
    async with a_gate() as gate:
        running = await start(gate, case)
        await running.answer(case.decisions)
        found = results(case, await running.outcome())
    same(case, found, {"tool_messages": case.expect["tool_messages"]})
    rejected = {message["tool_call_id"] for message in case.expect["tool_messages"]}
    assert [c["id"] for c in found["executed"]] == [
        c.id for c in case.calls if c.id not in rejected
    ]
    assert [c["id"] for c in found["tool_calls_after"]] == [c.id for c in case.calls]
    assert found["paired"]
    assert found["jump_to"] is None


async def a_verdict_is_frozen(case: Case) -> None:
    """A predicate is not evaluated again, so a rejected call doesn't run if its result changes."""
    async with a_gate() as gate:
        running = await start(gate, case)
        await running.answer(case.decisions)
        outcome = await running.outcome()
    rejected = [d["type"] == "reject" for d in case.decisions["decisions"]]
    asked = [a.request.tool_call_id for a in outcome.review.actions]
    ran = {call.id for call in outcome.execute}
    assert [id in ran for id in asked] == [not no for no in rejected]


async def the_targets_rule_counts(case: Case) -> None:
    """An edit may name another tool only if that tool's rule allows edits."""
    async with a_gate() as gate:
        running = await start(gate, case)
        (name,) = (n for n in case.tools if n not in {call.name for call in case.calls})
        kept = parse_kept_policy(running.review.kept_policy or "")
        target = kept.judge(ToolCall("c1", name, {}))
        if target.verdict.kind == "allow" or "edit" in target.allowed_decisions:
            await running.answer(case.decisions)
            assert [call.name for call in (await running.outcome()).execute] == [name]
            return
        with pytest.raises(DecisionError):
            await running.answer(case.decisions)
        assert await running.is_unchanged()


async def an_empty_text_is_none(case: Case) -> None:
    (ruling,) = (await case.judge(case.policy())).rulings
    assert ruling.text is not None
    assert ruling.text.startswith("Tool execution requires approval")


async def only_tighter(case: Case) -> None:
    """An empty map in a run's context removes no gate, unless the policy allows that."""
    assert [r.verdict.kind for r in (await case.judge(case.policy())).rulings] == ["review"]
    assert [r.verdict.kind for r in (await case.judge(case.policy(loose=True))).rulings] == [
        "allow"
    ]


async def own_prefix(case: Case) -> None:
    """If the policy lets a run's own configuration count (security H1)."""
    async with a_gate() as gate:
        asked = await case.judge(case.policy(loose=True))
        running = await Running.start(gate, case.dialect, asked)
    (asked,) = running.dialect.dump_request(running.review)["actionRequests"]
    prefix = case.data["context"]["descriptionPrefix"]
    assert asked["description"] == f"{prefix}\n\nTool: b\nArgs: {{}}"


async def a_name_like_others(case: Case) -> None:
    """A tool without a rule needs no review, whatever its name is."""
    rulings = (await case.judge(case.policy())).rulings
    assert [ruling.verdict.kind for ruling in rulings] == ["allow"]


async def can_be_corrected(case: Case) -> None:
    async with a_gate() as gate:
        running = await start(gate, case)
        with pytest.raises(DecisionError):
            await running.answer(case.decisions)
        assert await running.is_unchanged()
        await running.answer(case.expect["retry"]["decisions"])
        assert len((await running.outcome()).execute) == len(case.calls)


async def when_is_obeyed(case: Case) -> None:
    rulings = (await case.judge(case.policy())).rulings
    assert [ruling.verdict.kind for ruling in rulings] == ["allow"]
    config = case.data["policy"]
    config = {
        **config,
        "interruptOn": {"b": {**call_functions(config["interruptOn"]["b"]), "whem": 1}},
    }
    with pytest.raises(InvalidPolicy, match="whem"):
        case.dialect.load_policy(config)


async def everything_is_rendered(case: Case) -> None:
    """Every action of any interrupt is shown, with its arguments and decisions."""
    value = call_functions(case.data["interrupt_value"])
    _, asked = render(value)
    actions = value.get("actionRequests", value.get("action_requests", [value]))
    assert [(call.name, call.args) for call in asked.calls] == [
        (action["name"], action.get("args", action.get("arguments"))) for action in actions
    ]
    assert all(ruling.allowed_decisions for ruling in asked.rulings)


#: By what the case says would be better.
BETTER = {
    "one typed DecisionError": one_typed_error,
    "refuse duplicate ids": check_refused_calls,
    "config error at load time": check_refused_config,
    "typed config error naming the tool": check_refused_config,
    "run the approved one": the_rest_runs,
    "run approved and auto calls": the_rest_runs,
    "context may": only_tighter,
    "honour the override": own_prefix,
    "own-property lookup": a_name_like_others,
    "validate before consuming": can_be_corrected,
    "support when": when_is_obeyed,
    "accept both casings": everything_is_rendered,
    "HumanInterrupt": everything_is_rendered,
    "freeze": a_verdict_is_frozen,
    "re-evaluate": the_targets_rule_counts,
    "pin the name": the_targets_rule_counts,
    "empty": an_empty_text_is_none,
    "unknown keys are": check_refused_config,
    "validate": can_be_corrected,
}
