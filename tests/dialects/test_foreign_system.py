"""Decisions that people make late, or after an edit, can always be expressed in the format of the agent's own
system.
"""

from __future__ import annotations

from typing import Any

import pytest

from bot.api.review_view import to_review_out
from bot.api.submissions import judge_turn
from bot.api.wire import SubmitInterrupt
from bot.web import ApiProblem
from hitl_core.errors import DecisionError, Refused
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DoubtAnswer, Review, encode
from hitl_core.policy import Policy
from hitl_core.review import claims, decisions
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

Json = dict[str, Any]
EDITS = ["approve", "edit", "reject"]
ARGS = {"n": 1}


def batch(*allowed: str) -> Json:
    config = {"action_name": "pay", "allowed_decisions": list(allowed)}
    return {"action_requests": [{"name": "pay", "args": ARGS}], "review_configs": [config]}


def camel(*allowed: str) -> Json:
    config = {"actionName": "pay", "allowedDecisions": list(allowed)}
    return {"actionRequests": [{"name": "pay", "args": ARGS}], "reviewConfigs": [config]}


def approval(*allowed: str) -> Json:
    call = {"tool_call_id": "c1", "tool_name": "pay", "arguments": ARGS}
    return {
        "action_requests": [call],
        "review_configs": {"pay": {"allowed_decisions": list(allowed)}},
        "hitl_tool_call_ids": ["c1"],
    }


def inbox(*flags: str) -> Json:
    config = {f"allow_{each}": each in flags for each in ("accept", "edit", "respond", "ignore")}
    return {"action_request": {"action": "pay", "args": ARGS}, "config": config}


async def submit(interrupt: Json, **config: Any) -> Review:
    submission = SubmitInterrupt(thread_id="t-1", turn="m1", interrupt=interrupt)
    policy = Policy.from_mapping({"default": "review", **config})
    (turn,) = await judge_turn(policy, submission)
    return turn.build(ReviewKey("crm", "t-1", "m1", None), 1, START)[0]


def edit(review: Review, **args: Any) -> Review:
    proposal = Proposal("edit", 1, args=encode(args))
    return decisions.decide(review, "1", proposal, person(), START + 1).review


def by_amount(small: Json, large: Json) -> Json:
    """Up to 10 the rule `pay` applies, above it the rule `p*`, with other people."""
    when = {"properties": {"n": {"maximum": 10}}}
    others = {"users": ["U0BBBBBBB"], "editor_approves": False}
    return {
        "pay": {"allowed_decisions": EDITS, "when": when, **small},
        "p*": {"allowed_decisions": EDITS, "reviewers": others, **large},
    }


ASKS = [
    pytest.param(batch(*EDITS), id="langchain"),
    pytest.param(camel(*EDITS), id="langchain_js"),
    pytest.param(approval(*EDITS), id="sagents"),
    pytest.param(inbox("accept", "edit", "ignore"), id="agent_inbox"),
]


@pytest.mark.parametrize(
    ("answer", "text"), [("skip", "skipped"), ("ran", "ran; its result was lost")]
)
@pytest.mark.parametrize("interrupt", ASKS)
async def test_what_a_person_said_of_a_doubt_is_not_sent_as_an_approval(
    interrupt: Json, answer: DoubtAnswer, text: str
) -> None:
    """Given a call that was approved and is in doubt; then the person's "Go on without it" or "It ran" is a
    no in every system, with what became of the call where a no takes a text: a yes would run it, maybe again.
    """
    review = await submit(interrupt)
    review = decisions.decide(review, "1", Proposal("approve", 1), person(), START + 1).review
    claimed = claims.claim(review, "http:x:", START + 2, 5).review
    started = claims.start(claimed, claimed.fence, "1", START + 3).review
    doubtful = claims.expire_lease(started, START + 10).review

    resolved = claims.resolve(doubtful, "1", answer, person(), START + 11).review

    resume = to_review_out(resolved).resume
    [decision] = resume["decisions"] if isinstance(resume, dict) else resume
    assert decision["type"] in ("reject", "ignore")
    assert text in decision.get("message", text)


