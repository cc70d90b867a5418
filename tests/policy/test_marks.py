"""A ruling that is made from another one still hides the same values, and still marks the same words as the
agent's.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.api.interrupts import judge_interrupt
from hitl_core import dialects
from hitl_core.dialects.answerable_decisions import limit_decisions
from hitl_core.dialects.apply_policy import answer_denial, combine_rulings, deny_unless_allowed
from hitl_core.errors import HitlError
from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.gate.submission.schemas import ToolSchemas
from hitl_core.model import DisplayHint, Route, ToolCall, Verdict
from hitl_core.policy import CallTerms, Policy, Ruling, ask_like_calls
from hitl_core.policy.combine_rulings import (
    combine_unsure,
    override_ruling,
    tighten,
    with_tool_schema,
)
from hitl_core.review import find_pointers

ROOT = Path(__file__).parents[2]
KINDS: Any = ("allow", "review", "deny")
CALL = ToolCall("c1", "login", {"secret": "s", "pin": "1", "key": "k"})

#: What a ruling made of others never loses. Words and verdict: their marks go with them.
MARKS = {
    "redact", "policy_schema", "hiding_schema", "trusts_tools", "must_read", "confirm", "hide_when_decided",
    "by_agent", "computed", "description", "verdict",
}  # fmt: skip
#: What is decided in each place by itself.
OTHERS = {
    "allowed_decisions", "args_schema", "reject_reason", "route", "idempotent", "line", "answer_schema",
    "output", "text", "title", "interrupt_id", "accepted_decisions", "extra", "says_reviewers",
    "says_description",
    "needs_requester", "unsure", "says_no", "display", "answer_by_agent",
}  # fmt: skip


def hides(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"writeOnly": True}}}


def make(who: str, kind: Any, **more: Any) -> Ruling:
    """A ruling with words of its own, by the policy's file, by its code, or by the agent."""
    by_agent, computed = who == "agent", who == "code"
    return Ruling(
        verdict=Verdict(
            kind=kind, rule="login", reason=f"by {who}", by_agent=by_agent, computed=computed
        ),
        description=f"by {who}",
        says_description=True,
        by_agent=by_agent,
        computed=computed,
        allowed_decisions=("approve", "reject") if kind == "review" else (),
        args_schema=None,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
        **more,
    )


def strict(who: str, kind: Any) -> Ruling:
    """It hides all three arguments, each in another way."""
    return make(
        who,
        kind,
        redact=("/secret",),
        policy_schema=hides("pin"),
        hiding_schema=hides("key"),
        trusts_tools=True,
        must_read=True,
        confirm=True,
        hide_when_decided=True,
    )


def judged(ruling: Ruling) -> JudgedCalls:
    return JudgedCalls([CALL], [ruling])


def interrupt() -> JudgedCalls:
    wire = {
        "action_requests": [{"name": CALL.name, "args": CALL.args, "description": "by agent"}],
        "review_configs": [{"action_name": CALL.name, "allowed_decisions": ["approve", "reject"]}],
    }
    return dialects.get("langchain").load_request(wire, "t-1", [CALL])


def after_interrupt(ruling: Ruling) -> Ruling:
    """As the HTTP API does, also if the policy denies."""
    asked = interrupt()
    combined = judged(combine_rulings(ruling, asked.rulings[0], CALL))
    return judge_interrupt(combined, asked)[0].rulings[0]


#: Each way to make a ruling from the policy's, and another one of the run or the agent.
WAYS: dict[str, Callable[[Ruling, Ruling], Ruling]] = {
    "tighten": tighten,
    "override_ruling": override_ruling,
    "combine_unsure": lambda one, other: combine_unsure(one, other._replace(unsure="It failed.")),
    "combine_unsure, the other way": lambda one, other: combine_unsure(
        other, one._replace(unsure="It failed.")
    ),
    "ask_like_calls": lambda one, _: ask_like_calls(
        one, [CallTerms("pay", one.route, False, False, False)], one.route
    ),
    "with_tool_schema": lambda one, _: with_tool_schema(one, {"type": "object"}),
    "add_schema": lambda one, _: asyncio.run(
        ToolSchemas().add_schema(one, "pay", {"pay": {"type": "object"}})
    ),
    "combine_rulings": lambda one, _: combine_rulings(one, interrupt().rulings[0], CALL),
    "deny_unless_allowed": lambda one, _: deny_unless_allowed(one, CALL),
    "answer_denial": lambda one, _: answer_denial(one, interrupt().rulings[0], "reject"),
    "judge_interrupt": lambda one, _: after_interrupt(one),
    "limit_decisions": lambda one, _: limit_decisions(
        dialects.get("langchain"), judged(one), interrupt()
    ).calls.rulings[0],
}
#: Parts of these, and of what the tests of their own packages cover.
PARTS = {
    "_combine", "_with_question", "_with_demands", "_with_both", "_with_schemas", "_deny", "deny_ruling",
    "_with_request", "_limit_ruling", "_deny_bad_args", "_hide_args", "deny_incomplete",
}  # fmt: skip


def test_each_field_of_a_ruling_is_thought_of() -> None:
    assert set(Ruling._fields) == MARKS | OTHERS
    assert not MARKS & OTHERS


