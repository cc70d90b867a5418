"""A node gets its answer in the format in which it asked."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import IntegrationError
from hitl_core.policy import Policy
from tests.integrations.agents import Lab, answers, call, go
from tests.integrations.graphs import asking, run_and_answer

ARGS = {"to": "a"}
PYTHON = {
    "action_requests": [{"name": "send_email", "args": ARGS, "description": "Look."}] * 2,
    "review_configs": [
        {"action_name": "send_email", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
    ]
    * 2,
}
JAVASCRIPT = {
    "actionRequests": [{"name": "send_email", "args": ARGS, "description": "Look."}] * 2,
    "reviewConfigs": [
        {"actionName": "send_email", "allowedDecisions": ["approve", "edit", "reject"]}
    ]
    * 2,
}
SAGENTS = {
    "action_requests": [
        {"tool_call_id": f"c{n}", "tool_name": "send_email", "arguments": ARGS} for n in (1, 2)
    ],
    "review_configs": {"send_email": {"allowed_decisions": ["approve", "edit", "reject"]}},
    "hitl_tool_call_ids": ["c1", "c2"],
}
PER_CALL = {"type": "tool_approval", "tool_call_id": "c9", "name": "send_email", "args": ARGS}
QUESTION = {
    "type": "ask_user_question",
    "question": "Which one?",
    "response_type": "single_select",
    "options": [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}],
    "tool_call_id": "q1",
}
SEVERAL = {"type": "multiple_interrupts", "interrupts": [SAGENTS, QUESTION]}
ARCGIS = {"id": "q1", "agentId": "mapper", "kind": "booleanChoice", "message": "Delete the layer?"}


@pytest.mark.parametrize(
    ("wire", "decisions", "answer"),
    [
        (QUESTION, (("respond", "b"),), {"type": "answer", "selected": ["b"]}),
        (QUESTION, ("ignore",), {"type": "cancel"}),
        (
            SEVERAL,
            ("approve", "reject", ("respond", "a")),
            [
                [{"type": "approve"}, {"type": "reject"}],
                {"type": "answer", "selected": ["a"], "tool_call_id": "q1"},
            ],
        ),
        (
            PYTHON,
            ({"to": "E"}, ("reject", "no")),
            {
                "decisions": [
                    {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": "E"}}},
                    {"type": "reject", "message": "no"},
                ]
            },
        ),
        (
            JAVASCRIPT,
            ({"to": "E"}, "approve"),
            {
                "decisions": [
                    {"type": "edit", "editedAction": {"name": "send_email", "args": {"to": "E"}}},
                    {"type": "approve"},
                ]
            },
        ),
        (
            SAGENTS,
            ({"to": "E"}, "reject"),
            [{"type": "edit", "arguments": {"to": "E"}}, {"type": "reject"}],
        ),
        (PER_CALL, (("respond", "call them"),), {"type": "respond", "message": "call them"}),
        (ARCGIS, ("approve",), {"id": "q1", "agentId": "mapper", "payload": True}),
        (ARCGIS, ("reject",), {"id": "q1", "agentId": "mapper", "payload": False}),
        (
            {**ARCGIS, "kind": "singleSelection", "metadata": {"options": ["a", "b"]}},
            (("respond", "b"),),
            {"id": "q1", "agentId": "mapper", "payload": "b"},
        ),
    ],
)
async def test_what_a_node_asks_in_a_dialect_is_answered_in_it(
    lab: Lab, wire: Any, decisions: Any, answer: Any
) -> None:
    """Given a node that interrupts in another system's format, when people decide, then it gets exactly what
    that system would send."""
    assert await run_and_answer(lab, wire, *decisions) == answer


async def test_a_denial_is_told_in_the_words_of_the_dialect(lab: Lab) -> None:
    """Given a policy that denies one of two tools that a node asks about, then people see the other, and the
    node gets both answers."""
    lab.set_policy(default="allow", interrupt_on={"send_email": "deny"})
    wire = {
        "actionRequests": [{"name": "send_email", "args": ARGS}, {"name": "read", "args": {}}],
        "reviewConfigs": [
            {"actionName": name, "allowedDecisions": ["approve", "reject"]}
            for name in ("send_email", "read")
        ],
    }
    first, second = (await run_and_answer(lab, wire, "approve"))["decisions"]
    assert first["type"] == "reject"
    assert "The policy doesn't allow `send_email`" in first["message"]
    assert second == {"type": "approve"}


async def test_a_review_says_in_which_dialect_and_by_which_agents_it_was_asked(lab: Lab) -> None:
    wire = {
        "type": "subagent_hitl",
        "sub_agent_id": "s1",
        "task_name": "researcher",
        "interrupt_data": SAGENTS,
    }
    paused = await asking(lab, wire).run({"out": []}, thread_id="t-1")
    review = await lab.review(paused.review_id)
    assert (review.dialect, review.path) == ("sagents", ("researcher",))


@pytest.mark.parametrize("kind", ["singleSelection", "multipleSelection", "textInput"])
@pytest.mark.parametrize("decision", ["reject", "respond", "ignore"])
async def test_silence_answers_no_question_of_arcgis(lab: Lab, kind: str, decision: str) -> None:
    """Given a question after which ArcGIS continues with any answer, and a deadline;
    then nobody is asked."""
    expire = {"after": "1h", "decision": decision, "message": "a"}
    lab.set_policy(default="review", expire=expire)
    wire = {**ARCGIS, "kind": kind, "metadata": {"options": ["a", "b"]}}
    with pytest.raises(IntegrationError, match=f"deadline would {decision}"):
        await asking(lab, wire).run({"out": []}, thread_id="t-1")
    assert await lab.all_reviews("t-1") == []


async def test_an_edit_has_to_fit_the_schema_that_the_interrupt_brings(lab: Lab) -> None:
    schema = {"type": "object", "properties": {"to": {"enum": ["a", "b"]}}}
    wire = {
        **JAVASCRIPT,
        "reviewConfigs": [{**JAVASCRIPT["reviewConfigs"][0], "argsSchema": schema}] * 2,
    }
    paused = await asking(lab, wire).run({"out": []}, thread_id="t-1")
    first, _ = (await lab.review(paused.review_id)).actions
    assert first.config.args_schema == schema


async def test_callables_of_the_policy_may_be_async(lab: Lab) -> None:
    """Given an async `when` and `description`, then the review has what they answered, and the guard waits
    for them too."""

    async def external(args: dict[str, Any]) -> bool:
        return args["to"] != "me"

    async def describe(args: dict[str, Any]) -> str:
        return f"To {args['to']}, outside."

    async def secret(args: dict[str, Any]) -> bool:
        return args["topic"] == "secret"

    lab.gate.policy = Policy.from_mapping(
        {
            "default": "allow",
            "interrupt_on": {
                "send_email": {
                    "allowed_decisions": ["approve"],
                    "when": external,
                    "description": describe,
                },
                "read": {"allowed_decisions": ["approve"], "when": secret},
            },
        }
    )
    turn = [call("c1", "send_email", to="you"), call("c2", "send_email", to="me")]
    driver = lab.driver(turn, [call("d1", "read", topic="secret"), call("d2", "read", topic="x")])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        first, second = (await lab.review(paused.review_id)).actions
        assert (first.request.description, first.config.allowed_decisions) == (
            "To you, outside.",
            ("approve",),
        )
        assert second.request.description == "Tool execution requires approval"
        await lab.decide(paused.review_id, "approve", "reject")
        await lab.done(paused.review_id)
    assert lab.effects == ["sent you", "read x"]
    assert "add `read` to interrupt_on" in answers(lab.stops[0])["d1"][1]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("policy", [{}, {"edit_notice": "A person changed this."}])
async def test_an_edit_reaches_the_model_with_one_notice(
    lab: Lab, mode: str, policy: dict[str, str]
) -> None:
    """Given LangChain's own edit notice, and perhaps one in the policy, then the model reads LangChain's,
    once, before the result; and its own message keeps the call that it made."""
    lab.set_policy(default="allow", **policy)
    driver = lab.driver([call("c1", "send_email", to="a")], interrupt_mode=mode)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, {"to": "E"})
        await lab.done(paused.review_id)
    text = answers(lab.stops[0])["c1"][1]
    assert text.startswith("Note: a human reviewer replaced this tool call before it ran.")
    assert text.count("Executed instead:") == 1
    assert text.endswith('with arguments {"to": "E"}.\n\nTool response:\nsent E')
    assert "A person changed this." not in text
    [asked] = [m for m in lab.stops[0].state["messages"] if getattr(m, "tool_calls", None)]
    assert asked.tool_calls[0]["args"] == {"to": "a"}
