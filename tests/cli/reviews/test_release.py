"""`hitl reviews hold` and `release`: after Redis lost writes, or a restored backup."""

from __future__ import annotations

import pytest
import redis

from hitl_core.cli.reviews import release
from hitl_core.model import Review
from hitl_core.review import ran_mark
from hitl_core.store import Store
from tests.cli.desk import Desk


def test_held_reviews_are_listed_shown_and_released(desk: Desk) -> None:
    one, two = desk.submit(thread_id="t-1"), desk.submit(thread_id="t-2")
    ran = desk.hitl("reviews", "hold", "--yes")
    assert (ran.code, ran.out) == (0, "held 2\n")
    new = desk.submit(thread_id="t-3")

    listed = desk.hitl("reviews", "list", "--held")
    assert (one.id in listed.out, two.id in listed.out, new.id in listed.out) == (True, True, False)
    assert "the store lost data" in desk.hitl("reviews", "show", one.id).out

    ran = desk.hitl("reviews", "release", one.id, "--yes")
    assert (ran.code, ran.out) == (0, f"released {one.id}\n")
    assert "released" in desk.hitl("audit", "show", one.id).out
    assert one.id not in desk.hitl("reviews", "list", "--held").out
    assert desk.hitl("reviews", "release", "--all", "--yes").out == f"released {two.id}\n"
    assert desk.hitl("reviews", "release", "--all", "--yes").err == "No review is held.\n"


def test_what_an_agent_has_started_is_in_doubt_after_the_release(desk: Desk) -> None:
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    desk.do(lambda reviews: mark(reviews.store, review))
    assert "started it" in desk.hitl("reviews", "show", review.id).out
    ran = desk.hitl("reviews", "release", review.id, "--yes")
    assert ran.code == 0
    assert "it is not known whether ask ran" in ran.out
    assert desk.review(review.id).calls_in_doubt


def test_a_review_that_is_pending_after_its_release_is_decided(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a release that found that an agent has started a call of a pending review; then the actions can
    be decided here too, and nobody reads that a process died."""
    monkeypatch.setenv("HITL_CLI_DECIDE", "1")
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    desk.do(lambda reviews: mark(reviews.store, review))
    desk.hitl("reviews", "release", review.id, "--yes")
    shown = desk.hitl("reviews", "show", review.id).out
    assert ("it is not known whether it ran" in shown, "died" in shown) == (True, False)
    ran = desk.hitl("reviews", "decide", review.id, "1", "reject", "--yes")
    assert (ran.code, desk.review(review.id).status) == (0, "settled")


@pytest.mark.parametrize("words", [["release", "ID"], ["release", "--all"], ["cancel", "ID"]])
def test_a_held_review_of_which_nothing_is_stored_waits_no_longer(
    desk: Desk, redis_url: str, words: list[str]
) -> None:
    """Given the name of a review whose hash is gone: it could not be released, so the problem had no end."""
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    with redis.Redis.from_url(redis_url) as client:
        client.delete(f"hitl:{{0}}:review:{review.id}")

    ran = desk.hitl("reviews", *(review.id if word == "ID" else word for word in words), "--yes")

    gone = f"removed {review.id} from what waits: nothing of it is stored any more\n"
    assert (ran.code, ran.out) == (0, gone)
    assert desk.hitl("reviews", "release", "--all", "--yes").err == "No review is held.\n"
    with redis.Redis.from_url(redis_url) as client:
        assert client.exists("hitl:{0}:live", "hitl:{0}:held", "hitl:{0}:due") == 0
    assert desk.hitl("reviews", "cancel", review.id, "--yes").code == 1


async def mark(store: Store, review: Review) -> None:
    await store.record_mark(review.id, ran_mark("1"))


def test_a_held_review_is_cancelled_without_a_release(desk: Desk) -> None:
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    assert desk.hitl("reviews", "cancel", review.id, "--yes").code == 0
    assert desk.hitl("reviews", "list", "--held").out == ""


def test_one_that_can_not_be_released_keeps_no_other(desk: Desk) -> None:
    """Given three held reviews, of which a newer version has written one; then the others are released, it is
    told, and the command fails."""
    broken, *others = sorted((desk.submit(thread_id=f"t-{n}") for n in range(3)), key=id_of)
    desk.hitl("reviews", "hold", "--yes")
    with redis.Redis.from_url(desk.url) as client:
        client.hset(f"hitl:{{0}}:review:{broken.id}", "data", '{"schema_version":99,}')
    ran = desk.hitl("reviews", "release", "--all", "--yes")
    assert ran.code == 1
    assert ran.out.splitlines() == [f"released {one.id}" for one in others]
    assert broken.id in ran.err


def test_a_whole_page_that_can_not_be_released_keeps_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page was read again and again, and what came after it was held."""
    monkeypatch.setattr(release, "_PAGE", 1)
    reviews = sorted((desk.submit(thread_id=f"t-{n}") for n in range(3)), key=id_of)
    desk.hitl("reviews", "hold", "--yes")
    with redis.Redis.from_url(desk.url) as client:
        client.hset(f"hitl:{{0}}:review:{reviews[0].id}", "data", "{")

    ran = desk.hitl("reviews", "release", "--all", "--yes")

    assert (ran.code, ran.out.split()) == (
        1,
        ["released", reviews[1].id, "released", reviews[2].id],
    )


def id_of(review: Review) -> str:
    return review.id


def test_what_an_agent_has_started_is_not_cancelled(desk: Desk) -> None:
    """It is refused before the question, and the review stays held."""
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    desk.do(lambda reviews: mark(reviews.store, review))
    ran = desk.hitl("reviews", "cancel", review.id, "--yes")
    assert (ran.code, "Release it first" in ran.err) == (1, True)
    assert review.id[:8] in desk.hitl("reviews", "list", "--held").out


def test_a_person_is_asked(desk: Desk) -> None:
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    for typed, code in (("n\n", 1), ("y\n", 0)):
        terminal = desk.terminal("reviews", "release", review.id[:8], NO_COLOR="1")
        terminal.until("Let it continue as it is stored? [y/N] ")
        terminal.types(typed)
        assert terminal.wait_end().code == code


def test_what_is_wrong_is_said(desk: Desk) -> None:
    review = desk.submit()
    ran = desk.hitl("reviews", "release", review.id, "--yes")
    assert (ran.code, ran.err) == (
        1,
        f"hitl: {review.id} is not held, so there is nothing to release.\n",
    )
    assert desk.hitl("reviews", "release").code == 2
    assert desk.hitl("reviews", "release", review.id, "--all").code == 2
    assert desk.run_piped("reviews", "release", review.id).code == 2
    assert desk.run_piped("reviews", "release", "--all").code == 2
    assert desk.run_piped("reviews", "hold").code == 2


def test_what_an_agent_notes_while_the_operator_reads_the_question_counts(desk: Desk) -> None:
    """Given a held review of which nothing is known to be started; when its agent says that it has started
    the call before the operator answers; then people are asked whether it ran."""
    review = desk.submit()
    desk.hitl("reviews", "hold", "--yes")
    terminal = desk.terminal("reviews", "release", review.id[:8], NO_COLOR="1")
    terminal.until("Let it continue as it is stored? [y/N] ")
    desk.do(lambda reviews: mark(reviews.store, review))
    terminal.types("y\n")
    assert terminal.wait_end().code == 0
    assert desk.review(review.id).calls_in_doubt
