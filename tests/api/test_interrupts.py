"""An agent submits the interrupt of its own framework, and gets the decisions in that framework's format."""

from __future__ import annotations

from typing import Any

import pytest

from bot.api.policies import Policies
from hitl_core.model import DecisionType
from hitl_core.policy import Policy
from hitl_core.review import Decide, claims, escalation
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.api.client import Client, tool_call
from tests.api.conftest import Open
from tests.api.interrupts import ALL, ARGS, INTERRUPTS, RESUMES, asks, batch, edit, post_interrupt
from tests.support.builders import approve_all, person

EACH = [(name, kind) for name, kinds in RESUMES.items() for kind in kinds]


async def decide(reviews: Reviews, id: str, kind: DecisionType, key: str = "1") -> None:
    """With `n` made 2, or the message "no"."""
    message = "no" if kind in ("reject", "respond") else None
    said = edit(n=2) if kind == "edit" else Proposal(kind, 1, message)
    await reviews.apply(Decide(id, key, said, person(), f"{id}:{key}"))


# ------------------------------------------------------------------------------------- every system


@pytest.mark.parametrize(("name", "kind"), EACH)
async def test_an_interrupt_comes_in_as_it_is_and_its_answer_goes_out(
    client: Client, reviews: Reviews, name: str, kind: Any
):
    """Given each system's interrupt, and each decision that it knows; then it is resumed with exactly what
    it takes, and the outcome says the same."""
    which = {"dialect": name} if name == "xpertai" else {}
    review = (await post_interrupt(client, INTERRUPTS[name], **which)).body
    assert (review["dialect"], review["status"], review["resume"]) == (name, "pending", None)
    [action] = review["actions"]
    skip = {"ignore"} if "reject" in RESUMES[name] else set[str]()  # told as a rejection
    assert set(action["allowed_decisions"]) == {*RESUMES[name], *skip}

    await decide(reviews, review["id"], kind)

    review = await client.read(review["id"])
    assert review["resume"] == RESUMES[name][kind]
    runs = [call["args"] for call in review["outcome"]["execute"]]
    assert runs == {"approve": [ARGS], "edit": [{"n": 2}]}.get(kind, [])


async def test_the_same_turn_again_is_the_same_review(client: Client, reviews: Reviews):
    """Given an interrupt that is sent again; then nothing is new; under another turn people are asked again,
    independent of their earlier answers."""
    first = await post_interrupt(client, INTERRUPTS["langchain_js"])
    await approve_all(reviews, first.body["id"])

    again = await post_interrupt(client, INTERRUPTS["langchain_js"])
    other = await post_interrupt(client, INTERRUPTS["langchain_js"], turn="m2")

    assert (first.status, again.status, other.status) == (201, 200, 201)
    assert again.body["id"] == first.body["id"]
    assert again.body["resume"] is not None
    assert other.body["resume"] is None


async def test_an_answered_interrupt_can_be_done_with(client: Client, reviews: Reviews):
    """Given a system that runs its tools itself; then `done` ends the review, and its answer
    stays readable."""
    id = (await post_interrupt(client, INTERRUPTS["langchain_js"])).body["id"]
    await approve_all(reviews, id)

    done = await client.done(id)

    assert done.body["status"] == "done"
    assert done.body["resume"] == RESUMES["langchain_js"]["approve"]
    assert (await client.get("/v1/reviews?status=settled")).body["reviews"] == []


async def test_the_turns_own_calls_keep_their_ids(client: Client, reviews: Reviews):
    """Given an interrupt that names no ids, and the calls of its turn; then the review has all of them, and
    asks about those that the interrupt asks about."""
    calls = [tool_call("c1", "look_up"), tool_call("c2", n=1), tool_call("c3", n=1)]
    asked = batch(("ask", {"n": 1}, ALL), ("ask", {"n": 1}, ALL))

    review = (await post_interrupt(client, asked, calls=calls)).body

    assert [action["tool_call_id"] for action in review["actions"]] == ["c2", "c3"]
    await decide(reviews, review["id"], "approve", "2")
    await decide(reviews, review["id"], "reject", "3")
    review = await client.read(review["id"])
    assert [call["id"] for call in review["outcome"]["execute"]] == ["c1", "c2"]
    assert [each["type"] for each in review["resume"]["decisions"]] == ["approve", "reject"]
    assert (await client.once(review["id"], "c2", args={"n": 1})).body["run"] is True


