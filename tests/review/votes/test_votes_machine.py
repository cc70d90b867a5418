"""Several people and clocks, in random order: who approved what runs, and when anything is due."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hitl_core.errors import Refused
from hitl_core.model import DEFAULT_PLACE, Action, Decision, Review, Reviewer, encode
from hitl_core.review import claims, decisions, delivery_problems, escalation
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.transition import Transition
from tests.support.builders import START, approvals_needed, call, person, policy, review_of

#: Ada asked the agent, under the id by which the channel knows her.
ADA = Reviewer(channel="slack", team="T1", id="UADA", name="Ada")
PEOPLE = st.sampled_from([ADA, *(person(name) for name in ("Bo", "Cy", "Di"))])
PLACES = st.sampled_from(["slack:#first", "slack:#second", "slack:#it"])
KEYS = st.sampled_from(["1", "2", "3"])
TYPES = st.sampled_from(["approve", "approve", "approve", "edit", "edit", "reject"])
WAITS: Any = precondition(lambda self: self.review.status == "pending")

_TIMES: dict[str, Any] = {
    "notify": "slack:#first",
    "escalate": [{"after": "10s", "to": "slack:#second"}],
    "remind": "4s",
    "fallback": "slack:#it",
}
_REVIEWERS: tuple[dict[str, Any], ...] = (
    {"quorum": 2},
    *[{"quorum": 3, "reject_quorum": 2, "exclude_requester": False}] * 2,
    {"quorum": 2, "editor_approves": True},
    {"quorum": 1, "editor_approves": False, "exclude_requester": True},
    {"quorum": 1},
)


class VotesMachine(RuleBasedStateMachine):
    """`behind` records who approved which revision, independent of the review."""

    @initialize(
        reviewers=st.sampled_from(_REVIEWERS), clock=st.sampled_from(["submitted", "delivered"])
    )
    def where_it_begins(self, reviewers: dict[str, Any], clock: str) -> None:
        text = {"reviewers": {"channel_members": True, **reviewers}, "clock": clock, **_TIMES}
        rules = policy(ends={**text, "expire": {"after": "30s"}}, waits=text)
        calls = [call(name, f"c{n}", n=0) for n, name in enumerate(("ends", "waits", "waits"))]
        self.review = review_of(calls, by=rules, requester="slack:UADA")[0]
        self.now = START
        self.behind: dict[tuple[str, int], set[str]] = {}
        self.decided: dict[str, Decision] = {}

    def apply(self, step: Any, *args: Any, **more: Any) -> Transition | None:
        try:
            changed: Transition = step(self.review, *args, **more)
        except Refused:
            return None
        self.review = changed.review
        return changed

    @rule(seconds=st.sampled_from([0.001, 1, 4, 10, 30]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @WAITS
    @rule(
        key=KEYS,
        presses=st.lists(st.tuples(PEOPLE, TYPES), min_size=1, max_size=4),
        gone=st.none() | st.none() | PEOPLE,
    )
    def people_press(self, key: str, presses: list[tuple[Reviewer, str]], gone: Any) -> None:
        """One after the other, while somebody else may have lost the right to."""
        for by, type in presses:
            self.press(key, type, by, [gone.key] if gone else [])

    def press(self, key: str, type: str, by: Reviewer, lapsed: list[str], old: int = 0) -> None:
        before = self.review.action(key)
        assert before is not None
        args = encode({"n": before.revision}) if type == "edit" else None
        plan = Proposal(type, before.revision - old, args=args)  # type: ignore[arg-type]
        if not self.apply(decisions.decide, key, plan, by, self.now, ineligible_voters=lapsed):
            return
        assert not old, "a stale button changes nothing"
        assert before.is_pending
        end = escalation.deadline(before)
        assert end is None or self.now < end
        who = self.behind.setdefault((key, before.revision), set())
        who -= {by.key, *lapsed}
        if type == "approve":
            who.add(by.key)
        elif type == "edit":
            approves = before.route.reviewers.editor_approves
            self.behind[key, before.revision + 1] = {by.key} if approves else set()

    @WAITS
    @rule(key=KEYS, type=TYPES, by=PEOPLE)
    def somebody_presses_an_old_button(self, key: str, type: str, by: Reviewer) -> None:
        self.press(key, type, by, [], old=1)

    @WAITS
    @rule(by=PEOPLE, place=PLACES)
    def somebody_escalates(self, by: Reviewer, place: str) -> None:
        self.apply(escalation.escalate, place, by, self.now)

    @WAITS
    @rule(place=PLACES)
    def a_place_is_gone(self, place: str) -> None:
        self.apply(delivery_problems.use_fallback, place, "gone", self.now)

    @precondition(lambda self: any(action.clock_start is None for action in self.review.actions))
    @rule(keys=st.lists(KEYS, min_size=1, max_size=3))
    def cards_are_posted(self, keys: list[str]) -> None:
        self.apply(escalation.start_clocks, keys, DEFAULT_PLACE, self.now)

    @rule()
    def a_bot_does_what_is_due(self) -> None:
        kinds, due_at = _due_kinds(self.review, self.now), escalation.due_at(self.review)
        changed = self.apply(escalation.apply_due, self.now)
        assert (changed is not None) == (due_at is not None and due_at <= self.now), (
            "index and rules"
        )
        assert (changed is not None) == bool(kinds)
        if changed is not None:
            assert changed.event.kind == kinds[0], "expiry beats escalation beats reminder"
            assert _due_kinds(self.review, self.now) == kinds[1:], "each is done at one look"

    @invariant()
    def a_decision_is_final(self) -> None:
        for action in self.review.actions:
            if action.decision is not None:
                assert self.decided.setdefault(action.key, action.decision) == action.decision
        assert (self.review.status == "settled") == (len(self.decided) == 3)

    @invariant()
    def what_runs_was_approved_by_enough_different_people(self) -> None:
        """On that very revision; none of them its requester, or its editor, where they don't count."""
        for action in self.review.actions:
            reviewers = action.route.reviewers
            behind = self.behind.get((action.key, action.revision), set())
            voters = [vote.by.key for vote in action.votes]
            assert len(voters) == len(set(voters)), "one person, one vote"
            assert {vote.revision for vote in action.votes} <= {action.revision}
            if action.is_pending:
                assert {vote.by.key for vote in action.approvals} == behind
                assert approvals_needed(action) == reviewers.quorum - len(behind) > 0
            elif action.decision and action.decision.type in ("approve", "edit"):
                assert action.decision.revision == action.revision
                assert len(behind) >= reviewers.quorum
                assert not (reviewers.exclude_requester and ADA.key in behind)
                editor = action.edits[-1].by.key if action.edits else None
                assert reviewers.editor_approves or editor not in behind

    @invariant()
    def what_runs_are_the_bytes_that_were_decided(self) -> None:
        for action in self.review.actions:
            assert action.args_hash == self.review.arguments(action.key).hash
            assert action.decision is None or action.decision.args_hash == action.args_hash
        kinds = {a.key: a.decision.type for a in self.review.actions if a.decision}
        for each in claims.runnable_calls(self.review):
            assert kinds[each.key] in ("approve", "edit")

    @invariant()
    def nothing_is_due_before_its_clock_has_started(self) -> None:
        for action in self.review.actions:
            if action.clock_start is None:
                assert escalation.deadline(action) is None
                assert escalation.next_step_at(action) is escalation.remind_at(action) is None
                assert not action.reminded

    @invariant()
    def it_can_be_stored(self) -> None:
        stored = Review.model_validate_json(self.review.model_dump_json())
        assert stored == self.review.model_copy(update={"args": {}})


def _due_kinds(review: Review, now: float) -> list[str]:
    """What must be done now, in its order; an action whose time is over is passed on to nobody."""

    def is_due(time: float | None) -> bool:
        return time is not None and time <= now

    left = [a for a in review.actions if a.is_pending] if review.status == "pending" else []
    kinds: list[str] = []
    for kind, time in (
        ("expired", escalation.deadline),
        ("escalated", escalation.next_step_at),
        ("reminded", escalation.remind_at),
    ):
        done: list[Action] = [action for action in left if is_due(time(action))]
        left = [action for action in left if action not in done]
        kinds += [kind] if done else []
    return kinds


TestVotesMachine = VotesMachine.TestCase
TestVotesMachine.settings = settings(max_examples=200, stateful_step_count=25, deadline=None)
