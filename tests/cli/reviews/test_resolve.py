"""`hitl reviews resolve`: answers for a call in doubt that has no card, under the same rules as `decide`."""

from __future__ import annotations

import json

import pytest

from hitl_core.model import Review, Run
from hitl_core.review import claims
from hitl_core.review.service import Reviews, TransitionFunction
from tests.cli.desk import Desk
from tests.cli.reviews.deciding import ME
from tests.support.builders import call, person


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
    permitted_desk: Desk, answer: str, state: str
) -> None:
    review = permitted_desk.doubtful()
    ran = permitted_desk.hitl("reviews", "resolve", review.id, "ask", answer, "--yes")
    assert (ran.code, ran.out) == (0, f"{answer}: ask (c1)\n")
    assert ran.err == "No call is in doubt now: the agent can continue.\n"
    run = run_of(permitted_desk, review)
    assert (run.state, run.by) == (state, ME)
    again = permitted_desk.hitl("reviews", "resolve", review.id, "ask", answer, "--yes")
    assert (again.code, again.err) == (1, f"hitl: {ME.name} already answered this.\n")


def test_a_call_that_nobody_was_asked_about(permitted_desk: Desk) -> None:
    """Allowed calls are started as well: they have no number, but a name and an id."""
    review = permitted_desk.doubtful(call("look_up", "c0"), call("ask", "c1"))
    ran = permitted_desk.hitl("reviews", "resolve", review.id, "c0", "ran", "--yes")
    assert (ran.code, ran.out) == (0, "ran: look_up (c0)\n")


def test_where_no_bot_runs(permitted_desk: Desk) -> None:
    """Given a lease that ended, and nobody who saw it; then its call is in doubt anyway."""
    review = permitted_desk.claim(started=True, lease=0.05)
    lease = review.lease
    assert lease is not None
    while permitted_desk.do(lambda reviews: reviews.store.now()) < lease.until:
        pass
    assert run_of(permitted_desk, review).state == "started"
    ran = permitted_desk.hitl("reviews", "resolve", review.id, "ask", "ran", "--yes")
    assert (ran.code, ran.out) == (0, "ran: ask (c1)\n")


def test_it_is_off_unless_it_is_switched_on(desk: Desk) -> None:
    review = desk.doubtful()
    ran = desk.hitl("reviews", "resolve", review.id, "ask", "ran", "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "HITL_CLI_DECIDE=1" in ran.err
    assert run_of(desk, review).state == "in_doubt"


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_sees_the_call_and_is_asked(permitted_desk: Desk, typed: str, code: int) -> None:
    review = permitted_desk.doubtful(thread_id="t-9")
    argv = ["reviews", "resolve", review.id[:8], "1", "rerun"]
    terminal = permitted_desk.terminal(*argv, NO_COLOR="1")
    terminal.until("Let ask run again? [y/N] ")
    assert f"{review.id}: billing, thread t-9\n" in terminal.out
    assert "in doubt: started" in terminal.out

    terminal.types(typed)

    assert terminal.wait_end().code == code
    assert run_of(permitted_desk, review).state == ("in_doubt" if code else "cleared")


def test_an_answer_settles_no_later_doubt(permitted_desk: Desk) -> None:
    """Given a person who is asked; when it is run again meanwhile and stops again; then y settles nothing."""
    review = permitted_desk.doubtful()
    terminal = permitted_desk.terminal("reviews", "resolve", review.id, "1", "ran", NO_COLOR="1")
    terminal.until("Confirm that ask ran? [y/N] ")
    permitted_desk.do(lambda reviews: run_again(reviews, review))

    terminal.types("y\n")

    ran = terminal.wait_end()
    assert ran.code == 1
    assert "run again in the meantime" in ran.out
    run = run_of(permitted_desk, review)
    assert (run.state, run.attempt) == ("in_doubt", 2)


def test_json_is_the_review_afterwards(permitted_desk: Desk) -> None:
    review = permitted_desk.doubtful()
    ran = permitted_desk.hitl("reviews", "resolve", review.id, "1", "skip", "--yes", "--json")
    found = json.loads(ran.out)
    assert found["id"] == review.id
    assert found["calls"][0]["run"]["state"] == "skipped"


def test_scripts_must_say_yes_and_the_whole_id(permitted_desk: Desk) -> None:
    review = permitted_desk.doubtful()
    for argv in ([review.id, "1", "ran"], [review.id[:10], "1", "ran", "--yes"]):
        assert permitted_desk.run_piped("reviews", "resolve", *argv, stdin="y\n").code == 2
    assert run_of(permitted_desk, review).state == "in_doubt"


def test_where_there_is_no_doubt(permitted_desk: Desk) -> None:
    """Each is one sentence that says how it is; of a call that is running, who runs it and until when."""
    for review, named, text in (
        (permitted_desk.submit(thread_id="t-1"), "ask", "ask is not in doubt."),
        (permitted_desk.done(thread_id="t-2"), "1", "ask is not in doubt."),
        (
            permitted_desk.claim(started=True, thread_id="t-3"),
            "c1",
            "host:1 may still be running ask",
        ),
        (permitted_desk.doubtful(thread_id="t-4"), "None", "has ask, and no call 'None'"),
    ):
        ran = permitted_desk.hitl("reviews", "resolve", review.id, named, "ran", "--yes")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert text in ran.err
        assert permitted_desk.review(review.id).version == review.version


def test_decide_names_the_way_out(permitted_desk: Desk) -> None:
    """And the command that it names does it."""
    review = permitted_desk.doubtful()
    for decide in (["ask", "approve"], ["all", "reject"]):
        ran = permitted_desk.hitl("reviews", "decide", review.id, *decide, "--yes")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert "already decided; it is not known whether ask ran" in ran.err
    command = ran.err.split("hitl reviews resolve ")[1].split(" (or")[0]
    assert permitted_desk.hitl("reviews", "resolve", *command.split(), "--yes").code == 0
