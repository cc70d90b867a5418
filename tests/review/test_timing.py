"""What happens to a review as time passes: escalation steps, reminders, deadlines, places that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.model import DEFAULT_PLACE, Action, Place, Review
from hitl_core.review.commands import cancel
from hitl_core.review.decisions import decide
from hitl_core.review.delivery_problems import replace_deciders, use_fallback
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.escalation import (
    apply_due,
    deadline,
    due_at,
    escalate,
    start_clocks,
)
from hitl_core.review.reminders import DAILY_AFTER, DAY, LAST_STEP_REMINDER
from hitl_core.review.runs import claims
from tests.review.refusals import raises_refused
from tests.support.builders import START, call, person, policy, proposal, review_of

ADA, BO = person("Ada"), person("Bo")
STEPS = [{"after": "10s", "to": "slack:#second"}, {"after": "20s", "to": "slack:#third"}]


def one(**rule: Any) -> Review:
    return review_of([call("it")], by=policy(it={"notify": "slack:#first", **rule}))[0]


def of(review: Review) -> Action:
    return review.actions[0]


def until(review: Review, now: float) -> tuple[Review, list[tuple[float, str]]]:
    """A bot that looks whenever the index says so, until `now`: what it did, when."""
    done: list[tuple[float, str]] = []
    while (due := due_at(review)) is not None and due <= START + now:
        review, event = apply_due(review, due)
        done.append((due - START, event.kind))
    return review, done


# ------------------------------------------------------------------------ reminders


def test_who_is_needed_is_reminded_again_and_again():
    """Given a reminder each 15 s and no end, then it counts from the start, and then from the last one."""
    review, done = until(one(remind="15s"), 50)
    assert done == [(15, "reminded"), (30, "reminded"), (45, "reminded")]
    assert of(review).reminded == (START + 15, START + 30, START + 45)
    assert due_at(review) == START + 60


def test_people_who_were_just_notified_get_no_reminder():
    """A step starts the count again, whether time or a person took it."""
    _, done = until(one(remind="8s", escalate=STEPS), 45)
    assert done == [
        (8, "reminded"),
        (10, "escalated"),
        (18, "reminded"),
        (20, "escalated"),
        (28, "reminded"),
        (36, "reminded"),
        (44, "reminded"),
    ]
    pressed = escalate(
        one(remind="8s", escalate=STEPS), Place("slack:#first"), BO, START + 3
    ).review
    assert due_at(pressed) == START + 11


def test_a_late_bot_catches_up_in_order_and_reminds_once():
    """Both steps at one look, no reminder for what was missed, and nothing left in the past."""
    late = START + 1000
    review, event = apply_due(one(remind="8s", escalate=STEPS), late)
    assert (event.kind, event.action, event.what) == (
        "escalated",
        "1,1",
        "slack:#second,slack:#third",
    )
    assert due_at(review) == late + 8
    review, event = apply_due(one(remind="8s"), late)
    assert (event.kind, event.action, of(review).reminded) == ("reminded", "1", (late,))
    assert due_at(review) == late + 8


def test_expiry_beats_escalation_beats_reminder():
    rules = policy(
        ends={"expire": {"after": "5s"}},
        moves={"escalate": [{"after": "5s", "to": "slack:#second"}], "expire": {"after": "99s"}},
        rings={"remind": "5s"},
    )
    calls = [call(name, f"c{n}") for n, name in enumerate(("rings", "moves", "ends"))]
    review, _ = review_of(calls, by=rules)
    kinds: list[tuple[str, str | None]] = []
    while (due := due_at(review)) is not None and due <= START + 5:
        review, event = apply_due(review, START + 5)
        kinds.append((event.kind, event.action))
    assert kinds == [("expired", "3"), ("escalated", "2"), ("reminded", "1")]


def test_at_the_end_of_a_chain_without_a_deadline_the_last_step_is_reminded():
    """Nobody is forgotten, also where the policy says nothing of reminders."""
    review, done = until(one(escalate=STEPS), 20 + 2 * LAST_STEP_REMINDER)
    first, second = 20 + LAST_STEP_REMINDER, 20 + 2 * LAST_STEP_REMINDER
    assert done == [(10, "escalated"), (20, "escalated"), (first, "reminded"), (second, "reminded")]
    assert of(review).is_pending


@pytest.mark.parametrize(
    "rule",
    [{}, {"escalate": STEPS, "expire": {"after": "1h"}}, {"fallback": "slack:#it"}],
    ids=["no chain", "a deadline", "a fallback"],
)
def test_else_nobody_is_reminded_unasked(rule: dict[str, Any]):
    review, done = until(one(**rule), 3599)
    assert "reminded" not in [kind for _, kind in done]
    assert due_at(review) == deadline(of(review))


@pytest.mark.parametrize(
    ("rule", "every"),
    [
        ({"remind": "9s"}, 9),
        ({"escalate": STEPS}, LAST_STEP_REMINDER),
        ({"expire": {"after": "1h"}}, LAST_STEP_REMINDER),
        ({}, None),
    ],
    ids=["remind", "a chain", "a deadline", "nothing"],
)
def test_people_are_reminded_of_a_call_in_doubt(rule: dict[str, Any], every: float | None):
    """Given a call whose process died; then people are asked again until
    somebody answers, as often as its rule says: it was told once."""
    review = decide(one(**rule), "1", proposal(), ADA, START).review
    review = claims.claim(review, "p", START, 5).review
    review = claims.start(review, 1, "1", START).review
    review = claims.expire_lease(review, START + 5).review
    if every is None:
        assert due_at(review) is None
        return
    review, done = until(review, 5 + 2 * every)
    assert done == [(5 + every, "reminded"), (5 + 2 * every, "reminded")]
    review = claims.resolve(review, "1", "skip", ADA, START + 6 + 2 * every).review
    assert due_at(review) is None


def test_after_many_reminders_one_a_day_is_enough():
    review, done = until(one(remind="1s"), DAILY_AFTER)
    assert len(done) == DAILY_AFTER
    assert due_at(review) == START + DAILY_AFTER + DAY


def test_nobody_is_reminded_of_what_is_decided_or_cancelled():
    review, _ = review_of([call("it", "c1"), call("it", "c2")], by=policy(it={"remind": "9s"}))
    review = decide(review, "1", proposal(), ADA, START + 1).review
    review, event = apply_due(review, START + 9)
    assert (event.kind, event.action) == ("reminded", "2")
    cancelled = cancel(review, None, None, START + 10).review
    assert due_at(cancelled) is None
    with raises_refused("not_due"):
        apply_due(cancelled, START + 99)


# ------------------------------------------------------------------------ clocks


def test_a_delivered_clock_starts_with_the_first_card():
    """Given a card that was posted after a minute, then nothing was due before, and all counts from there."""
    review, _ = review_of([call("shipped")])
    assert due_at(review) is deadline(of(review)) is None
    with raises_refused("not_due"):
        apply_due(review, START + 1e6)

    review, event = start_clocks(review, ["1"], Place("slack:#first"), START + 60)

    assert (event.kind, event.action, event.place) == ("delivered", "1", "slack:#first")
    assert of(review).delivered_at == START + 60
    assert deadline(of(review)) == START + 90
    _, done = until(review, 999)
    assert done == [
        (64, "reminded"),
        (68, "reminded"),
        (70, "escalated"),
        (74, "reminded"),
        (78, "reminded"),
        (82, "reminded"),
        (86, "reminded"),
        (90, "expired"),
    ]


def test_a_clock_starts_once():
    review, _ = review_of([call("shipped")])
    review = start_clocks(review, ["1"], DEFAULT_PLACE, START + 60).review
    with raises_refused("not_due"):
        start_clocks(review, ["1"], DEFAULT_PLACE, START + 70)


@pytest.mark.parametrize(("tool", "keys"), [("timed", ["1"]), ("shipped", ["2"]), ("shipped", [])])
def test_only_a_clock_that_waits_is_started(tool: str, keys: list[str]):
    with raises_refused("not_due"):
        start_clocks(review_of([call(tool)])[0], keys, DEFAULT_PLACE, START + 1)


def test_what_was_never_delivered_can_be_decided_and_passed_on():
    review, _ = review_of([call("shipped")])
    review = escalate(review, Place("slack:#first"), BO, START + 1, why="  I am away ").review
    assert (of(review).escalations[0].why, of(review).escalations[0].step) == ("I am away", 0)
    assert due_at(review) is None
    review = decide(review, "1", proposal(), ADA, START + 1e6).review
    assert review.status == "settled"
    with raises_refused("not_due"):
        start_clocks(review, ["1"], DEFAULT_PLACE, START + 1e6)


# ------------------------------------------------------------------------ t42: stale buttons


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        (proposal(revision=0), "stale"),
        (proposal(revision=2), "stale"),
        (proposal("reject", revision=2), "stale"),
        (proposal("edit", revision=2, n=2), "stale"),
    ],
)
def test_a_button_of_another_revision_changes_nothing(plan: Proposal, code: str):
    """T42."""
    with raises_refused(code, "Look at it again."):
        decide(one(), "1", plan, ADA, START)


def test_a_button_after_the_end_changes_nothing_and_before_it_does():
    """T42."""
    review = one(expire={"after": "30s"})
    for late in (30, 30.001, 1e9):
        with raises_refused("expired"):
            decide(review, "1", proposal(), ADA, START + late)
    assert decide(review, "1", proposal(), ADA, START + 29.999).review.status == "settled"


def test_a_button_from_before_an_escalation_stays_good():
    """T42."""
    review = apply_due(one(escalate=STEPS), START + 10).review
    assert decide(review, "1", proposal(), ADA, START + 11).review.status == "settled"


# ------------------------------------------------------------------------ places that can't be reached


def test_what_stands_in_a_place_that_is_gone_goes_to_its_fallback():
    review = one(fallback="slack:#it")
    review, event = use_fallback(
        review, Place("slack:#first"), "The channel is archived.", START + 1
    )
    assert (event.kind, event.what, event.place) == ("undeliverable", "slack:#it", "slack:#first")
    assert event.why == "The channel is archived."
    (taken,) = of(review).escalations
    assert (taken.to, taken.by, taken.step, taken.why) == ("slack:#it", None, None, event.why)
    assert of(review).places == ("slack:#first", "slack:#it")
    assert [grant.places for grant in of(review).grants] == [("slack:#first",)]


def test_who_may_decide_since_the_look_up_is_not_passed_over():
    """Given a look-up by which nobody was left; when a step was taken since then, then nothing is opened."""
    review = one(fallback="slack:#it", escalate=STEPS)
    looked_up = {"1": of(review).grants}
    stepped = apply_due(review, START + 10).review
    with raises_refused("changed"):
        replace_deciders(stepped, looked_up, Place("slack:#first"), "gone", START + 11)
    review, event = replace_deciders(review, looked_up, Place("slack:#first"), "gone", START + 1)
    assert (event.kind, event.what, of(review).next_step) == ("escalated", "slack:#second", 1)


def test_a_fallback_is_no_step_of_the_chain():
    review = one(fallback="slack:#it", escalate=STEPS)
    review = use_fallback(review, Place("slack:#first"), "gone", START + 1).review
    assert of(review).next_step == 0
    review, event = apply_due(review, START + 20)
    assert event.what == "slack:#second,slack:#third"
    assert [e.step for e in of(review).escalations] == [None, 0, 1]


def test_there_is_one_fallback_and_none_where_the_policy_names_none():
    with raises_refused("no_fallback"):
        use_fallback(one(), Place("slack:#first"), "gone", START)
    review = use_fallback(one(fallback="slack:#it"), Place("slack:#first"), "gone", START).review
    for place in map(Place, ("slack:#first", "slack:#it", "slack:#elsewhere")):
        with raises_refused("no_fallback"):
            use_fallback(review, place, "gone", START + 1)


def test_only_what_waits_there_is_passed_on():
    rules = policy(
        here={"notify": "slack:#first", "fallback": "slack:#it"},
        there={"notify": "slack:#other", "fallback": "slack:#it"},
    )
    calls = [call("here", "c1"), call("here", "c2"), call("there", "c3")]
    review, _ = review_of(calls, by=rules)
    review = decide(review, "1", proposal(), ADA, START).review
    review, event = use_fallback(review, Place("slack:#first"), "gone", START)
    assert (event.action, event.what) == ("2", "slack:#it")
    assert [len(action.escalations) for action in review.actions] == [0, 1, 0]


def test_a_delivered_clock_starts_where_the_card_could_be_shown():
    review, _ = review_of([call("shipped")])
    review = use_fallback(review, Place("slack:#first"), "gone", START + 1).review
    assert due_at(review) is None
    review = start_clocks(review, ["1"], Place("slack:#it"), START + 5).review
    assert due_at(review) == START + 9


def test_a_late_escalate_is_told_where_it_went():
    """By names: an id says nothing to people."""
    steps = [{"after": "1m", "to": "slack:#ops"}, {"after": "2m", "to": "slack:U0123ABCD"}]
    review = one(escalate=steps)
    for _ in steps:
        review = escalate(review, Place("slack:#first"), BO, START).review
    with raises_refused("nothing_to_escalate", "already escalated: #ops, others can decide too."):
        escalate(review, Place("slack:#first"), ADA, START)