@pytest.mark.parametrize("interrupt", ASKS)
async def test_an_edit_brings_no_deadline_that_the_system_cannot_receive(
    interrupt: Json,
) -> None:
    """Given another rule for large amounts, whose deadline answers in place of the tool; then an edit to a
    large amount is refused, as the interrupt would be with that amount."""
    expire = {"after": "1h", "decision": "respond", "message": "Nobody was there"}
    large = {"allowed_decisions": [*EDITS, "respond"], "expire": expire}
    review = await submit(interrupt, interrupt_on=by_amount({}, large))

    with pytest.raises(Refused, match="would respond this pay at its deadline"):
        edit(review, n=50)

    assert edit(review, n=2).actions[0].decision


async def test_an_edit_brings_no_rejection_that_the_system_cannot_receive() -> None:
    """Given a rule that only lets people approve and edit, and an interrupt without a word for no."""
    rules = by_amount({"allowed_decisions": ["approve", "edit"]}, {})
    review = await submit(batch("approve", "edit"), interrupt_on=rules)

    with pytest.raises(Refused, match="lets people reject this pay"):
        edit(review, n=50)


async def test_a_deadline_that_the_system_can_receive_stays() -> None:
    """Agent Inbox receives a rejection as `ignore`."""
    rules = by_amount({}, {"expire": {"after": "1h", "decision": "reject"}})
    review = await submit(inbox("accept", "edit", "ignore"), interrupt_on=rules)

    assert edit(review, n=50).actions[0].is_pending


async def test_people_can_say_no_after_an_edit_in_a_system_without_rejections() -> None:
    """Given Agent Inbox, whose only word for no is `ignore`, and a rule that lets people reject."""
    review = await submit(inbox("accept", "edit", "ignore"), interrupt_on=by_amount({}, {}))

    edited = edit(review, n=50)

    assert edited.actions[0].config.allowed_decisions == ("approve", "edit", "ignore")
    ignored = decisions.decide(edited, "1", Proposal("ignore", 2), person(), START + 2).review
    assert to_review_out(ignored).resume == [{"type": "ignore", "args": None}]


@pytest.mark.parametrize(
    "interrupt", [camel(*EDITS), inbox("accept", "edit", "ignore")], ids=["js", "inbox"]
)
async def test_an_edit_has_no_number_that_the_system_cannot_receive(interrupt: Json) -> None:
    """JavaScript would change it, so the answer could never be sent, and the agent would wait."""
    review = await submit(interrupt)

    with pytest.raises(DecisionError, match="beyond 2\\^53") as refused:
        edit(review, n=1, rows=[{"id": 2**60}])

    assert refused.value.field == "/rows/0/id"
    assert to_review_out(edit(review, n=2**53 - 1)).resume is not None


async def test_a_system_that_holds_every_whole_number_gets_it() -> None:
    assert to_review_out(edit(await submit(batch(*EDITS)), n=2**60)).resume is not None


@pytest.mark.parametrize("who", [{"quorum": 2}, {"editor_approves": False}])
@pytest.mark.parametrize("interrupt", [batch("edit"), batch("edit", "reject"), inbox("edit")])
async def test_no_edit_is_offered_that_nobody_could_approve(interrupt: Json, who: Json) -> None:
    """Given a policy by which other people approve an edit, and an interrupt without a word for that; then it
    is refused before anybody is asked: each edit would be refused."""
    users = ["U0AAAAAAA", "U0BBBBBBB", "U0CCCCCCC"]
    reviewers = {"reviewers": {"users": users, **who}}
    with pytest.raises(ApiProblem, match="lets other people approve an edited `pay`"):
        await submit(interrupt, **reviewers)
    assert (await submit(batch("approve", "edit"), **reviewers)).actions
