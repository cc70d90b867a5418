"""A plain interrupt([HumanInterrupt]) in the format of Agent Inbox, from any node."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt

from hitl_core.errors import IntegrationError, Refused
from tests.integrations.agents import Lab
from tests.integrations.graphs import State, asking, run_and_answer
from tests.support.waiting import wait_until

ALL = {f"allow_{what}": True for what in ("accept", "edit", "respond", "ignore")}


def request(action: str = "send_email", config: Any = ALL, **args: Any) -> dict[str, Any]:
    return {"action_request": {"action": action, "args": args}, "config": config}


async def test_each_request_gets_its_human_response(lab: Lab) -> None:
    """Given a list of four requests, when each is decided otherwise, then the node gets Agent
    Inbox's answers in its order (an accept repeats what may be edited), and an action keeps its title."""
    requests = [
        request(to="a"),
        request("Send an e-mail!", to="b"),
        request(to="c"),
        request(to="d"),
    ]
    got = await run_and_answer(
        lab, requests, "approve", {"to": "E"}, ("respond", "call them"), "ignore"
    )
    assert got == [
        {"type": "accept", "args": {"action": "send_email", "args": {"to": "a"}}},
        {"type": "edit", "args": {"action": "Send an e-mail!", "args": {"to": "E"}}},
        {"type": "response", "args": "call them"},
        {"type": "ignore", "args": None},
    ]
    [review] = await lab.all_reviews("t-1")
    assert [c.name for c in review.calls][1] == "Send_an_e-mail_"
    asked = review.actions[1].request
    assert (asked.title, asked.description) == (
        "Send an e-mail!",
        "Tool execution requires approval",
    )
    assert {key: run.line for key, run in review.runs.items()} == dict.fromkeys(
        ("1", "2", "3"), "handed to the agent"
    )


async def test_a_bare_request_is_answered_with_a_list_of_one(lab: Lab) -> None:
    bare = request(config={"allow_accept": True}, to="a")
    assert await run_and_answer(lab, bare, "approve") == [{"type": "accept", "args": None}]


async def test_the_config_and_the_policy_say_what_may_be_decided(lab: Lab) -> None:
    """Given a rule of approve and reject, then people may approve, or ignore, which is Agent
    Inbox's rejection."""
    rule = {"allowed_decisions": ["approve", "reject"]}
    lab.set_policy(default="allow", interrupt_on={"send_email": rule})
    paused = await asking(lab, [request(to="a")]).run({"out": []}, thread_id="t-1")
    [action] = (await lab.review(paused.review_id)).actions
    assert action.config.allowed_decisions == ("approve", "ignore")


async def test_what_the_policy_denies_is_ignored(lab: Lab) -> None:
    lab.set_policy(default="allow", interrupt_on={"send_email": "deny"})
    got = await run_and_answer(lab, [request(to="a"), request("other", x=1)], "ignore")
    assert got == [{"type": "ignore", "args": None}] * 2


async def test_what_is_cancelled_is_ignored_though_it_was_approved(lab: Lab) -> None:
    """Given two requests, one approved, when the review is cancelled, then the node is told to skip both."""
    drives = asking(lab, [request(to="a"), request(to="b")])
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1")
        review = await lab.review(paused.review_id)
        await lab.decide_one(review.id, review.actions[0], "approve")
        await lab.gate.cancel(review.id, "The customer called back.")
        await lab.done(review.id)
    assert lab.stops[0].state["out"] == [[{"type": "ignore", "args": None}] * 2]


async def test_a_deadline_ignores(lab: Lab) -> None:
    """Given a policy that rejects at a deadline, which Agent Inbox doesn't have, then the node
    is told to skip."""
    lab.set_policy(
        default="allow",
        interrupt_on={"send_email": {"allowed_decisions": ["approve"], "expire": {"after": "1s"}}},
    )
    drives = asking(lab, [request(to="a")])
    async with lab.serving(drives):
        await lab.done((await drives.run({"out": []}, thread_id="t-1")).review_id)
    assert lab.stops[0].state["out"] == [[{"type": "ignore", "args": None}]]


async def test_nodes_side_by_side_wait_for_reviews_of_their_own(lab: Lab) -> None:
    """Given two requests and a question of another kind side by side, when one review is decided,
    then its node continues, and the others stay pending."""
    drives = asking(lab, [request(to="a")], [request(to="b")], {"question": "age?"})
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1")
        assert len(paused.review_ids) == 2
        for review_id in paused.review_ids:
            await lab.decide(review_id, "approve")
            await lab.done(review_id)
    stop = lab.stops[-1]
    assert (stop.finished, stop.review_ids, len(stop.unknown)) == (False, (), 1)
    with pytest.raises(Refused, match="an interrupt that is not a review"):
        await drives.run({"out": []}, thread_id="t-1")


async def test_a_node_that_raises_after_its_answer_is_told_and_not_run_again(lab: Lab) -> None:
    """Given a node that raises on its answer, then its card says so, the owner is told, and nothing
    is retried; new input asks people again."""
    ran: list[Any] = []

    def node(state: Any) -> Any:
        ran.append(interrupt([request(to="a")]))
        raise ValueError("secret")

    graph = StateGraph(State)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    drives = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        review = await lab.done(paused.review_id)
    assert len(ran) == 1
    assert review.runs["1"].line == "failed: ValueError"
    assert "ValueError" in str(lab.stops[0].refusal)
    again = await drives.run({"out": []}, thread_id="t-1")
    assert again.review_id not in (None, paused.review_id)
    assert len(ran) == 1


