"""`hitl dead`: what could not be shown is listed, tried again or dropped. The audit names who did it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis

from hitl_core.cli import dead
from hitl_core.cli.dead import retry_letters
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review.service import Reviews
from hitl_core.store import DeadLetter
from hitl_core.store.redis.keys import Keys
from tests.cli.desk import Desk
from tests.support.jobs import begin_all

WHY = "it failed 5 times\x1b[2K"


def bury(desk: Desk, thread: str = "t-1") -> tuple[str, str]:
    """A review whose card can't be shown: its id, and that of its dead letter."""
    review = desk.submit(thread_id=thread)

    async def move(reviews: Reviews) -> str:
        [job] = await begin_all(reviews.store)
        await reviews.store.move_to_dead_letters(job, WHY)
        return (await reviews.store.dead_letters())[-1].id

    return review.id, desk.do(move)


def entries(desk: Desk, review_id: str) -> list[dict[str, Any]]:
    return json.loads(desk.hitl("audit", "show", review_id, "--json").out)


def test_dead_letters_are_listed_with_their_reason(desk: Desk) -> None:
    code, out, err = desk.hitl("dead", "list")
    assert (code, out) == (0, "")
    assert "no dead letters" in err
    assert json.loads(desk.hitl("dead", "list", "--json").out) == []
    review_id, letter_id = bury(desk)

    [row] = desk.hitl("dead", "list").out.splitlines()
    cells = row.split("\t")
    assert [cells[0], *cells[2:4]] == [letter_id, review_id, DEFAULT_PLACE]
    assert cells[4] == r"it failed 5 times\x1b[2K"
    table = desk.on_terminal("dead", "list").out.splitlines()
    assert table[0].split() == ["ID", "AGE", "REVIEW", "CARD", "WHY"]
    assert table[1].split()[2] == review_id[:10]
    [found] = json.loads(desk.hitl("dead", "list", "--json").out)
    assert {**found, "at": 0} == {
        "id": letter_id,
        "at": 0,
        "review_id": review_id,
        "job": "card",
        "place": DEFAULT_PLACE,
        "why": WHY,
    }


def test_one_is_tried_again_and_the_audit_says_who_asked(desk: Desk) -> None:
    review_id, letter_id = bury(desk)
    other_id, _ = bury(desk, "t-2")
    assert desk.hitl("dead", "retry", letter_id) == (0, f"retried {letter_id}\n", "")

    [back] = desk.do(lambda reviews: begin_all(reviews.store))
    assert (back.review_id, back.attempts) == (review_id, 2)
    last = entries(desk, review_id)[-1]
    assert (last["kind"], last["what"], last["by"]["channel"]) == ("retried", DEFAULT_PLACE, "cli")
    assert entries(desk, other_id)[-1]["kind"] == "submitted"
    assert desk.hitl("audit", "verify").code == 0

    again = desk.hitl("dead", "retry", letter_id)
    assert (again.code, again.out) == (1, "")
    assert letter_id in again.err


def test_all_are_tried_again(desk: Desk) -> None:
    ids = [bury(desk, f"t-{n}")[1] for n in range(3)]
    assert desk.hitl("dead", "retry", "--all").out.split() == [
        word for id in ids for word in ("retried", id)
    ]
    assert desk.do(lambda reviews: reviews.store.count_dead_letters()) == 0
    code, out, err = desk.hitl("dead", "retry", "--all")
    assert (code, out) == (0, "")
    assert "no dead letters" in err


def test_no_number_of_letters_is_too_large_to_retry_all(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more letters than are read at once; then all are tried again."""
    monkeypatch.setattr(dead, "_LIMIT", 2)
    ids = [bury(desk, f"t-{n}")[1] for n in range(5)]

    async def retry(reviews: Reviews) -> list[DeadLetter]:
        return await dead.retry_all(reviews)

    assert [letter.id for letter in desk.do(retry)] == ids
    assert desk.do(lambda reviews: reviews.store.count_dead_letters()) == 0


def test_letters_from_before_the_clock_was_set_back_are_tried_again(desk: Desk) -> None:
    """Given a letter of a time that Redis's clock has not reached: all are tried again, and it was called
    none."""
    bury(desk)
    letters = Keys(0).dead_letters
    with redis.Redis.from_url(desk.url) as opened:
        client: Any = opened
        [(id, fields)] = client.xrange(letters)
        client.xdel(letters, id)
        client.xadd(letters, fields, id="99999999999999-0")

    code, out, _ = desk.hitl("dead", "retry", "--all")

    assert (code, out) == (0, "retried 0:99999999999999-0\n")
    assert desk.do(lambda reviews: reviews.store.count_dead_letters()) == 0


def test_what_another_one_tried_again_before_has_no_entry(desk: Desk) -> None:
    """Given a dead letter that was read, and tried again by another one since; then the retry changes
    nothing, and its audit doesn't say that it did."""
    review_id, letter_id = bury(desk)

    async def retry_late(reviews: Reviews) -> list[DeadLetter]:
        letter = await reviews.store.dead_letter(letter_id)
        assert letter is not None
        await reviews.store.requeue_dead_letters()
        return await retry_letters(reviews, [letter])

    assert desk.do(retry_late) == []
    assert "retried" not in [entry["kind"] for entry in entries(desk, review_id)]


def test_a_dropped_card_is_not_tried_again_and_its_review_waits(desk: Desk) -> None:
    review_id, letter_id = bury(desk)
    asked = desk.terminal("dead", "drop", letter_id, NO_COLOR="1")
    asked.until("Drop it?")
    asked.types("n\n")
    assert asked.wait_end().code == 1
    assert desk.hitl("dead", "drop", letter_id).code == 2  # there is nobody to ask

    ran = desk.hitl("dead", "drop", letter_id, "--yes", "--reason", "The channel is gone")
    assert ran == (0, f"dropped {letter_id}\n", "")
    assert desk.do(lambda reviews: reviews.store.requeue_dead_letters()) == 0
    assert desk.do(lambda reviews: reviews.store.count_dead_letters()) == 0
    assert desk.review(review_id).status == "pending"
    last = entries(desk, review_id)[-1]
    assert (last["kind"], last["why"]) == ("dropped", "The channel is gone")
    assert desk.hitl("dead", "drop", letter_id, "--yes").code == 1


def test_an_id_that_there_is_not(desk: Desk) -> None:
    for id in ("nonsense", "0:1-1", "7:1-1", f"0:{1 << 70}-1"):
        for command in (("retry", id), ("drop", id, "--yes")):
            ran = desk.hitl("dead", *command)
            assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1), command
