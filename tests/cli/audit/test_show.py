"""`hitl audit show`: who did what, when, from where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
import redis

from hitl_core.model import MessageRef, Place, Review
from hitl_core.policy import Policy
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.packing import unpack
from tests.cli.desk import Desk
from tests.support.builders import call, person, proposal

HERE = MessageRef(channel="slack", conversation="C1", ts="17.1")


@pytest.fixture
def review(desk: Desk) -> Review:
    """Posted, refused to Eve, edited and approved by Ada, and run."""
    review = desk.submit(call("ask", n=1))

    async def write_history(reviews: Reviews) -> Review:
        await reviews.store.record_post(review.id, Place("slack:#ops"), HERE)
        await reviews.record_refusal(
            review.id,
            "not_allowed",
            person("Eve"),
            "17.2.abc",
            action="1",
            place=Place("slack:#ops"),
        )
        await reviews.apply(
            Decide(review.id, "1", proposal("edit", n=2), person("Ada"), "17.3.def")
        )
        claimed = await reviews.change(
            review.id, "claim", lambda r, now: claims.claim(r, "host:1", now, 60)
        )
        return claimed.review

    return desk.do(write_history)


def test_who_what_when_and_by_which_click(desk: Desk, review: Review) -> None:
    """T50: "I never approved this": id, name and workspace, the click's id, and the hashes before and
    after."""
    ran = desk.hitl("audit", "show", review.id)

    assert (ran.code, ran.err) == (0, "")
    shown = ran.out.splitlines()
    heads = [line.split()[0:1] + line.split()[2:] for line in shown if not line.startswith(" ")]
    assert heads == [
        ["1", "submitted"],
        ["2", "delivered", "slack:C1/17.1"],
        ["3", "refused", "not_allowed"],
        ["4", "decided", "edit"],
        ["5", "claimed"],
    ]
    assert "  by         “Eve” (slack T1/U_EVE)" in shown
    assert "  by         “Ada” (slack T1/U_ADA)" in shown
    assert "  op         17.3.def" in shown
    before, after = review.calls[0].args_hash[:12], review.actions[0].args_hash[:12]
    assert f"  args_hash  {before} → {after}" in shown
    assert all(line.split()[1].endswith("Z") for line in shown if not line.startswith(" "))


def test_programs_get_all_of_it(desk: Desk, review: Review) -> None:
    """Whole hashes, also of the entries."""
    entries = json.loads(desk.hitl("audit", "show", review.id, "--json").out)

    assert [entry["n"] for entry in entries] == [1, 2, 3, 4, 5]
    assert entries[3]["by"] == {"channel": "slack", "team": "T1", "id": "U_ADA", "name": "Ada"}
    assert entries[3]["args_hash"] == review.actions[0].args_hash
    assert entries[4]["prev"] == entries[3]["hash"]


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_it_fits_a_terminal(desk: Desk, review: Review, columns: int) -> None:
    """Narrow or wide, by the short id; nothing of a name steers it."""

    async def write_refusals(reviews: Reviews) -> None:
        await reviews.record_refusal(review.id, "stale", person("\x1b[2J" + "Eve " * 40), "op")

    desk.do(write_refusals)

    ran = desk.on_terminal("audit", "show", review.id[:10], columns=columns)

    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= max(columns, 48)


def test_it_is_there_when_the_review_is_gone(desk: Desk, review: Review, redis_url: str) -> None:
    """What happened is kept for longer; unknown ids, and none at all, are one sentence alike (T37)."""
    with redis.Redis.from_url(redis_url) as client:
        client.delete(Keys(0).review(review.id))
    assert desk.hitl("audit", "show", review.id).code == 0

    text = [desk.hitl("audit", "show", id) for id in (f"0-{'a' * 32}", f"7-{'a' * 32}")]
    assert {(ran.code, ran.out, ran.err.count("\n")) for ran in text} == {(1, "", 1)}
    assert desk.hitl("audit", "show", review.id[:10]).code == 1


def test_it_is_there_when_the_review_can_not_be_read(
    desk: Desk, review: Review, redis_url: str
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.hset(Keys(0).review(review.id), "data", "damaged")
    code, out, _ = desk.hitl("audit", "show", review.id)
    assert code == 0
    assert "submitted" in out
    assert desk.hitl("audit", "show", review.id[:10]).code == 3


def test_what_was_changed_in_redis_is_said(desk: Desk, review: Review, redis_url: str) -> None:
    """Given somebody who takes the last entry away, or writes another in its place; then it ends with 1."""
    client: Any = redis.Redis.from_url(redis_url)
    with client:
        stream = Keys(0).audit
        *_, (last, fields) = client.xrange(stream)
        client.xdel(stream, last)
        cut = desk.hitl("audit", "show", review.id)
        changed = unpack(fields[b"event"]).replace(b'"claimed"', b'"done"')
        client.xadd(stream, {b"review": review.id, b"event": changed})
        forged = desk.hitl("audit", "show", review.id)
    assert (cut.code, forged.code) == (1, 1)
    assert cut.err == "The review has 5 entries, but the audit ends here.\n"
    assert forged.err == "Entry 5 is broken: it was changed: its hash doesn't match.\n"


def test_a_turn_that_no_rule_names_says_so(desk: Desk) -> None:
    """Not `rule ,`."""
    by = Policy.from_mapping({"default": "review"})
    review = desk.submit(call("a", "c1"), call("b", "c2"), by=by)
    one = desk.submit(call("ask", "c1"), call("unknown", "c2"))

    assert "  rule       the default, the default\n" in desk.hitl("audit", "show", review.id).out
    assert "  rule       ask, the default\n" in desk.hitl("audit", "show", one.id).out


_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda line: line[:-3],
    "a list": lambda line: b"[%b]" % json.dumps(line.decode()).encode(),
    "no number": lambda line: line.replace(b'"n":', b'"m":'),
    "no time": lambda line: line.replace(b'"at":', b'"att":'),
    "no such time": lambda line: re.sub(rb'"at":[0-9.]+', b'"at":1e18', line),
    "nobody": lambda line: line.replace(b'"kind":', b'"by":"Eve\\u001b[31m","kind":'),
    "another type": lambda line: re.sub(rb'"policy":"[0-9a-f]+"', b'"policy":4', line),
    "too deep": lambda line: line[:-1] + b',"\xc3\xa4":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a long number": lambda line: line[:-1] + b',"z":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
def test_one_damaged_entry_hides_no_other(
    desk: Desk, review: Review, redis_url: str, damage: Callable[[bytes], bytes]
) -> None:
    """It is told, by each command that reads the audit, and none of them ends with an error of Python."""
    other = desk.submit(call("ask", "c9"), thread_id="t-9")
    with redis.Redis.from_url(redis_url) as client:
        key, stored = Keys(0).audit, cast(Any, client.xrange(Keys(0).audit))
        client.delete(key)
        for number, (id, fields) in enumerate(stored):
            line = fields[b"event"]
            client.xadd(key, {"event": damage(unpack(line)) if number == 0 else line}, id=id)

    shown = desk.hitl("audit", "show", review.id)
    as_json = desk.hitl("audit", "show", review.id, "--json")
    calls = desk.hitl("audit", "export", "--calls")

    assert (shown.code, as_json.code) == (1, 1)
    assert "“Ada” (slack T1/U_ADA)" in shown.out
    assert "is broken: " in shown.err
    assert "\x1b" not in shown.out
    assert len(json.loads(as_json.out)) == 5
    assert '"c9"' in calls.out
    assert ('"c1"' in calls.out) is (calls.code == 0)
    assert desk.hitl("audit", "verify").code == 1
    assert desk.hitl("audit", "export").code == 0
    assert desk.hitl("audit", "show", other.id).code == 0
