"""`hitl reviews list`: on a terminal, in a pipe, and as JSON for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import redis

from hitl_core.cli import session
from hitl_core.cli.terminal import display_width
from hitl_core.model import short_id
from hitl_core.review import Cancel, record_problem
from hitl_core.review.service import Reviews
from hitl_core.store.redis.keys import Keys
from tests.cli.desk import Desk
from tests.support.builders import approve_all, call, person, review_of


def test_a_table_on_a_terminal(desk: Desk) -> None:
    """Given reviews in every state; when listed on a terminal; then the oldest is first, with what it waits
    for, and one that is done is not there."""
    waiting = desk.submit(call("ask", "a"), call("ask", "b"), call("strict", "c", n=1), ago=190)
    doubt = desk.doubtful(agent="crm", thread_id="t-2")
    claimed = desk.claim(thread_id="t-3")
    desk.done(thread_id="t-4")
    gone = desk.submit(thread_id="t-5")
    desk.do(lambda reviews: reviews.apply(Cancel(gone.id, person(), "op", reason="no")))

    ran = desk.on_terminal("reviews", "list")

    rows = [line.split(maxsplit=5) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert rows[0] == ["ID", "AGE", "AGENT", "THREAD", "STATUS", "WAITS"]
    assert [row[0] for row in rows[1:]] == [r.id[:10] for r in (waiting, doubt, claimed, gone)]
    assert [(row[2:4], row[4:]) for row in rows[1:]] == [
        (["billing", "t-1"], ["pending", "ask (2), strict"]),
        (["crm", "t-2"], ["settled", "in doubt: ask"]),
        (["billing", "t-3"], ["claimed", "its agent has it"]),
        (["billing", "t-5"], ["settled", "cancelled"]),
    ]
    assert rows[1][1] == "3m"


def test_what_waits_for_its_agent_says_so(desk: Desk) -> None:
    """Given a review that people decided and no process has taken, one that a process has, and one with which
    its agent can't go on; then the list says what each waits for: it was empty."""
    settled = desk.submit(thread_id="t-1")
    desk.do(lambda reviews: approve_all(reviews, settled.id))
    desk.claim(thread_id="t-2")
    stuck = desk.claim(thread_id="t-3")
    why = "its checkpoint is lost"
    desk.do(
        lambda reviews: reviews.change(
            stuck.id, "stuck", lambda r, now: record_problem(r, r.fence, why, now)
        )
    )

    rows = [line.split("\t") for line in desk.run_piped("reviews", "list").out.splitlines()]

    assert [row[4:] for row in rows] == [
        ["settled", "its agent must take it"],
        ["claimed", "its agent has it"],
        ["claimed", "its agent can't go on"],
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_table_is_as_wide_as_the_terminal(desk: Desk, columns: int) -> None:
    """Long names give way, the longest first; ideographs are counted as the two columns that they take."""
    desk.submit(agent="billing-in-a-very-long-department", thread_id="顧客" * 60)
    desk.submit(thread_id="short")

    lines = desk.on_terminal("reviews", "list", columns=columns).out.splitlines()

    assert len(lines) == 3
    assert all(display_width(line) <= columns for line in lines)
    assert "…" in lines[1]
    assert "short  " in lines[2]


def test_colours_are_for_terminals(desk: Desk) -> None:
    desk.doubtful()
    coloured = desk.terminal("reviews", "list").wait_end().out
    assert "\x1b[31min doubt: ask\x1b[0m" in coloured
    assert "\x1b" not in desk.on_terminal("reviews", "list", NO_COLOR="1").out
    assert "\x1b" not in desk.run_piped("reviews", "list").out


def test_a_pipe_gets_values_between_tabs(desk: Desk) -> None:
    """Nothing is cut, ids and times are exact, and there are no titles."""
    review = desk.submit(thread_id="t-" + "9" * 200, ago=90_000)
    ran = desk.run_piped("reviews", "list", COLUMNS="40")
    [row] = [line.split("\t") for line in ran.out.splitlines()]
    assert (row[0], row[3]) == (review.id, review.thread_id)
    assert row[1].endswith("Z")
    assert (row[2], row[4:]) == ("billing", ["pending", "ask"])


def test_a_name_can_not_steer_the_terminal(desk: Desk) -> None:
    """T13: what a thread's name holds is shown, and stays in its row."""
    desk.submit(thread_id="\x1b[2K\x9b1A\tapproved\n\u202e\u3164")
    for ran in (
        desk.on_terminal("reviews", "list", columns=120),
        desk.run_piped("reviews", "list"),
    ):
        assert r"\x1b[2K\x9b1A\tapproved\n\u202e\u3164" in ran.out
        assert "\x1b" not in ran.out
    assert desk.run_piped("reviews", "list").out.count("\n") == 1


def test_json_is_one_array(desk: Desk) -> None:
    review = desk.submit(call("ask", "c1", secret="s3cr3t"), thread_id="é\x7f")
    ran = desk.hitl("reviews", "list", "--json")
    [found] = json.loads(ran.out)
    assert (found["id"], found["thread_id"], found["status"]) == (review.id, "é\x7f", "pending")
    assert [(c["number"], c["name"], c["action"]["decision"]) for c in found["calls"]] == [
        (1, "ask", None)
    ]
    assert "s3cr3t" not in ran.out
    assert ran.out.isascii()
    assert "\x7f" not in ran.out


def test_nothing_waits(desk: Desk) -> None:
    """A pipe gets nothing, a program an empty array, and the person a sentence."""
    assert desk.hitl("reviews", "list") == (
        0,
        "",
        "There is nothing to do: every review is done.\n",
    )
    assert desk.hitl("reviews", "list", "--json").out == "[]\n"
    assert desk.hitl("reviews", "list", "--agent", "x") == (0, "", "No review matches.\n")


def test_of_300_the_oldest_30_and_that_there_are_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given 300 reviews and an index that is read in pages; then a limit is said, and none is missed."""
    monkeypatch.setattr(session, "_PAGE", 70)

    async def submit(reviews: Reviews) -> list[str]:
        now = await reviews.store.now()
        made = [review_of(thread_id=f"t-{n}", now=now - 300 + n) for n in range(300)]
        return [(await reviews.submit(*each)).id for each in made]

    ids = desk.do(submit)

    ran = desk.hitl("reviews", "list")
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == ids[:30]
    assert ran.err == "There are more than these 30: use --limit.\n"
    ran = desk.hitl("reviews", "list", "--limit", "300")
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == ids
    assert ran.err == ""


def test_only_those_that_were_asked_for(desk: Desk) -> None:
    one = desk.submit(agent="crm", thread_id="t-1").id
    two = desk.claim(thread_id="t-2").id
    three = desk.done(thread_id="t-2").id

    def ids(*argv: str) -> list[str]:
        out = desk.hitl("reviews", "list", *argv).out
        return [line.split("\t")[0] for line in out.splitlines()]

    assert ids("--agent", "crm") == [one]
    assert ids("--status", "claimed") == [two]
    assert ids("--thread", "t-2") == [two, three]
    assert ids("--thread", "t-2", "--status", "done") == [three]
    assert ids("--thread", "t-2", "--agent", "crm") == []
    assert short_id(three) in desk.on_terminal("reviews", "list", "--thread", "t-2").out


def test_done_reviews_need_a_thread(desk: Desk) -> None:
    ran = desk.hitl("reviews", "list", "--status", "done")
    assert (ran.code, ran.out) == (2, "")
    assert "--thread" in ran.err


def test_one_that_can_not_be_read_hides_no_other(desk: Desk) -> None:
    """Given a review that a newer version stored; then the others are listed, and the exit code says so."""
    broken, fine = desk.submit(thread_id="t-1"), desk.submit(thread_id="t-2")
    with redis.Redis.from_url(desk.url) as client:
        client.hset(f"hitl:{{0}}:review:{broken.id}", "data", '{"schema_version": 2}')
    ran = desk.hitl("reviews", "list")
    assert ran.code == 3
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == [fine.id]
    assert broken.id in ran.err


@pytest.mark.parametrize(
    ("address", "code", "text"),
    [
        ("redis://127.0.0.1:1/0", 3, "can't be reached"),
        ("127.0.0.1:1", 2, "is not a redis:// URL"),
    ],
)
@pytest.mark.parametrize(
    "argv", [["reviews", "list"], ["reviews", "show", "0-1234"], ["tokens", "list"]]
)
def test_a_redis_that_is_not_there(
    desk: Desk, argv: list[str], address: str, code: int, text: str
) -> None:
    """One sentence, also where the environment names another."""
    ran = desk.hitl(*argv, "--redis", address)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert text in ran.err
    assert ran.err.endswith("The address is from --redis.\n")


def test_a_look_into_an_empty_redis_fixes_nothing(desk: Desk) -> None:
    """The number of partitions is for the first process that writes to choose."""
    assert desk.hitl("reviews", "list").code == 0
    with redis.Redis.from_url(desk.url) as client:
        assert client.dbsize() == 0


def test_where_an_address_is_from(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitl_core.cli.session.DEFAULT_REDIS_URL", "redis://127.0.0.1:1/7")
    for url, message in (
        ("redis://127.0.0.1:1/0", "is from HITL_REDIS_URL."),
        (" ", "the default address"),
    ):
        monkeypatch.setenv("HITL_REDIS_URL", url)
        ran = desk.hitl("tokens", "list")
        assert (ran.code, ran.err.count("\n")) == (3, 1)
        assert message in ran.err


def test_who_reads_only_the_beginning_is_no_trouble(desk: Desk) -> None:
    """`hitl reviews list | head -1` ends without a traceback."""
    desk.submit()
    read, write = os.pipe()
    os.close(read)
    code = "import sys; from hitl_core.cli import main; sys.exit(main(['reviews', 'list']))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        stdout=write,
        stderr=subprocess.PIPE,
        env=desk.environment({}),
        check=False,
    )
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_the_first_page_costs_the_same_at_any_size(desk: Desk, redis_url: str) -> None:
    """Given a few reviews, and thousands behind them, when the first are listed, then
    Redis sends no more."""
    for _ in range(4):
        desk.submit()
    client: Any = redis.Redis.from_url(redis_url)
    sent = []
    with client:
        for more in (0, 20_000):
            seats = {f"0-{number:032x}": 4e9 + number for number in range(more)}
            if seats:
                client.zadd(Keys(0).live_reviews, seats)
            before = client.info("stats")["total_net_output_bytes"]
            assert desk.hitl("reviews", "list", "--limit", "3").out.count("\n") == 3
            sent.append(client.info("stats")["total_net_output_bytes"] - before)
    assert sent[1] < sent[0] + 100_000
