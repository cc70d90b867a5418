"""The state machine as tables: what people do, and what happens as time passes."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.gate.outcome.answers import answers
from hitl_core.model import Decision, DecisionType, Place, Review
from hitl_core.review import claims
from hitl_core.review.commands import cancel
from hitl_core.review.decisions import check_decidable, decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.escalation import apply_due, deadline, due_at, escalate
from tests.review.refusals import raises_refused
from tests.support.builders import START, call, person, policy, proposal, review_of

NOW = START + 5
ADA, BO = person("Ada"), person("Bo")


def one(name: str = "ask", **args: Any) -> Review:
    return review_of([call(name, **(args or {"n": 1}))])[0]


def decide_by_ada(review: Review, type: str = "approve", key: str = "1", **more: Any) -> Review:
    return decide(review, key, proposal(type, **more), ADA, NOW).review


def decision_of(review: Review, key: str = "1") -> Decision:
    action = review.action(key)
    assert action is not None
    assert action.decision is not None
    return action.decision


# ------------------------------------------------------------------------ decide


@pytest.mark.parametrize(
    ("plan", "runs"),
    [
        (proposal("approve"), True),
        (proposal("edit", n=2), True),
        (proposal("reject"), False),
        (proposal("respond", message="42"), False),
        (proposal("ignore"), False),
    ],
    ids=lambda value: value.type if isinstance(value, Proposal) else "",
)
def test_each_decision_settles_its_action(plan: Proposal, runs: bool):
    """Given one action, when it is decided, then who, when and on which hash is kept; only a yes runs."""
    review = one()

    after, event = decide(review, "1", plan, ADA, NOW)

    made = decision_of(after)
    assert (made.type, made.by, made.at, made.message) == (plan.type, ADA, NOW, plan.message)
    assert made.args_hash == after.arguments("1").hash
    assert (after.status, after.settled_at) == ("settled", NOW)
    assert [c.key for c in claims.runnable_calls(after)] == (["1"] if runs else [])
    assert (event.kind, event.by, event.action, event.what) == ("decided", ADA, "1", plan.type)
    assert event.args_hash == made.args_hash
    assert review.status == "pending", "the value that was given is as it was"


def test_promise_6_an_edit_makes_a_new_revision():
    """New bytes, a new hash; the old ones stay; a click on the old revision is told."""
    review = one(n=1)
    after = decide_by_ada(review, "edit", n=2)
    action = after.action("1")
    assert action is not None
    assert (action.revision, decision_of(after).revision) == (2, 2)
    assert action.args_hash == after.arguments("1", 2).hash != review.arguments("1").hash
    assert after.arguments("1", 1) == review.arguments("1")
    assert after.calls[0].args_hash == review.calls[0].args_hash


@pytest.mark.parametrize("args", [{"n": 1}, {}], ids=["same", "none"])
def test_an_edit_that_changes_nothing_is_refused(args: dict[str, Any]):
    """It points to Approve."""
    with raises_refused("unchanged", "press Approve"):
        decide(one(n=1), "1", proposal("edit", **args), ADA, NOW)


def test_an_edit_that_changes_only_the_type_of_a_number_is_an_edit():
    assert decide_by_ada(one(n=1), "edit", n=1.0).arguments("1").parse() == {"n": 1.0}


@pytest.mark.parametrize(
    ("tool", "plan", "code", "text"),
    [
        ("rerunnable", proposal("edit", n=2), "not_allowed", "doesn't allow this answer for rerun"),
        ("strict", proposal("respond", message="no"), "not_allowed", "doesn't allow this answer"),
        ("ask", proposal("respond"), "message_required", "Write the answer"),
        ("ask", proposal("respond", message=" \n"), "message_required", "Write the answer"),
        ("strict", proposal("reject"), "message_required", "Write why"),
        ("strict", proposal("reject", message="  "), "message_required", "Write why"),
        ("ask", proposal("approve", revision=0), "stale", "in the meantime"),
        ("ask", proposal("approve", revision=2), "stale", "in the meantime"),
        ("hurried", proposal("approve"), "expired", "The time to decide on hurried is over"),
    ],
)
def test_promise_6_what_is_refused_says_why(tool: str, plan: Proposal, code: str, text: str):
    with raises_refused(code, text):
        decide(one(tool), "1", plan, ADA, NOW)


@pytest.mark.parametrize("kind", ["reject", "respond"])
def test_a_reason_and_an_answer_are_limited(kind: DecisionType):
    """Given a client that ignores the limit of the input, then what is too long is refused."""
    decide(one("ask"), "1", proposal(kind, message="x" * 10_000), ADA, NOW)
    with raises_refused("invalid_answer", "at most 10,000"):
        decide(one("ask"), "1", proposal(kind, message="x" * 10_001), ADA, NOW)


def test_an_unknown_action_is_refused():
    """Also that of a call which nobody had to decide."""
    review, _ = review_of([call("look_up", "c1"), call("ask", "c2")])
    for key in ("1", "3", "", "1:1"):
        with raises_refused("unknown_action"):
            decide(review, key, proposal(), ADA, NOW)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (proposal("approve"), "“Ada” (U_ADA) already approved ask."),
        (proposal("edit", n=2), "“Ada” (U_ADA) already edited and approved ask."),
        (proposal("reject"), "“Ada” (U_ADA) already rejected ask."),
        (proposal("respond", message="x"), "“Ada” (U_ADA) already answered ask."),
        (proposal("ignore"), "“Ada” (U_ADA) already skipped ask."),
    ],
)
def test_promise_2_the_second_is_told_who_was_first(first: Proposal, message: str):
    """Any press, on any revision, changes nothing."""
    after = decide(one(), "1", first, ADA, NOW).review
    for plan in (proposal(), proposal("reject", revision=2), proposal("edit", revision=2, n=9)):
        with raises_refused("already_decided", message):
            decide(after, "1", plan, BO, NOW + 1)


def test_promise_2_the_deadline_is_told_too():
    after = apply_due(one("timed"), START + 30).review
    with raises_refused("already_decided", "The deadline already rejected timed."):
        decide(after, "1", proposal(), ADA, START + 31)


def test_it_settles_with_the_last_decision():
    """Given three actions, then the review settles with the third, and not before."""
    review, _ = review_of([call("ask", f"c{n}", n=n) for n in range(3)])
    for key, status in (("2", "pending"), ("1", "pending"), ("3", "settled")):
        review = decide_by_ada(review, "approve", key)
        assert review.status == status


def test_the_message_is_kept_without_its_edges():
    assert decision_of(decide_by_ada(one(), "reject", message="  not now \n")).message == "not now"
    assert decision_of(decide_by_ada(one(), "approve", message="   ")).message is None


# ------------------------------------------------------------------------ time


@pytest.mark.parametrize(
    ("after", "places", "decision"),
    [
        (9.999, ("slack:#first",), None),
        (10, ("slack:#first", "slack:#second"), None),
        (20, ("slack:#first", "slack:#second", "slack:#third"), None),
        (30, ("slack:#first",), "reject"),
        (3000, ("slack:#first",), "reject"),
    ],
)
def test_time_escalates_then_expires(after: float, places: tuple[str, ...], decision: str | None):
    """However late a bot looks: what has expired is not shown to more people first (K3)."""
    review = one("timed")
    if after < 10:
        with raises_refused("not_due"):
            apply_due(review, START + after)
    else:
        review = apply_due(review, START + after).review
    action = review.action("1")
    assert action is not None
    assert action.places == places
    assert (action.decision and action.decision.type) == decision
    assert (action.decision is None) or action.decision.by is None


def test_promise_9_without_a_deadline_it_waits_for_ever():
    review = one("ask")
    assert deadline(review.actions[0]) is due_at(review) is None
    with raises_refused("not_due"):
        apply_due(review, START + 1e9)


def test_one_look_expires_one_and_the_next_escalates_the_other():
    """Two actions are late: the expiry comes first, and nothing that was due is forgotten."""
    review, _ = review_of([call("timed", "c1"), call("hurried", "c2")])
    after, event = apply_due(review, START + 10)
    assert event.kind == "expired"
    assert due_at(after) == START + 10
    after, event = apply_due(after, START + 10)
    assert (event.kind, event.what) == ("escalated", "slack:#second")
    assert due_at(after) == START + 20


def test_due_is_the_nearest():
    review, _ = review_of([call("timed", "c1"), call("hurried", "c2"), call("ask", "c3")])
    assert due_at(review) == START + 1
    review = decide(review, "2", proposal(), ADA, START).review
    assert due_at(review) == START + 10
    review = decide(review, "1", proposal(), ADA, START).review
    assert due_at(review) is None


def test_a_button_takes_one_step_and_time_the_rest():
    """Escalating is no decision: the action waits, its buttons stay good."""
    review = one("timed")
    review, event = escalate(review, Place("slack:#first"), BO, START + 1)
    assert (event.kind, event.by, event.what) == ("escalated", BO, "slack:#second")
    assert due_at(review) == START + 20
    assert review.actions[0].revision == 1
    review = apply_due(review, START + 20).review
    assert due_at(review) == START + 30
    assert [e.by for e in review.actions[0].escalations] == [BO, None]
    with raises_refused("nothing_to_escalate", "#second, #third can decide too"):
        escalate(review, Place("slack:#third"), BO, START + 21)
    assert decide_by_ada(review).status == "settled"


def test_two_people_who_escalate_at_once_take_one_step():
    """The second saw a card without the step that the first one took."""
    review = escalate(one("timed"), Place("slack:#first"), BO, START + 1, steps_on_card=0).review
    with raises_refused("nothing_to_escalate", "already escalated: #second can decide too"):
        escalate(review, Place("slack:#first"), ADA, START + 1, steps_on_card=0)
    assert (
        len(escalate(review, Place("slack:#first"), ADA, START + 2, steps_on_card=1).review.places)
        == 3
    )


def test_an_exhausted_chain_hides_no_step_of_another():
    """Given one chain at its end and one behind it, then two people at once still take one step."""
    places = ("slack:#b", "slack:#c", "slack:#d")
    steps = [{"after": f"{n}00s", "to": to} for n, to in enumerate(places, start=1)]
    quick = [{"after": "1s", "to": "slack:#b"}, {"after": "2s", "to": "slack:#c"}]
    rules = policy(
        quick={"notify": "slack:#first", "escalate": quick},
        slow={"notify": "slack:#first", "escalate": steps},
    )
    review = review_of([call("quick", "c1"), call("slow", "c2")], by=rules)[0]
    review = apply_due(review, START + 3).review
    review = escalate(review, Place("slack:#first"), BO, START + 4, steps_on_card=2).review
    with raises_refused("nothing_to_escalate"):
        escalate(review, Place("slack:#first"), ADA, START + 4, steps_on_card=2)


def test_escalating_what_is_over_changes_nothing():
    review = one("timed")
    with raises_refused("expired", "time to decide is over"):
        escalate(review, Place("slack:#first"), ADA, START + 30)
    with raises_refused("already_decided"):
        escalate(decide_by_ada(review), Place("slack:#first"), ADA, NOW)
    with raises_refused("already_decided"):
        escalate(review, Place("slack:#elsewhere"), ADA, NOW)
    with raises_refused("nothing_to_escalate", "nobody else"):
        escalate(one(), Place("default"), ADA, NOW)


def test_what_can_only_be_refused_is_known_before_the_form_opens():
    review = one("timed")
    action = review.actions[0]
    check_decidable(review, action, 1, NOW)
    with raises_refused("stale"):
        check_decidable(review, action, 2, NOW)
    with raises_refused("expired"):
        check_decidable(review, action, 1, START + 30)


# ------------------------------------------------------------------------ cancel


def test_a_cancelled_review_is_settled_and_asks_nobody():
    """Nothing of it runs, not even what was allowed or approved. A rejection stays."""
    review = review_of([call("ask", "c1"), call("ask", "c2"), call("look_up", "c3"), call("ask")])[
        0
    ]
    review = decide_by_ada(decide_by_ada(review), "reject", key="2", message="no")

    changed = cancel(review, None, "  the user went on ", NOW)

    cancelled = changed.review
    assert (cancelled.status, cancelled.settled_at, due_at(cancelled)) == ("settled", NOW, None)
    assert changed.event.kind == "cancelled"
    assert claims.runnable_calls(cancelled) == ()
    texts = [answer.content for answer in answers(cancelled)]
    reason = "was cancelled. It was not executed. Reason: the user went on"
    assert texts[0] == f"The tool call `ask` {reason}"
    assert texts[1] == "User rejected the tool call for `ask` with reason: no"
    assert texts[2] == f"The tool call `look_up` {reason}"
    for step in (
        lambda: decide(cancelled, "4", proposal(), ADA, NOW),
        lambda: escalate(cancelled, Place("default"), ADA, NOW),
        lambda: cancel(cancelled, BO, None, NOW),
    ):
        with raises_refused("cancelled", "The agent cancelled this"):
            step()
    with raises_refused("not_due"):
        apply_due(cancelled, NOW + 1e9)


def test_what_an_agent_has_can_not_be_cancelled():
    """Neither while it runs, nor when it is done, nor when something of it may have run."""
    held = claim(decide_by_ada(one("ask")))
    started = claims.start(held, held.fence, "1", NOW).review
    finished = claims.finish(held, held.fence, {}, NOW).review
    for review in (held, finished, claims.expire_lease(started, NOW + 31).review):
        with raises_refused("started"):
            cancel(review, ADA, None, NOW + 31)


def test_what_is_settled_and_not_taken_yet_can_be_cancelled():
    settled = decide_by_ada(one("ask"))
    cancelled = cancel(settled, ADA, None, NOW + 1).review
    assert cancelled.settled_at == NOW
    assert claims.runnable_calls(claim(cancelled, NOW + 2)) == ()
    with raises_refused("already_decided", "“Ada” (U_ADA) already approved"):
        decide(cancelled, "1", proposal(), BO, NOW + 1)


def claim(review: Review, now: float = NOW, lease: float = 30) -> Review:
    return claims.claim(review, "p1", now, lease).review
