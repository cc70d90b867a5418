"""What a submit may contain beside the calls: the configuration of the run, the agent's tools, the path of
agents to this one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hitl_core import Gate, Policy, ToolCall, dialects
from hitl_core.errors import InvalidToolCall, PolicyError, Refused, ReviewNotFound, SettingsError
from hitl_core.gate import answers
from hitl_core.gate.submission.calls import JudgedCalls, judge_calls
from hitl_core.model import Review, encode
from hitl_core.review import Decide, DecideAll
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import MemoryStore
from tests.dialects.answers import read_answers
from tests.support.builders import call, person

ADA = person("Ada")
POLICY = Policy.from_mapping(
    {"default": "review", "interrupt_on": {"look": False, "draft": False, "drop": "deny"}}
)
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    async with Gate(MemoryStore(), policy=POLICY, agent="billing") as gate:
        yield gate


async def submit(gate: Gate, *calls: ToolCall | JudgedCalls, **more: Any) -> Review:
    asked = calls[0] if isinstance(calls[0], JudgedCalls) else calls
    id = await gate.submit(asked, thread_id="t", **more)  # pyright: ignore[reportArgumentType]
    return (await gate.reviews.load(id)).review


async def test_a_runs_context_tightens(gate: Gate) -> None:
    call = ToolCall("c1", "look", {})
    assert (await submit(gate, call, turn="1")).actions == ()
    context = {"interrupt_on": {"look": {"allowed_decisions": ["approve", "reject"]}}}
    (action,) = (await submit(gate, call, turn="2", context=context)).actions
    assert action.config.allowed_decisions == ("approve", "reject")
    with pytest.raises(PolicyError, match="context: interupt_on"):
        await submit(gate, call, context={"interupt_on": {}})


async def test_a_tools_own_schema_is_enforced(gate: Gate) -> None:
    review = await submit(gate, ToolCall("c1", "send", {"n": 1}), tools={"send": NUMBER})
    edit = Proposal("edit", 1, args=encode({"n": "one"}))
    with pytest.raises(Refused) as caught:
        await gate.reviews.apply(Decide(review.id, "1", edit, ADA, "op1"))
    assert caught.value.code == "invalid_args"
    with pytest.raises(InvalidToolCall, match="The schema of the tool send can't be used"):
        await submit(gate, ToolCall("c1", "send", {}), tools={"send": {"type": 7}}, turn="2")


async def test_nobody_is_asked_about_a_call_without_a_required_argument(gate: Gate) -> None:
    """Given a call without an argument that the tool's own schema requires, then it is denied, the model
    reads what is missing and that it may call again, and people decide on the other call of the turn."""
    calls = ToolCall("c1", "send", {}), ToolCall("c2", "send", {"n": 1})
    review = await submit(gate, *calls, tools={"send": NUMBER})
    assert [action.key for action in review.actions] == ["2"]
    assert answers(review)[0].content == (
        "`send` was not executed. It lacks `n`. Call it again with arguments that it takes."
    )


@pytest.mark.parametrize(
    "rule",
    [
        {"allowed_decisions": ["edit", "reject"]},
        {
            "allowed_decisions": ["approve", "reject"],
            "answer_schema": {"type": "integer"},
            "output": {"into": "input", "key": "n"},
        },
    ],
    ids=["edit", "answer"],
)
async def test_people_are_asked_for_an_argument_that_they_have_to_fill_in(rule: Any) -> None:
    """Given a rule by which a person's edit or answer is the missing argument, then they are asked."""
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": {"send": rule}})
    async with Gate(MemoryStore(), policy=policy, agent="billing") as gate:
        review = await submit(gate, ToolCall("c1", "send", {}), tools={"send": NUMBER})
    assert [action.key for action in review.actions] == ["1"]


@pytest.mark.parametrize("required", ["n", [["n"]], [7], None])
async def test_a_required_that_is_no_list_of_names_asks_as_without(required: Any) -> None:
    """Given an odd schema of a tool, whose arguments the policy checks, then people are asked."""
    rule = {"allowed_decisions": ["approve", "reject"], "args_schema": NUMBER}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": {"send": rule}})
    async with Gate(MemoryStore(), policy=policy, agent="billing") as gate:
        tools = {"send": {"required": required}}
        assert (await submit(gate, ToolCall("c1", "send", {"n": 1}), tools=tools)).actions


async def test_a_request_from_outside_is_checked(gate: Gate) -> None:
    """Given a request whose schema can't be used for a card, then it is refused: nobody could be asked."""
    asked = await judge_calls(POLICY, [ToolCall("c1", "send", {})])
    bad = asked.rulings[0]._replace(args_schema={"type": 7})
    with pytest.raises(InvalidToolCall, match="can't be used for the arguments of send"):
        await submit(gate, asked._replace(rulings=[bad]))