async def test_several_interrupts_are_a_review_each(client: Client, reviews: Reviews):
    """Given two sub-agents of Sagents that ask at once; then each has its review, in their order, and is
    answered by itself."""
    inner = [
        {
            "type": "subagent_hitl",
            "task_name": name,
            "interrupt_data": {
                "action_requests": [{"tool_call_id": name, "tool_name": "ask", "arguments": {}}],
                "review_configs": {"ask": {"allowed_decisions": ALL}},
            },
        }
        for name in ("first", "second")
    ]

    await post_interrupt(client, inner[0])  # sent before, by a client whose second try this is

    reply = await post_interrupt(client, {"type": "multiple_interrupts", "interrupts": inner})

    assert (reply.status, "Location" in reply.headers) == (201, False)
    one, two = reply.body["reviews"]
    assert [r["actions"][0]["tool_call_id"] for r in (one, two)] == ["first", "second"]
    assert (await reviews.load(one["id"])).review.path == ("first",)
    await decide(reviews, two["id"], "reject")
    assert (await client.read(two["id"]))["resume"] == [{"type": "reject"}]
    assert (await client.read(one["id"]))["status"] == "pending"


async def test_a_question_is_answered_with_a_value(client: Client, reviews: Reviews):
    """Given a choice of ArcGIS; then the decision has what was chosen."""
    question = {
        "id": "i1",
        "agentId": "map",
        "kind": "singleSelection",
        "message": "Which?",
        "metadata": {"options": ["roads", "rivers"]},
    }
    review = (await post_interrupt(client, question)).body
    said = Proposal("respond", 1, None, None, None, "rivers")
    await reviews.apply(Decide(review["id"], "1", said, person(), "op"))

    review = await client.read(review["id"])

    assert review["actions"][0]["decision"]["answer"] == "rivers"
    assert review["resume"] == {"id": "i1", "agentId": "map", "payload": "rivers"}


# ------------------------------------------------------------------------- what the policy adds to it


async def test_while_a_call_is_in_doubt_there_is_nothing_to_resume_with(
    client: Client, reviews: Reviews
):
    """Given an agent that died after `once`; then its system is resumed when a person has said what became
    of the call."""
    id = (await post_interrupt(client, INTERRUPTS["sagents"])).body["id"]
    await approve_all(reviews, id)
    await client.once(id)
    await reviews.change(id, "lapse", lambda review, now: claims.expire_lease(review, now + 100))
    assert (await client.read(id))["resume"] is None

    await reviews.change(
        id, "ran", lambda review, now: claims.resolve(review, "1", "ran", person(), now)
    )

    # Sagents' word for no takes no text. An approval would run it again.
    assert (await client.read(id))["resume"] == RESUMES["sagents"]["reject"]


async def test_promise_1_what_the_policy_denies_is_rejected_and_nobody_is_asked(client: Client):
    """Given an interrupt about a call that the policy denies, beside one that people decide; then it is
    decided already, by the policy, and alone it is answered at once."""
    alone = (await asks(client, "drop_table")).body
    assert alone["status"] == "settled"
    [decision] = alone["resume"]["decisions"]
    assert decision["type"] == "reject"
    assert "The policy doesn't allow `drop_table`" in decision["message"]
    assert alone["outcome"]["execute"] == []
    assert alone["actions"][0]["decision"]["by"]["channel"] == "policy"

    interrupt = batch(("drop_table", {}, ALL), ("ask", {}, ALL))
    beside = (await post_interrupt(client, interrupt, turn="m2")).body
    assert beside["status"] == "pending"
    assert [bool(each["decision"]) for each in beside["actions"]] == [True, False]


async def test_what_is_denied_is_skipped_where_that_is_the_only_no(client: Client):
    """Agent Inbox has no word for a rejection."""
    interrupt = [
        {
            "action_request": {"action": "drop_table", "args": {}},
            "config": {"allow_accept": True, "allow_ignore": True},
        }
    ]

    assert (await post_interrupt(client, interrupt)).body["resume"] == [
        {"type": "ignore", "args": None}
    ]


async def test_a_context_tightens(client: Client):
    """Given a run that allows itself less than its policy; then that counts, in calls and in interrupts."""
    context = {"interrupt_on": {"ask": {"allowed_decisions": ["reject"]}, "look_up": "deny"}}

    calls = await client.submit(tool_call(), tool_call("c2", "look_up"), context=context)
    interrupt = await asks(client, "ask", context=context)

    for reply in (calls, interrupt):
        assert reply.body["actions"][0]["allowed_decisions"] == ["reject"]
    assert len(calls.body["actions"]) == 1
    loose = await client.submit(tool_call(), turn="m2", context={"interrupt_on": {"ask": False}})
    assert loose.body["status"] == "pending"


