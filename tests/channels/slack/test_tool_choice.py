"""Which other tools an edit may choose, and how much work the list of them may take."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from typing import Any

import pytest

from bot.forms import TOOL, Entries
from bot.forms.edit_form import MAX_TOOLS
from hitl_core.errors import InvalidToolCall
from hitl_core.forms import FormErrors
from hitl_core.gate.submission import schemas
from hitl_core.gate.submission.schemas import kept_policy_for
from hitl_core.model import Review, ToolCall
from hitl_core.policy import Policy
from tests.channels.filled import edit_form, modal_of
from tests.channels.scenes import review_of

Json = dict[str, Any]
PAY: tuple[str, Json] = ("pay", {"n": 1})


def count_calls(run: Callable[[], object], *names: str) -> int:
    """How often functions of these names are called: the same number on every machine."""
    profile = cProfile.Profile()
    profile.runcall(run)
    stats: Any = pstats.Stats(profile)
    return sum(value[1] for key, value in stats.stats.items() if key[2] in names)


def offered_tools(review: Review) -> list[str]:
    blocks = modal_of(edit_form(review))["blocks"]
    options = [b["element"]["options"] for b in blocks if b["block_id"] == TOOL]
    return [option["text"]["text"] for option in options[0]] if options else []


def test_each_rule_is_read_once_for_all_tools() -> None:
    """Given 80 tools with a rule each, when the form is opened and then drawn again, then no rule of the
    review's policy is read more than once, and none is asked about the arguments for the menu's sake."""
    names = [f"tool_{n}" for n in range(80)]
    rule = {"when": {"properties": {"n": {"minimum": 0}}}}
    review = review_of(
        PAY, policy={"interrupt_on": dict.fromkeys(names, rule)}, tools=dict.fromkeys(names)
    )

    def open_twice() -> None:
        modal_of(edit_form(review))
        modal_of(edit_form(review).at_page(0, draft=""))

    assert count_calls(open_twice, "load_rule") <= len(names) + 1
    assert count_calls(open_twice, "judge", "judge_async") == 0


def test_the_menu_has_as_many_tools_as_slack_takes() -> None:
    """Given more tools than a menu may have, and a call that became the last of them; then the menu begins
    with what the call is."""
    names = [f"tool_{n:03}" for n in range(150)]
    review = review_of(PAY, tools=dict.fromkeys(names))
    assert len(offered_tools(review)) == MAX_TOOLS
    last = review_of(("tool_149", {"n": 1}), tools=dict.fromkeys(names))
    assert offered_tools(last)[0] == "tool_149"


def test_a_tool_that_no_edit_may_name_is_not_in_the_menu() -> None:
    """Given a tool that is approved as it is or not at all, and one for which that holds with
    some arguments only; then the first can't be chosen."""
    rules: Json = {
        "gone": {"allowed_decisions": ["approve", "reject"]},
        "large": {"when": {"properties": {"n": {"minimum": 100}}}, "allowed_decisions": ["reject"]},
        "free": False,
    }
    review = review_of(
        PAY, policy={"interrupt_on": rules}, tools=dict.fromkeys(["gone", "large", "free"])
    )
    assert offered_tools(review) == ["pay", "free", "large"]


def test_a_tool_that_is_refused_changes_nothing() -> None:
    """Given a tool that the policy refuses with these arguments, when it is chosen, then the form says so,
    and sending it decides nothing."""
    rule = {"when": {"properties": {"n": {"maximum": 5}}}, "allowed_decisions": ["reject"]}
    review = review_of(PAY, policy={"interrupt_on": {"small": rule}}, tools={"small": None})
    at = str(offered_tools(review).index("small"))
    selected = edit_form(review).enter(Entries({TOOL: at}))
    view = modal_of(selected.at_page(0, draft=""))
    assert "The policy doesn't allow an edited small" in str(view["blocks"][0])
    with pytest.raises(FormErrors, match="small"):
        selected.proposal()


def test_what_a_review_keeps_of_a_policy_is_bounded() -> None:
    """Given tools whose rules take more than a review keeps, when they are submitted, then a sentence says
    so."""
    note = "x" * 20_000
    names = [f"tool_{n}" for n in range(schemas.MAX_KEPT_POLICY // len(note) + 1)]
    rules = {name: {"args_schema": {"type": "object", "description": note}} for name in names}
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
    calls = [ToolCall("c1", "pay", {"n": 1})]
    rulings = [policy.judge(call) for call in calls]
    assert kept_policy_for(policy, calls, rulings, names[:3])
    with pytest.raises(InvalidToolCall, match="Name fewer"):
        kept_policy_for(policy, calls, rulings, names)
