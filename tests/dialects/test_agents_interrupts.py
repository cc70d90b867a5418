"""The texts of an interrupt make no check weaker: its descriptions, options, ids and names."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot.card import build_card, find_open_action
from bot.channels.slack.render.card_message import message
from hitl_core import dialects
from hitl_core.dialects.answerable_decisions import limit_decisions
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.errors import HitlError
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review
from hitl_core.policy import Policy
from tests.channels.nasty import NASTY
from tests.channels.reading import check
from tests.channels.scenes import name_of
from tests.channels.test_injection import assert_inert
from tests.support.builders import START

Json = dict[str, Any]
ARGS = {"query": "DROP TABLE users", "token": "tok-95126"}
OURS = {
    "allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"],
    "reviewers": {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2, "exclude_requester": True},
    "notify": "slack:#data",
    "escalate": [{"after": "10m", "to": "slack:#leads"}],
    "redact": ["/token"],
    "must_read": True,
    "confirm": True,
    "reject_reason": "required",
}
POLICY = Policy.from_mapping(
    {
        "default": "allow",
        "interrupt_on": {
            "run_sql": {**OURS, "description": "Careful with SQL."},
            "agent:*": OURS,
            "ask_user": OURS,
            "drop": "deny",
        },
    }
)
texts = st.text(max_size=20) | st.sampled_from(
    [*NASTY, "Careful with SQL.", "DROP TABLE users", "Approve", "x" * 4000, "default"]
)
ids = texts.filter(bool)
#: A description may quote what the policy hides.
any_text = texts | st.just("with the token tok-95126")


@st.composite
def batches(draw: st.DrawFn) -> Any:
    asked = {"name": "run_sql", "args": ARGS, "description": draw(any_text)}
    allowed = ["approve", "reject", "edit"]
    return {
        "action_requests": [asked],
        "review_configs": [{"action_name": "run_sql", "allowed_decisions": allowed}],
    }


@st.composite
def camels(draw: st.DrawFn) -> Any:
    asked = {"name": "run_sql", "args": ARGS, "description": draw(any_text)}
    schema = {"properties": {"query": {"writeOnly": True, "title": draw(texts)}}}
    config = {
        "actionName": "run_sql",
        "allowedDecisions": ["approve", "reject"],
        "argsSchema": schema,
    }
    return {"actionRequests": [asked], "reviewConfigs": [config]}


@st.composite
def per_calls(draw: st.DrawFn) -> Any:
    value = {"type": "tool_approval", "tool_call_id": draw(ids), "name": "run_sql", "args": ARGS}
    return {"id": draw(ids), "value": {**value, "description": draw(any_text)}}


@st.composite
def approvals(draw: st.DrawFn) -> Any:
    asked = {"tool_call_id": draw(ids), "tool_name": "run_sql", "arguments": ARGS}
    inner = {
        "action_requests": [{**asked, "display_text": draw(any_text)}],
        "review_configs": {"run_sql": {"allowed_decisions": ["approve", "reject"]}},
    }
    if draw(st.booleans()):
        return inner
    return {"type": "subagent_hitl", "task_name": draw(ids), "interrupt_data": inner}


@st.composite
def questions(draw: st.DrawFn) -> Any:
    values = draw(st.lists(ids, min_size=1, max_size=7, unique=True))
    return {
        "type": "ask_user_question",
        "question": draw(ids),
        "context": draw(any_text),
        "response_type": draw(st.sampled_from(["single_select", "multi_select"])),
        "options": [{"label": draw(texts), "value": value} for value in values],
        "allow_other": draw(st.booleans()),
        "tool_call_id": draw(ids),
    }


@st.composite
def inboxes(draw: st.DrawFn) -> Any:
    config = {"allow_accept": True, "allow_ignore": True, "allow_edit": draw(st.booleans())}
    asked = {"action": draw(st.sampled_from(["run_sql", "run sql"])), "args": ARGS}
    return [{"action_request": asked, "config": config, "description": draw(any_text)}]


@st.composite
def arcgis(draw: st.DrawFn) -> Any:
    values = draw(st.lists(ids, min_size=1, max_size=7, unique=True))
    kinds = ["booleanChoice", "singleSelection", "multipleSelection", "textInput"]
    return {
        "id": draw(ids),
        "agentId": draw(ids),
        "kind": draw(st.sampled_from(kinds)),
        "message": draw(any_text),
        "metadata": {
            "toolName": "run_sql",
            "args": ARGS,
            "options": [{"value": value, "label": draw(texts)} for value in values],
            draw(texts): draw(texts),
        },
    }


@pytest.mark.parametrize(
    ("dialect", "interrupts"),
    [
        ("langchain", batches()),
        ("langchain_js", camels()),
        ("xpertai", camels()),
        ("langchain_per_call", per_calls()),
        ("sagents", approvals()),
        ("sagents", questions()),
        ("agent_inbox", inboxes()),
        ("arcgis", arcgis()),
    ],
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_interrupt_makes_no_check_weaker(
    dialect: Any, interrupts: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """Given an interrupt with any words of the agent's; then it is refused, or the
    policy's people decide under its rules, see the texts but nothing hidden, and no text gets a meaning in
    Slack."""
    review = build_from(dialect, data.draw(interrupts))
    assume(review is not None)
    assert review is not None
    [action] = review.actions
    config, route = action.config, action.route
    assert route.reviewers.users == ("U0ALICE", "U0BOB", "U0CARL")
    assert (route.reviewers.quorum, route.reviewers.exclude_requester) == (2, True)
    assert (route.notify, route.expire, route.fallback) == (("slack:#data",), None, None)
    assert [step.to for step in route.escalate] == ["slack:#leads"]
    assert (config.redact, config.must_read, config.confirm) == (("/token",), True, True)
    assert config.reject_reason == "required"
    assert (config.output, review.calls[0].idempotent) == (None, False)

    opened = find_open_action(review, "1")
    if action.name == "run_sql":
        assert (opened.why, opened.by_agent) == ("Careful with SQL.", False)
        assert {one.value for one in opened.excerpt.arguments} == {"DROP TABLE users", "⟦hidden⟧"}
    else:
        assert opened.by_agent
    sent = check(message(build_card(review, action.places[0]), name_of))
    assert_inert(sent, [])
    assert action.name != "run_sql" or "tok-95126" not in str(sent)


def build_from(dialect: Any, interrupt: Any) -> Review | None:
    """As the HTTP API does. None: it is refused."""
    try:
        asked = dialects.get(dialect).load_request(interrupt, "t")
        made = asyncio.run(apply_policy(POLICY, asked))
        made = limit_decisions(dialects.get(dialect), made, asked).calls
        turn = ReviewKey("a", "t", "m1", "U0BOB")
        return build_review(turn, made, 1, START)[0]
    except HitlError:
        return None