async def test_a_withdrawn_interrupt_is_answered_where_its_system_has_a_word(client: Client):
    """Given two cancelled reviews; then LangChain is told of it, and Agent Inbox, which has no
    word, nothing."""
    for name in ("langchain_js", "agent_inbox"):
        id = (await post_interrupt(client, INTERRUPTS[name], turn=name)).body["id"]
        cancelled = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The user went on"})
        assert cancelled.body["outcome"]["jump_to_model"] is True
        if name == "langchain_js":
            [decision] = cancelled.body["resume"]["decisions"]
            assert "The user went on" in decision["message"]
        else:
            assert cancelled.body["resume"] is None


NOBODY = {"after": "1h", "decision": "respond", "message": "Nobody was there"}
LATE = {"after": "1h"}
ACCEPT = [{"action_request": {"action": "pay", "args": {}}, "config": {"allow_accept": True}}]


def question(kind: str, *options: Any) -> dict[str, Any]:
    asked = {"id": "i1", "agentId": "map", "kind": kind, "message": "Which?"}
    return {**asked, "metadata": {"options": [*options]}} if options else asked


def only(**rule: Any) -> Policies:
    return Policies(Policy.from_mapping({"default": "review", **rule}))


@pytest.mark.parametrize(
    ("interrupt", "rule"),
    [
        (question("booleanChoice"), {"expire": NOBODY}),
        (question("singleSelection", "a", "b"), {"expire": NOBODY}),
        (question("singleSelection", "a", "b"), {"expire": {**NOBODY, "message": "b"}}),
        (question("multipleSelection", "a"), {"expire": LATE}),
        (question("textInput"), {"expire": NOBODY}),
        (question("textInput"), {"expire": LATE}),
        (question("textInput"), {"default": "deny"}),
        (ACCEPT, {"expire": NOBODY}),
        (ACCEPT, {"expire": {**NOBODY, "decision": "ignore"}}),
        (ACCEPT, {"expire": LATE}),
        (ACCEPT, {"default": "deny"}),
        (ACCEPT, {"interrupt_on": {"pay": {"allowed_decisions": ["approve", "reject"]}}}),
        (batch(("pay", {}, ["approve"])), {"interrupt_on": {"pay": True}}),
    ],
)
async def test_a_policy_that_an_interrupt_has_no_word_for_is_refused(
    open_api: Open, store: RedisStore, interrupt: Any, rule: Any
):
    """Given a deadline, a denial or a rejection that this interrupt can't be told;
    then the HTTP API says so, and what to change, and nobody is asked."""
    client = await open_api(policies=only(**rule))

    reply = await post_interrupt(client, interrupt)

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("/interrupt: The policy")
    assert await store.live_ids() == []


async def test_what_can_be_said_at_the_deadline_is_said(open_api: Open, reviews: Reviews):
    """Given a yes or no of ArcGIS, one that Agent Inbox lets people ignore, and a
    deadline that rejects; then each gets a no."""
    client = await open_api(policies=only(expire=LATE))
    ignorable = [{**ACCEPT[0], "config": {"allow_accept": True, "allow_ignore": True}}]
    reason = []
    for turn, interrupt in enumerate([question("booleanChoice"), ignorable]):
        id = (await post_interrupt(client, interrupt, turn=str(turn))).body["id"]
        await reviews.change(
            id, "late", lambda review, now: escalation.apply_due(review, now + 3700)
        )
        reason.append((await client.read(id))["resume"])

    assert reason == [
        {"id": "i1", "agentId": "map", "payload": False},
        [{"type": "ignore", "args": None}],
    ]


async def test_a_rule_that_only_tightens_leaves_the_interrupts_words(
    open_api: Open, reviews: Reviews
):
    """Given a rule that lets people only approve, and a deadline that rejects; then
    the deadline says what the interrupt takes, though no person may."""
    rule = {"allowed_decisions": ["approve"], "expire": LATE}
    client = await open_api(policies=only(interrupt_on={"pay": rule}))
    id = (await asks(client, "pay")).body["id"]
    await reviews.change(id, "late", lambda review, now: escalation.apply_due(review, now + 3700))

    [decision] = (await client.read(id))["resume"]["decisions"]

    assert decision["type"] == "reject"


async def test_no_answer_means_no_payload(client: Client):
    """Given a question of ArcGIS that is withdrawn; then there is nothing to resume it
    with: it would continue with any text."""
    id = (await post_interrupt(client, question("textInput"))).body["id"]

    cancelled = await client.post(f"/v1/reviews/{id}/cancel")

    assert cancelled.body["resume"] is None
