"""`hitl reviews cancel`: an operator stops a review. It needs no switch, because it can't run anything."""

from __future__ import annotations

from tests.cli.desk import Desk
from tests.cli.reviews.deciding import ME


def test_nothing_of_it_runs_and_the_record_says_who(desk: Desk) -> None:
    review = desk.submit()
    ran = desk.hitl("reviews", "cancel", review.id, "--reason", "It runs wild", "--yes")
    assert (ran.code, ran.out, ran.err) == (0, f"cancelled {review.id}\n", "")
    stored = desk.review(review.id)
    assert stored.status == "settled"
    assert stored.cancelled is not None
    assert (stored.cancelled.by, stored.cancelled.reason) == (ME, "It runs wild")


def test_a_person_is_asked(desk: Desk) -> None:
    review = desk.submit(thread_id="t-9")
    for typed, code in (("n\n", 1), ("y\n", 0)):
        terminal = desk.terminal("reviews", "cancel", review.id[:8], NO_COLOR="1")
        terminal.until("Cancel it? [y/N] ")
        assert f"{review.id}: billing, thread t-9: ask\n" in terminal.out
        terminal.types(typed)
        assert terminal.wait_end().code == code
        assert (desk.review(review.id).cancelled is not None) is (code == 0)


def test_scripts_must_say_yes_and_the_whole_id(desk: Desk) -> None:
    review = desk.submit()
    assert desk.run_piped("reviews", "cancel", review.id, stdin="y\n").code == 2
    assert desk.run_piped("reviews", "cancel", review.id[:10], "--yes").code == 2
    assert desk.review(review.id).cancelled is None


def test_what_its_agent_has_is_not_cancelled(desk: Desk) -> None:
    claimed, done = desk.claim(thread_id="t-1"), desk.done(thread_id="t-2")
    for review in (claimed, done):
        ran = desk.hitl("reviews", "cancel", review.id, "--yes")
        assert (ran.code, ran.out) == (1, "")
        assert (
            ran.err == "hitl: It can't be cancelled any more: its agent already has the result.\n"
        )


def test_in_doubt_it_is_too_late_and_the_way_out_is_named(desk: Desk) -> None:
    """Its process is dead: nobody has it, but it may have run."""
    review = desk.doubtful()
    ran = desk.hitl("reviews", "cancel", review.id, "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "too late to cancel this: it is not known whether ask ran" in ran.err
    assert f"hitl reviews resolve {review.id} c1 ran" in ran.err


def test_a_second_time_says_who_did(desk: Desk) -> None:
    review = desk.submit()
    desk.hitl("reviews", "cancel", review.id, "--yes")
    ran = desk.hitl("reviews", "cancel", review.id, "--yes")
    assert ran.code == 1
    assert f"{ME.name} cancelled this" in ran.err


def test_of_a_held_review_the_real_reason_is_said(desk: Desk) -> None:
    """Given held reviews, one cancelled and one that its agent has; then each refusal says that, and not that
    it is held: a release would change nothing."""
    cancelled, claimed = desk.submit(thread_id="t-1"), desk.claim(thread_id="t-2")
    desk.hitl("reviews", "cancel", cancelled.id, "--yes")
    desk.hitl("reviews", "hold", "--yes")
    for review, why in (
        (cancelled, f"{ME.name} cancelled this"),
        (claimed, "already has the result"),
    ):
        ran = desk.hitl("reviews", "cancel", review.id, "--yes")
        assert (ran.code, ran.out) == (1, "")
        assert (why in ran.err, "This is held" in ran.err) == (True, False)
