"""Random operations in any order: what must be true after each, while the clock moves."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hitl_core.errors import LeaseLost, Refused
from hitl_core.model import Action, Decision, Review
from hitl_core.review import claims, commands, decisions, escalation
from hitl_core.review.transition import Transition
from tests.support.builders import START, call, person, proposal, review_of

TOOLS = ("ask", "timed", "hurried", "rerunnable", "look_up", "drop_table", "strict")
KEYS = st.sampled_from([str(n) for n in range(1, len(TOOLS) + 1)])
PEOPLE = st.sampled_from([person("Ada"), person("Bo")])
LEASE = 10.0


class ReviewMachine(RuleBasedStateMachine):
    """Some steps are refused; a step that is refused changes nothing, as values are frozen."""

    def __init__(self) -> None:
        super().__init__()
        calls = [call(name, f"c{n}", n=n) for n, name in enumerate(TOOLS, start=1)]
        self.review: Review = review_of(calls)[0]
        self.now = START
        self.decided: dict[str, Decision] = {}
        self.starts: dict[str, int] = {}
        self.orders: dict[str, int] = {}

    @initialize(approved=st.sampled_from([True, True, False]))
    def where_it_begins(self, approved: bool) -> None:
        """Most lives begin after the people's half, or few would come far into the agent's. For the same
        reason a rule that could only be refused is left out where the tables test its refusals.
        """
        for action in self.review.actions if approved else ():
            self.apply(decisions.decide, action.key, proposal(), person("Cy"), self.now)

    def apply(self, step: Any, *args: Any) -> bool:
        before = self.review
        try:
            changed: Transition = step(before, *args)
        except (Refused, LeaseLost):
            return False
        self.review = changed.review
        assert changed.event.review_id == before.id
        assert changed.event.at == self.now
        for each in before.calls:
            was, run = before.runs.get(each.key), self.review.runs.get(each.key)
            if was and run and was.state == "started" and run.state == "cleared":
                assert each.idempotent, "only what is declared so runs again by itself"
                self.orders[each.key] = self.orders.get(each.key, 0) + 1
        return True

    @rule(seconds=st.sampled_from([0.001, 0.999, 1, 5, 10, 60]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.review.status == "pending")
    @rule(
        key=KEYS,
        type=st.sampled_from(["approve", "edit", "reject", "respond", "ignore"]),
        revision=st.sampled_from([1, 1, 1, 2]),
        n=st.integers(1, 3),
        message=st.sampled_from([None, "", "why"]),
        by=PEOPLE,
    )
    def somebody_decides(
        self, key: str, type: str, revision: int, n: int, message: str | None, by: Any
    ) -> None:
        edited = {"n": n} if type == "edit" else {}
        plan = proposal(type, revision, message, **edited)
        before = self.review.action(key)
        if self.apply(decisions.decide, key, plan, by, self.now):
            assert before is not None
            assert before.is_pending
            assert before.revision == revision
            deadline = escalation.deadline(before)
            assert deadline is None or self.now < deadline

    @precondition(lambda self: self.review.status == "pending")
    @rule(by=PEOPLE, place=st.sampled_from(["default", "slack:#first", "slack:#second"]))
    def somebody_escalates(self, by: Any, place: str) -> None:
        self.apply(escalation.escalate, place, by, self.now)

    @precondition(lambda self: not self.review.runs)
    @rule(by=st.none() | PEOPLE)
    def somebody_cancels(self, by: Any) -> None:
        if self.apply(commands.cancel, by, None, self.now) and self.review.cancelled:
            assert not self.starts, "nothing of it had begun"

    @rule()
    def a_bot_does_what_is_due(self) -> None:
        due_at = escalation.due_at(self.review)
        step = claims.expire_lease if self.review.status == "claimed" else escalation.apply_due
        fired = self.apply(step, self.now)
        assert fired == (due_at is not None and due_at <= self.now), "the index and the rules agree"

    @precondition(lambda self: self.review.settled_at)
    @rule(holder=st.sampled_from(["p1", "p2"]))
    def an_agent_claims(self, holder: str) -> None:
        ready = claims.ready_at(self.review)
        held = self.apply(claims.claim, holder, self.now, LEASE)
        assert held == (ready is not None and ready <= self.now), "the index and the rules agree"

    @precondition(lambda self: self.review.status == "claimed")
    @rule(which=st.integers(0, len(TOOLS)), old=st.sampled_from([False, False, False, True]))
    def an_agent_starts(self, which: int, old: bool) -> None:
        """The gate asks for what `to_run` names."""
        allowed = [call.key for call in claims.runnable_calls(self.review)]
        key = allowed[which % len(allowed)] if allowed else "1"
        if self.apply(claims.start, self.review.fence - old, key, self.now) and allowed:
            assert not old
            self.starts[key] = self.starts.get(key, 0) + 1

    @precondition(lambda self: self.review.fence)
    @rule(key=KEYS)
    def an_agent_reports(self, key: str) -> None:
        if key in self.starts:
            self.apply(claims.report, self.review.fence, {key: "went well"}, self.now)

    @precondition(lambda self: self.review.fence)
    @rule()
    def an_agent_renews(self) -> None:
        self.apply(claims.renew, self.review.fence, self.now, LEASE)

    @precondition(lambda self: self.review.fence)
    @rule()
    def an_agent_is_done(self) -> None:
        self.apply(claims.finish, self.review.fence, {}, self.now)

    @precondition(lambda self: self.review.runs)
    @rule(key=KEYS, answer=st.sampled_from(["ran", "rerun", "skip"]), by=PEOPLE)
    def somebody_resolves(self, key: str, answer: Any, by: Any) -> None:
        key = next((call.key for call in self.review.calls_in_doubt), key)
        if self.apply(claims.resolve, key, answer, by, self.now) and answer == "rerun":
            self.orders[key] = self.orders.get(key, 0) + 1

    @rule(process=st.sampled_from(["p1", "p2"]))
    def an_agent_waits(self, process: str) -> None:
        self.apply(claims.set_waiting_process, process, self.now)

    @invariant()
    def promise_2_a_decision_never_changes(self) -> None:
        for action in self.review.actions:
            if action.key in self.decided:
                assert action.decision == self.decided[action.key]
            elif action.decision is not None:
                self.decided[action.key] = action.decision

    @invariant()
    def promise_9_silence_never_approves(self) -> None:
        for decision in self.decided.values():
            assert decision.by is not None or decision.type in ("reject", "ignore", "respond")

    @invariant()
    def it_is_settled_exactly_when_all_is_decided(self) -> None:
        waits = any(a.is_pending for a in self.review.actions) and not self.review.cancelled
        assert (self.review.status == "pending") == waits
        assert (self.review.settled_at is None) == waits

    @invariant()
    def promise_1_what_runs_is_what_was_decided(self) -> None:
        assert not (self.review.cancelled and claims.runnable_calls(self.review))
        for each in claims.runnable_calls(self.review):
            assert claims.can_run(self.review, each)
            assert each.verdict.kind != "deny"
        for action in self.review.actions:
            assert action.args_hash == self.review.arguments(action.key).hash
            if action.decision is not None:
                assert action.decision.args_hash == action.args_hash

    @invariant()
    def promise_5_a_call_starts_once_for_each_order(self) -> None:
        for key, starts in self.starts.items():
            assert starts <= 1 + self.orders.get(key, 0)
            run = self.review.runs.get(key)
            assert run is not None
            assert run.attempt == starts

    @invariant()
    def a_claim_has_a_lease_and_nothing_else_has(self) -> None:
        assert (self.review.lease is not None) == (self.review.status == "claimed")
        assert not (self.review.calls_in_doubt and self.review.status in ("claimed", "pending"))

    @invariant()
    def the_indexes_hold_what_still_matters(self) -> None:
        if self.review.status == "done":
            assert escalation.due_at(self.review) is claims.ready_at(self.review) is None
        if self.review.status == "pending":
            assert claims.ready_at(self.review) is None
        late = [a for a in self.review.actions if a.is_pending and _has_time(a)]
        if late and not self.review.cancelled:
            assert escalation.due_at(self.review) is not None

    @invariant()
    def it_can_be_stored(self) -> None:
        stored = Review.model_validate_json(self.review.model_dump_json())
        assert stored == self.review.model_copy(update={"args": {}})


def _has_time(action: Action) -> bool:
    return action.route.expire is not None or action.next_step is not None


TestReviewMachine = ReviewMachine.TestCase
TestReviewMachine.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