def files_with(text: str) -> list[Path]:
    """The product's files that have this text: parsing all of them takes seconds."""
    files = [*(ROOT / "hitl_core").rglob("*.py"), *(ROOT / "bot").rglob("*.py")]
    return [file for file in files if text in file.read_text()]


def makers() -> Iterator[str]:
    """The functions that get a Ruling and return one."""
    for file in files_with("-> Ruling"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
                given = [arg.annotation for arg in (*node.args.args, *node.args.kwonlyargs)]
                names = {ast.unparse(each) for each in given if each}
                if "Ruling" in names and ast.unparse(node.returns) in ("Ruling", "Ruling | None"):
                    yield node.name


def test_each_function_that_makes_a_ruling_of_another_is_tested_here() -> None:
    found = set(makers())
    assert found <= WAYS.keys() | PARTS
    assert found >= PARTS


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("who", ["file", "code", "agent"])
def test_a_ruling_made_of_others_hides_and_marks_as_much(
    way: str, kind: Any, other: Any, who: str
) -> None:
    """Given the policy's strict ruling and one of a run's context, then the result hides and demands what
    the policy's does, and the words that it takes keep their author."""
    sources = (strict(who, kind), make("agent", other))
    try:
        made = WAYS[way](*sources)
    except HitlError:
        return  # refused, so nothing is shown
    assert set(find_pointers(made, CALL.args)) >= {"/pin", "/key"}
    assert "/secret" in made.redact
    assert (made.trusts_tools, made.needs_reading, made.confirm) == (True, True, True)
    assert made.hide_when_decided
    by_agent = {"by agent": True, f"by {who}": who == "agent"}
    computed = {"by agent": False, f"by {who}": who == "code"}
    assert made.by_agent >= by_agent.get(made.description, False)
    assert made.computed >= computed.get(made.description, False)
    reason = made.verdict.reason
    assert made.verdict.by_agent >= by_agent.get(reason, False)
    assert made.verdict.computed >= computed.get(reason, False)
    if made.verdict.kind == "deny" and kind != "deny" and other != "deny":
        # Its words go to people as ours.
        assert (made.verdict.by_agent, made.verdict.computed) == (False, False)


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [None, False, True])
def test_what_must_be_read_by_the_policy_must_be_read(way: str, kind: Any, other: Any) -> None:
    """Also if the policy's rule doesn't say it, which counts as yes, and the run's says no."""
    try:
        made = WAYS[way](make("file", kind), make("agent", kind, must_read=other))
    except HitlError:
        return
    assert made.needs_reading


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"combine_unsure, the other way"}))
def test_values_are_shown_as_the_policy_says(way: str) -> None:
    """Of two rules of which one may match, the later one says it."""
    hints = (DisplayHint(pointer="/key", style="code"),)
    other = (DisplayHint(pointer="/key", style="link"),)
    made = WAYS[way](make("file", "review", display=hints), make("agent", "review", display=other))
    assert made.display == hints


AGENT = {"interrupt_on": {"login": {"description": "Security agreed."}}}


@pytest.mark.parametrize("context", [AGENT, {"description_prefix": "Security agreed."}])
def test_words_of_a_context_are_the_agents(context: dict[str, Any]) -> None:
    """Given a policy that a context may override, then also a prefix of the agent's is no text of ours."""
    policy = Policy.from_mapping(
        {"default": "allow", "allow_override": True, "interrupt_on": {"login": True}}
    )
    ruling = policy.for_run(context).judge(CALL)
    assert (ruling.description, ruling.by_agent) == ("Security agreed.", True)
    assert ruling.verdict.by_agent == (ruling.verdict.reason == "Security agreed.")


def test_words_of_a_context_whose_when_fails_are_the_agents() -> None:
    """The stricter ruling of both is used then, with what the context's rule says."""
    policy = Policy.from_mapping({"default": "allow", "allow_override": True})

    def fails(_: object) -> bool:
        raise ValueError

    rule = {"description": "Security agreed.", "when": fails}
    ruling = policy.for_run({"interrupt_on": {"login": rule}}).judge(CALL)
    assert (ruling.verdict.kind, ruling.description) == ("review", "Security agreed.")
    assert ruling.by_agent
    assert not ruling.verdict.by_agent  # its reason is our own sentence


def test_a_schema_of_a_context_hides_nothing() -> None:
    """Only the policy may hide an argument."""
    policy = Policy.from_mapping({"default": "allow", "allow_override": True})
    ruling = policy.for_run({"interrupt_on": {"login": {"args_schema": hides("pin")}}}).judge(CALL)
    assert ruling.verdict.kind == "review"
    assert find_pointers(ruling, CALL.args) == ()


def test_a_denial_for_two_rules_hides_what_both_hide() -> None:
    """Given a rule whose `when` fails, and a default that denies, then the rule's `redact` holds."""

    def fails(_: object) -> bool:
        raise ValueError

    rule = {"redact": ["/secret"], "when": fails}
    ruling = Policy.from_mapping({"default": "deny", "interrupt_on": {"login": rule}}).judge(CALL)
    assert (ruling.verdict.kind, ruling.redact) == ("deny", ("/secret",))


def test_only_a_result_writes_the_line_of_a_run() -> None:
    """H1, M5: `CallResult.to_run` knows whose words the line has."""
    writers = {
        file.name
        for file in files_with("Run(")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "Run"
        and any(keyword.arg == "line" for keyword in node.keywords)
    }
    assert writers == {"results.py"}