@pytest.mark.parametrize(
    "more", [{"context": {"interrupt_on": {"send": True}}}, {"tools": {}}, {"path": ["researcher"]}]
)
async def test_judged_calls_are_not_judged_again(gate: Gate, more: dict[str, Any]) -> None:
    """Given calls that an integration has judged, then a context that would do nothing is refused."""
    asked = await judge_calls(POLICY, [ToolCall("c1", "look", {})])
    with pytest.raises(InvalidToolCall, match="judged already"):
        await submit(gate, asked, **more)


async def test_an_answer_goes_where_a_policy_of_ours_says(gate: Gate) -> None:
    """Given rules with an `output`, then the answer of an approval goes into the tool's arguments, or into
    the state."""
    rule = {"allowed_decisions": ["approve", "reject"], "answer_schema": {"enum": ["s", "m"]}}
    rules = {
        "shirt": {**rule, "output": {"key": "size", "into": "input"}},
        "shoes": {**rule, "output": {"key": "pick", "into": "state"}},
    }
    gate.policy = Policy.from_mapping({"default": "allow", "interrupt_on": rules})
    calls = [ToolCall("c1", "shirt", {"n": 1}), ToolCall("c2", "shoes", {"n": 2})]
    review = await submit(gate, *calls)
    for key in ("1", "2"):
        await gate.reviews.apply(
            Decide(review.id, key, Proposal("approve", 1, answer="m"), ADA, key)
        )
    outcome = await gate.wait(review.id)
    assert [call.args for call in outcome.execute] == [{"n": 1, "size": "m"}, {"n": 2}]
    assert outcome.state_update == {"pick": "m"}
    await outcome.finish()


async def test_a_tool_with_a_schema_that_can_not_be_used_is_no_choice(gate: Gate) -> None:
    tools: dict[str, Any] = {"send": NUMBER, "draft": None, "other": {"type": 7}}
    review = await submit(gate, ToolCall("c1", "send", {"n": 1}), tools=tools)
    assert review.tools.keys() == {"send", "draft"}


async def test_what_an_edit_named_is_what_runs(gate: Gate) -> None:
    """`once` also accepts only that: the other tool with the same id."""
    tools = {"send": None, "draft": None, "drop": None}
    review = await submit(gate, ToolCall("c1", "send", {"n": 1}), tools=tools)
    drop = Proposal("edit", 1, args=encode({}), name="drop")
    with pytest.raises(Refused, match="The policy denies drop"):
        await gate.reviews.apply(Decide(review.id, "1", drop, ADA, "op1"))
    draft = Proposal("edit", 1, args=encode({"n": 1}), name="draft")
    await gate.reviews.apply(Decide(review.id, "1", draft, ADA, "op2"))

    outcome = await gate.wait(review.id)

    assert outcome.execute == (ToolCall("c1", "draft", {"n": 1}),)
    with pytest.raises(Refused, match="not the one that was decided"):
        await outcome.once(ToolCall("c1", "send", {"n": 1}))
    assert await outcome.once(outcome.execute[0])


async def test_the_agents_that_led_to_a_review_are_kept(gate: Gate) -> None:
    review = await submit(gate, ToolCall("c1", "send", {}), path=("planner", "mailer"))
    assert review.path == ("planner", "mailer")


async def test_a_tool_that_ran_may_ask_for_more(gate: Gate) -> None:
    """Hand-off: given an approved tool that raises an interrupt of its own while it runs, then that is the
    next review of the same thread, before the first one is done.
    """
    first = await submit(gate, ToolCall("c1", "task", {}))
    await gate.reviews.apply(Decide(first.id, "1", Proposal("approve", 1), ADA, "op1"))
    outcome = await gate.wait(first.id)
    assert await outcome.once(outcome.execute[0])

    raised = {
        "type": "subagent_hitl",
        "sub_agent_id": "s1",
        "task_name": "researcher",
        "tool_call_id": "c1",
        "interrupt_data": {
            "action_requests": [{"tool_call_id": "x1", "tool_name": "send", "arguments": {"n": 1}}],
            "review_configs": {},
            "hitl_tool_call_ids": ["x1"],
        },
    }
    sagents = dialects.get(dialects.detect(raised))
    second = await submit(gate, sagents.load_request(raised, "t"))
    assert (second.path, second.dialect) == (("researcher",), "sagents")
    answer = read_answers(sagents, [{"type": "reject"}], second)
    await gate.reviews.apply(DecideAll(second.id, answer, ADA, "op2"))
    inner = await gate.wait(second.id)
    assert [(a.content, a.status) for a in inner.answers] == [
        ("Tool call 'send' was rejected by a human reviewer.", "success")
    ]
    assert inner.jump_to_model
    await inner.finish()
    await outcome.finish({"c1": "the research is over"})
    ids = [first.id, second.id]
    assert {(await gate.reviews.load(id)).review.status for id in ids} == {"done"}


