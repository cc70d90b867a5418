"""`hitl audit export`: the whole audit can be exported, and its calls are input for `hitl policy test`."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from hitl_core.store.redis.keys import META_KEY, Keys
from tests.audit.histories import submit
from tests.cli.desk import _HITL as HITL
from tests.cli.desk import Desk
from tests.support.builders import approve_all, call, person


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_happened_is_written_with_its_anchor(desk: Desk, tmp_path: Path) -> None:
    """Into a new file, which is never written over; the anchor is told apart from it."""
    review = desk.submit(call("ask", text="secret \u202e"))
    desk.do(lambda reviews: approve_all(reviews, review.id, person("Ünï\u202e\x7f")))
    file = tmp_path / "audit.jsonl"

    ran = desk.hitl("audit", "export", "--out", str(file))

    *entries, anchor = lines_of(file.read_text("ascii"))
    assert (ran.code, ran.out) == (0, "")
    assert [(e["kind"], e["review_id"], e["n"]) for e in entries] == [
        ("submitted", review.id, 1),
        ("decided", review.id, 2),
    ]
    assert entries[1]["by"]["name"] == "Ünï\u202e\x7f"
    assert "\x7f" not in file.read_text()
    assert "secret" not in file.read_text()
    assert f"\n{anchor['to']}:{anchor['root']}\n" in ran.err
    assert "Entries 2, anchors 1." in ran.err

    again = desk.hitl("audit", "export", "--out", str(file))
    assert (again.code, again.out) == (2, "")
    assert "exists already" in again.err
    assert len(lines_of(file.read_text())) == 3


def test_only_what_is_new(desk: Desk) -> None:
    """Each export continues where the last one ended, and says so; --after says where by hand."""
    assert desk.hitl("audit", "export", "--new").out == ""
    desk.submit()
    first = lines_of(desk.hitl("audit", "export", "--new").out)
    review = desk.submit()

    new = lines_of(desk.hitl("audit", "export", "--new").out)

    assert (new[0], new[1]["review_id"]) == ({"follows": first[-1]}, review.id)
    assert lines_of(desk.hitl("audit", "export", "--after", first[-1]["to"]).out) == new
    assert lines_of(desk.hitl("audit", "export").out) == [*first, *new[1:]]
    assert lines_of(desk.hitl("audit", "export", "--new").out) == [{"follows": new[-1]}]


def test_a_dash_is_standard_output(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `verify`; it was a file with this name."""
    monkeypatch.chdir(tmp_path)
    desk.submit()
    assert desk.hitl("audit", "export", "--out", "-").out == desk.hitl("audit", "export").out
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_written_is_not_exported(desk: Desk, tmp_path: Path) -> None:
    """A full disk, a folder that isn't there: one sentence, and nothing is marked."""
    desk.submit()
    ran = desk.hitl("audit", "export", "--out", str(tmp_path / "no" / "where"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*HITL, "audit", "export"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=desk.environment({}),
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (
        2,
        "hitl: The output can't be written: No space left on device.\n",
    )
    assert desk.do(lambda reviews: reviews.store.ledger.last_export(0)) is None


def test_what_was_marked_as_exported_is_in_the_file(
    redis_url: str, desk: Desk, tmp_path: Path
) -> None:
    """What fails after the last line deletes no file: its entries may be marked, and no other export with
    --new has them.
    """
    with redis.Redis.from_url(redis_url) as client:
        client.hset(META_KEY, "partitions", 2)
        for n in range(8):
            desk.do(partial(submit, thread_id=f"t-{n}"))
        client.rpush(Keys(1).last_export, "so that the second partition can't be marked")
    file, silent = tmp_path / "audit.jsonl", tmp_path / "silent.jsonl"

    ran = desk.hitl("audit", "export", "--out", str(file))

    assert ran.code == 3
    assert "All entries were written" in ran.err
    assert desk.do(lambda reviews: reviews.store.ledger.last_export(0)) is not None
    assert desk.run_piped("audit", "verify", str(file)).code == 0

    with redis.Redis.from_url(redis_url) as client:
        client.delete(Keys(1).last_export)
    reads, writes = os.pipe()
    os.close(reads)
    ended = subprocess.run(  # nobody reads what it says
        [*HITL, "audit", "export", "--out", str(silent)],
        stderr=writes,
        env=desk.environment({}),
        check=False,
    )
    os.close(writes)
    assert ended.returncode != 0
    assert silent.read_text() == file.read_text()


def test_four_partitions_are_one_file(redis_url: str, desk: Desk) -> None:
    """Each with anchors of its own; `verify` takes them all."""

    with redis.Redis.from_url(redis_url) as client:
        client.hset(META_KEY, "partitions", 4)
    for n in range(8):
        desk.do(partial(submit, thread_id=f"t-{n}"))

    found = desk.hitl("audit", "export").out

    anchors = [line for line in lines_of(found) if "root" in line]
    assert len(anchors) == 4
    assert desk.run_piped("audit", "verify", "-", stdin=found).code == 0


def test_the_calls_go_to_policy_test(desk: Desk, tmp_path: Path) -> None:
    """As the model made them, of reviews that wait, that are done, and that asked nobody."""
    desk.submit(
        call("ask", "c1", text="a\nb \u2028", n=1.0), call("look_up", "c2"), thread_id="t-9"
    )
    desk.done(thread_id="t-10")
    calls, policy = tmp_path / "calls.jsonl", tmp_path / "policy.yaml"
    policy.write_text("default: review\ninterrupt_on: {look_*: false}\n")

    ran = desk.hitl("audit", "export", "--calls", "--out", str(calls))

    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert lines_of(calls.read_text("ascii")) == [
        {"id": "c1", "name": "ask", "thread_id": "t-9", "args": {"n": 1.0, "text": "a\nb \u2028"}},
        {"id": "c2", "name": "look_up", "thread_id": "t-9", "args": {}},
        {"id": "c1", "name": "ask", "thread_id": "t-10", "args": {}},
    ]
    tried = desk.hitl("policy", "test", str(policy), str(calls))
    assert (tried.code, len(tried.out.splitlines())) == (0, 3)
    assert desk.do(lambda reviews: reviews.store.ledger.last_export(0)) is None


@pytest.mark.parametrize(
    "argv",
    [["--after", "x"], ["--after", "0:1"], ["--new", "--after", "0:1-1"], ["--new", "--calls"]],
)
def test_a_wrong_command_is_one_sentence(desk: Desk, argv: list[str]) -> None:
    try:
        code = desk.hitl("audit", "export", *argv).code
    except SystemExit as ended:
        code = ended.code
    assert code == 2


@pytest.mark.parametrize("more", [[], ["--calls"]])
def test_an_id_of_another_redis_exports_nothing(
    desk: Desk, tmp_path: Path, more: list[str]
) -> None:
    """Given the id of an entry in a partition that this Redis doesn't have; then nothing is exported, and no
    file is left."""
    desk.submit()
    out = tmp_path / "audit.jsonl"

    ended = desk.hitl("audit", "export", "--after", "7:1-0", "--out", str(out), *more)

    assert (ended.code, ended.out) == (2, "")
    assert "--after 7:1-0: this Redis has only the partition 0." in " ".join(ended.err.split())
    assert not out.exists()


def test_looking_leaves_an_empty_redis_empty(desk: Desk) -> None:
    assert desk.hitl("audit", "export").err == "There is nothing to export.\n"
    assert desk.hitl("audit", "export", "--calls") == (0, "", "")
