"""`hitl reviews resolve`: the way out of a doubt where there is no card, under the rules of `decide`."""

from __future__ import annotations

import json

import pytest

from hitl_core.model import Review, Run
from hitl_core.review import claims
from hitl_core.review.service import Reviews, TransitionFunction
from tests.cli.desk import Desk
from tests.cli.test_reviews_decide import ME, allowed
from tests.support.builders import call, person

__all__ = ["allowed"]


def run_of(desk: Desk, review: Review) -> Run:
    return desk.review(review.id).runs["1"]


async def run_again(reviews: Reviews, review: Review) -> None:
    """Somebody says rerun, and its next process dies as well."""

    async def change(op: str, transition: TransitionFunction) -> Review:
        return (await reviews.change(review.id, op, transition)).review

    ada = person("Ada")
    await change("a", lambda r, now: claims.resolve(r, "1", "rerun", ada, now))
    fence = (await change("b", lambda r, now: claims.claim(r, "host:2", now, 0.05))).fence
    await change("c", lambda r, now: claims.start(r, fence, "1", now))
    while await reviews.apply_due(review.id) is None:
        pass


@pytest.mark.parametrize(
    ("answer", "state"), [("ran", "done"), ("rerun", "cleared"), ("skip", "skipped")]
)
def test_each_answer_ends_the_doubt_and_the_record_says_who(
    allowed: Desk, answer: str, state: str
) -> None:
    review = allowed.doubtful()
    ran = allowed.hitl("reviews", "resolve", review.id, "ask", answer, "--yes")
    assert (ran.code, ran.out) == (0, f"{answer}: ask (c1)\n")
    assert ran.err == "No call is in doubt now: the agent can continue.\n"
    run = run_of(allowed, review)
    assert (run.state, run.by) == (state, ME)
    again = allowed.hitl("reviews", "resolve", review.id, "ask", answer, "--yes")
    assert (again.code, again.err) == (1, f"hitl: {ME.name} already answered this.\n")


def test_a_call_that_nobody_was_asked_about(allowed: Desk) -> None:
    """Allowed calls are started as well: they have no number, but a name and an id."""
    review = allowed.doubtful(call("look_up", "c0"), call("ask", "c1"))
    ran = allowed.hitl("reviews", "resolve", review.id, "c0", "ran", "--yes")
    assert (ran.code, ran.out) == (0, "ran: look_up (c0)\n")


def test_where_no_bot_runs(allowed: Desk) -> None:
    """Given a lease that ended, and nobody who saw it; then its call is in doubt all the same."""
    review = allowed.claimed(started=True, lease=0.05)
    lease = review.lease
    assert lease is not None
    while allowed.do(lambda reviews: reviews.store.now()) < lease.until:
        pass
    assert run_of(allowed, review).state == "started"
    ran = allowed.hitl("reviews", "resolve", review.id, "ask", "ran", "--yes")
    assert (ran.code, ran.out) == (0, "ran: ask (c1)\n")


def test_it_is_off_unless_it_is_switched_on(desk: Desk) -> None:
    review = desk.doubtful()
    ran = desk.hitl("reviews", "resolve", review.id, "ask", "ran", "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "HITL_CLI_DECIDE=1" in ran.err
    assert run_of(desk, review).state == "in_doubt"


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_sees_the_call_and_is_asked(allowed: Desk, typed: str, code: int) -> None:
    review = allowed.doubtful(thread_id="t-9")
    argv = ["reviews", "resolve", review.id[:8], "1", "rerun"]
    terminal = allowed.terminal(*argv, NO_COLOR="1")
    terminal.until("Let ask run again? [y/N] ")
    assert f"{review.id}: billing, thread t-9\n" in terminal.out
    assert "in doubt: started" in terminal.out

    terminal.types(typed)

    assert terminal.ended().code == code
    assert run_of(allowed, review).state == ("in_doubt" if code else "cleared")


def test_an_answer_settles_no_later_doubt(allowed: Desk) -> None:
    """Given a person who is asked; when it is run again meanwhile and stops again; then y settles nothing."""
    review = allowed.doubtful()
    terminal = allowed.terminal("reviews", "resolve", review.id, "1", "ran", NO_COLOR="1")
    terminal.until("Confirm that ask ran? [y/N] ")
    allowed.do(lambda reviews: run_again(reviews, review))

    terminal.types("y\n")

    ran = terminal.ended()
    assert ran.code == 1
    assert "run again in the meantime" in ran.out
    run = run_of(allowed, review)
    assert (run.state, run.attempt) == ("in_doubt", 2)


def test_json_is_the_review_afterwards(allowed: Desk) -> None:
    review = allowed.doubtful()
    ran = allowed.hitl("reviews", "resolve", review.id, "1", "skip", "--yes", "--json")
    found = json.loads(ran.out)
    assert found["id"] == review.id
    assert found["calls"][0]["run"]["state"] == "skipped"


def test_scripts_must_say_yes_and_the_whole_id(allowed: Desk) -> None:
    review = allowed.doubtful()
    for argv in ([review.id, "1", "ran"], [review.id[:10], "1", "ran", "--yes"]):
        assert allowed.piped("reviews", "resolve", *argv, stdin="y\n").code == 2
    assert run_of(allowed, review).state == "in_doubt"


def test_where_there_is_no_doubt(allowed: Desk) -> None:
    """Each is one sentence that says how it is; of a call that is running, who runs it and until when."""
    for review, named, said in (
        (allowed.submit(thread_id="t-1"), "ask", "ask is not in doubt."),
        (allowed.done(thread_id="t-2"), "1", "ask is not in doubt."),
        (allowed.claimed(started=True, thread_id="t-3"), "c1", "host:1 may still be running ask"),
        (allowed.doubtful(thread_id="t-4"), "None", "has ask, and no call 'None'"),
    ):
        ran = allowed.hitl("reviews", "resolve", review.id, named, "ran", "--yes")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert said in ran.err
        assert allowed.review(review.id).version == review.version


def test_decide_names_the_way_out(allowed: Desk) -> None:
    """And the command that it names does it."""
    review = allowed.doubtful()
    for decide in (["ask", "approve"], ["all", "reject"]):
        ran = allowed.hitl("reviews", "decide", review.id, *decide, "--yes")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert "already decided; it is not known whether ask ran" in ran.err
    command = ran.err.split("hitl reviews resolve ")[1].split(" (or")[0]
    assert allowed.hitl("reviews", "resolve", *command.split(), "--yes").code == 0