async def test_several_interrupts_at_once_are_all_reviews(gate: Gate) -> None:
    """And what raised them may raise them again: it finds the same reviews."""
    inner = [
        {"action_requests": [{"tool_call_id": id, "tool_name": "send", "arguments": {}}]}
        for id in ("x1", "x2")
    ]
    wire = {"type": "multiple_interrupts", "interrupts": inner}
    found: list[list[str]] = []
    for _ in range(2):
        requests = [dialects.get("sagents").load_request(w, "t") for w in dialects.split(wire)]
        found.append([(await submit(gate, one)).id for one in requests])
    assert len(set(found[0])) == 2
    assert found[0] == found[1]


async def test_the_description_shows_arguments_as_the_model_wrote_them() -> None:
    """Though what runs is stored with its keys sorted."""
    policy = dialects.get("langchain").load_policy({"interrupt_on": {"send": True}})
    async with Gate(MemoryStore(), policy=policy, agent="billing") as gate:
        review = await submit(gate, ToolCall("c1", "send", {"to": "bob", "body": "hi"}))
    wire = dialects.get("langchain").dump_request(review)
    assert wire["action_requests"][0]["description"].endswith("Args: {'to': 'bob', 'body': 'hi'}")
    assert review.arguments("1").data == b'{"body":"hi","to":"bob"}'
    assert review.actions[0].request.description == "Tool execution requires approval"


@pytest.mark.parametrize(
    "bad", [{"turn": ""}, {"path": "billing"}, {"path": [5]}, {"path": ["\ud800"]}]
)
async def test_a_turn_or_path_that_can_not_be_meant_is_a_sentence(
    gate: Gate, bad: dict[str, Any]
) -> None:
    """An empty turn would be the same one each time: its later calls would find the first one's results."""
    with pytest.raises(InvalidToolCall, match=r"The (turn|path) "):
        await gate.submit([call(n=1)], thread_id="t-1", **bad)
    assert await gate.reviews.store.thread_ids("t-1") == []


WRONG = [
    ({"calls": None}, "The calls must be a list of ToolCalls, not None"),
    ({"calls": call(n=1)}, "The calls must be a list of ToolCalls, not ToolCall"),
    ({"calls": "ask"}, "The calls must be a list of ToolCalls, not 'ask'"),
    ({"calls": [{"id": "c1", "name": "ask", "args": {}}]}, "ToolCall.from_mapping"),
    ({"tools": ["ask"]}, "The tools must be an object"),
    ({"tools": {5: None}}, "The name of a tool must be text, not 5"),
    ({"tools": {"ask": []}}, "The schema of ask must be a JSON Schema object or None"),
    ({"path": 5}, "The path must be a list of names, not 5"),
    ({"path": None}, "The path must be a list of names, not None"),
    ({"origin": []}, "The origin must be text"),
    ({"origin": 0}, "The origin must be text"),
    ({"requester": 0}, "The requester must be text"),
    ({"turn": 0}, "The turn must be text"),
    ({"turn": False}, "The turn must be text"),
]


@pytest.mark.parametrize(("bad", "sentence"), WRONG, ids=range(len(WRONG)))
async def test_a_value_of_another_type_is_a_sentence(
    gate: Gate, bad: dict[str, Any], sentence: str
) -> None:
    """Also the turn 0 of a loop that counts: it would be the same turn each time."""
    given = {"calls": [call(n=1)], "thread_id": "t-1", **bad}
    with pytest.raises(InvalidToolCall, match=sentence):
        await gate.submit(given.pop("calls"), **given)
    assert await gate.reviews.store.thread_ids("t-1") == []


@pytest.mark.parametrize("reason", [5, ["late"], "\ud800"])
async def test_a_reason_that_can_not_be_stored_is_a_sentence(gate: Gate, reason: Any) -> None:
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    for cancel in (gate.cancel, gate.withdraw):
        with pytest.raises(InvalidToolCall, match="The reason must be valid text"):
            await cancel(review_id, reason)
    assert (await gate.reviews.load(review_id)).review.status == "pending"


@pytest.mark.parametrize("bad", [{"lease": 0}, {"lease": "30"}, {"heartbeat_ttl": float("nan")}])
def test_a_lease_in_which_nothing_can_run_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="must be a number of seconds above 0"):
        Gate(MemoryStore(), policy=POLICY, agent="billing", **bad)


async def test_a_review_of_another_agent_is_not_this_ones(gate: Gate) -> None:
    """Given the id of another agent's review, then this agent neither runs its calls nor cancels it: people
    approved them for the other one."""
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    async with Gate(gate.reviews.store, policy=POLICY, agent="other") as other:
        for use in (other.wait, other.cancel, other.withdraw):
            with pytest.raises(ReviewNotFound, match="it is of 'billing'"):
                await use(review_id)
    review = (await gate.reviews.load(review_id)).review
    assert (review.status, review.waiting_process) == ("pending", None)


@pytest.mark.parametrize("agent", ["", None, 5, "\ud800"])
def test_a_gate_without_the_name_of_its_agent_is_refused_at_once(agent: Any) -> None:
    """And not at its first submit: a setting that is missing is found when the program starts."""
    with pytest.raises(SettingsError, match="`agent` must be the name of your program"):
        Gate(MemoryStore(), policy=POLICY, agent=agent)