async def test_a_checkpointer_that_cant_write_is_not_a_node_that_raised(lab: Lab) -> None:
    """attack 7, M5: given a database that can't be written while a question is answered, so that nobody knows
    how far the node got, then a person is asked, and the decision is not lost."""

    def node(state: Any) -> Any:
        return {"out": [interrupt([request(to="a")])]}

    graph = StateGraph(State)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    drives = lab.reviews.drive(graph.compile(checkpointer=lab.saver))

    async def doubts() -> Any:
        return (await lab.review(paused.review_id)).calls_in_doubt

    async with lab.serving(drives), lab.firing():
        paused = await drives.run({"out": []}, thread_id="t-1")
        await lab.saver.conn.execute("PRAGMA query_only = 1")
        await lab.decide(paused.review_id, "approve")
        await wait_until("a doubt", doubts)
        assert not lab.stops
        await lab.saver.conn.execute("PRAGMA query_only = 0")
        await lab.resolve(paused.review_id, "rerun")
        await lab.done(paused.review_id)
    assert lab.stops[-1].finished
    assert [each["type"] for [each] in lab.stops[-1].state["out"]] == ["accept"]


async def test_what_raises_after_the_node_does_not_ask_again(lab: Lab) -> None:
    """Given a later node that raises at first, when the run is resumed, then the answered
    node does not run again."""
    ran: list[str] = []

    def first(state: Any) -> Any:
        answer = interrupt([request(to="a")])
        ran.append("first")
        return {"out": [answer]}

    def second(state: Any) -> Any:
        ran.append("second")
        if ran.count("second") == 1:
            raise ConnectionError("away")
        return {"out": []}

    graph = StateGraph(State)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    drives = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert ran == ["first", "second", "second"]


async def test_nodes_that_were_sent_out_are_answered_one_after_the_other(lab: Lab) -> None:
    """Given nodes that were sent out in parallel, each with its own request, then all are reviewed
    and answered."""

    def fan(state: Any) -> Any:
        return [Send("n", {"out": [], "to": to}) for to in "abc"]

    def node(state: Any) -> Any:
        return {"out": [interrupt([request(to=state["to"])])[0]["type"]]}

    graph = StateGraph(State)
    graph.add_node("n", node)
    graph.add_conditional_edges(START, fan, ["n"])
    drives = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1")
        assert len(paused.review_ids) == 3
        for review_id, decision in zip(
            paused.review_ids, ("approve", "ignore", "approve"), strict=True
        ):
            await lab.decide(review_id, decision)
        await wait_until("the end", lambda: any(stop.finished for stop in lab.stops))
    [last] = [stop for stop in lab.stops if stop.finished]
    assert sorted(last.state["out"]) == ["accept", "accept", "ignore"]


async def test_a_request_that_the_policy_leaves_nothing_to_decide_on_is_an_error(lab: Lab) -> None:
    lab.set_policy(default="allow", interrupt_on={"send_email": {"allowed_decisions": ["edit"]}})
    asks = request(config={"allow_accept": True}, to="a")
    with pytest.raises(IntegrationError, match="No decision is possible on `send_email`"):
        await asking(lab, asks).run({"out": []}, thread_id="t-1")


@pytest.mark.parametrize(
    "policy",
    [
        {"expire": {"after": "1h", "decision": "respond", "message": "Nobody was there"}},
        {"expire": {"after": "1h"}},
        {"interrupt_on": {"send_email": "deny"}},
        {"interrupt_on": {"send_email": {"allowed_decisions": ["approve", "reject"]}}},
    ],
)
async def test_what_the_node_can_not_be_told_is_an_error_before_anybody_is_asked(
    lab: Lab, policy: Any
) -> None:
    """Given a node that takes only an accept, and a policy that may need a no, or an
    answer."""
    lab.set_policy(default="allow", **policy)
    with pytest.raises(IntegrationError, match="The policy"):
        await asking(lab, request(config={"allow_accept": True})).run({"out": []}, thread_id="t-1")
    assert await lab.all_reviews("t-1") == []


async def test_a_request_that_allows_nothing_is_left_alone_and_the_log_says_why(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    run = await asking(lab, [request(config={}, to="a")]).run({"out": []}, thread_id="t-1")
    assert (run.review_ids, len(run.unknown)) == ((), 1)
    assert "No decision is allowed on send_email" in caplog.text


@pytest.mark.parametrize(
    "value",
    [
        "Approve?",
        [],
        [request(to=float("nan"))],
        {"type": "accept", "args": None},
        [{"type": "edit", "question": "Which?"}],
        {"decisions": [{"type": "approve"}]},
        [request(to="a"), "and more"],
        {"action_request": {"action": "x"}, "config": {}},
        {"action_requests": [{"name": "x", "args": {}}], "review_configs": []},
        {"action_requests": [{"name": "x", "args": {}}], "review_configs": [{}]},
        {"type": "tool_approval", "tool_call_id": "c1"},
    ],
)
async def test_other_interrupts_are_left_alone(lab: Lab, value: Any) -> None:
    run = await asking(lab, value).run({"out": []}, thread_id="t-1")
    assert (run.finished, run.review_ids, len(run.unknown)) == (False, (), 1)
