"""`hitl demo --check` as a process: what it prints, which mistakes it finds, and which input it refuses."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitl_core.cli import main

pytestmark = [pytest.mark.redis, pytest.mark.slow]
ROOT = Path(__file__).parents[2]


def check(
    tmp_path: Path,
    *turns: dict[str, Any] | str,
    policy: str | None = None,
    port: int | None = None,
    redis: str = "",
) -> Any:
    arguments = [
        sys.executable,
        "-m",
        "hitl_core",
        "demo",
        "--check",
        f"--data={tmp_path / 'data'}",
    ]
    if turns:
        lines = [turn if isinstance(turn, str) else json.dumps(turn) for turn in turns]
        (tmp_path / "turns.jsonl").write_text("\n".join(lines), "utf-8")
        arguments.append(f"--calls={tmp_path / 'turns.jsonl'}")
    if policy:
        (tmp_path / "policy.yaml").write_text(policy, "utf-8")
        arguments.append(f"--policy={tmp_path / 'policy.yaml'}")
    if port:
        arguments.append(f"--port={port}")
    environment = {**os.environ, "HITL_REDIS_URL": redis}
    return subprocess.run(
        arguments,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.parametrize("checking", [["--check"], ["--calls", "turns.jsonl"]])
def test_what_only_the_demo_in_the_browser_takes_is_refused(
    checking: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A question to the agent was ignored in silence."""
    assert main(["demo", *checking, "--ask", "refund order 1042"]) == 2

    assert "--ask (ASK=) is for the demo in the browser" in capsys.readouterr().err


def outcomes(done: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def turn(thread_id: str, calls: list[Any], *decisions: dict[str, Any]) -> dict[str, Any]:
    named = [{"id": id, "name": name, "args": args} for id, name, args in calls]
    return {"thread_id": thread_id, "calls": named, "decisions": list(decisions)}


def test_the_default_turn_shows_an_edit_a_rejection_and_a_correction(tmp_path: Path) -> None:
    done = check(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    (outcome,) = outcomes(done)
    email, customer = outcome["executed"]
    assert email["name"] == "send_email"
    assert "up to ten days" in email["args"]["body"]
    assert customer["args"] == {"customerId": "cus_88", "status": "vip"}
    (answer,) = outcome["answers"]
    assert answer["name"] == "run_sql"
    assert "Never delete an order" in answer["content"]
    assert "killed with kill -9" in done.stdout
    assert "pids: redis" in done.stdout
    assert "must match the pattern" in done.stdout


def test_one_review_is_edited_in_slack_and_approved_in_teams(tmp_path: Path) -> None:
    """Given a bot with both, then a review is shown in both, and decided by people in each."""
    done = check(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "in Slack Alice changes it to 77.5" in done.stdout
    assert "in Teams Bob approves that" in done.stdout


def test_turns_of_ones_own_run_exactly_as_decided(tmp_path: Path) -> None:
    """Nested arguments, two reviews in one thread, and a call id used again in a later turn."""
    nested = {"meta": {"tags": ["x", "y"], "deep": [1, 1.0, {"n": None}]}, "big": 2**70}
    edited = {"meta": {"tags": ["x"], "deep": [1, 1.0, {"n": None}]}, "big": 2**70 + 1}

    done = check(
        tmp_path,
        turn("t1", [("c1", "file_it", nested), ("c2", "ping", {})],
             {"type": "edit", "args": edited}, {"type": "approve"}),
        turn("t1", [("c1", "ping", {"again": True})], {"type": "approve"}),
        turn("t2", [("c1", "ping", {})], {"type": "reject"}),
        turn("t3", [("c1", "odd", {"t": "a\u2028b\x85", "n": None, "long": "x" * 9000, "o": 1})],
             {"type": "edit", "args": {"t": "a\u2028b\x85", "n": None, "long": "x" * 9000, "o": 2}}),
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    first, second, third, odd = outcomes(done)
    assert (odd["executed"][0]["args"]["n"], odd["executed"][0]["args"]["o"]) == (None, 2)
    assert first["executed"][0] == {"id": "c1", "name": "file_it", "args": edited}
    assert [call["id"] for call in first["executed"]] == ["c1", "c2"]
    assert second["executed"] == [{"id": "c1", "name": "ping", "args": {"again": True}}]
    assert third["executed"] == []
    assert third["answers"][0]["status"] == "error"


def test_more_than_a_card_or_a_modal_holds(tmp_path: Path) -> None:
    """Twelve calls, which the card lists and the Review modal asks one by one, and a form of two pages."""
    address = {"city": "Bonn", "zip": "53111"}
    calls = [(f"c{n}", "move", {"n": n, "to": address, "tags": ["a"]}) for n in range(12)]
    moved = {"n": 4, "to": {**address, "city": "Köln"}, "tags": ["a", "b"]}
    planned: list[dict[str, Any]] = [{"type": "approve"}] * 12
    planned[4], planned[7] = {"type": "edit", "args": moved}, {"type": "reject", "message": "No"}
    wide = {f"k{n:02}": n for n in range(60)}

    done = check(
        tmp_path,
        turn("t1", calls, *planned),
        turn("t2", [("c", "wide", wide)], {"type": "edit", "args": {**wide, "k01": -1, "k59": -2}}),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    many, paged = outcomes(done)
    assert [call["id"] for call in many["executed"]] == [f"c{n}" for n in range(12) if n != 7]
    assert many["executed"][4]["args"] == moved
    assert paged["executed"][0]["args"] == {**wide, "k01": -1, "k59": -2}


def test_a_redis_of_ones_own_can_be_checked_against_again(tmp_path: Path, redis_url: str) -> None:
    """What an earlier check left in it is not taken for this one's."""
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        done = check(
            tmp_path / run, turn("t", [("c", "act", {})], {"type": "approve"}), redis=redis_url
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = check(tmp_path, turn("t", [("c", "act", {})], {"type": "approve"}), port=port)

    assert done.returncode == 2
    assert f"Port {port} is in use" in done.stderr


def test_a_policy_with_a_typo_starts_nothing(tmp_path: Path) -> None:
    done = check(tmp_path, turn("t", [("c", "act", {})]), policy="defualt: review\n")

    assert done.returncode == 2
    assert "hitl policy check" in done.stderr
    assert not (tmp_path / "data").exists()


POLICY = """
default: review
interrupt_on:
  read_*: false
  drop: deny
  ask: {allowed_decisions: [respond, ignore]}
"""


def test_a_policy_of_ones_own_allows_denies_and_asks(tmp_path: Path) -> None:
    done = check(
        tmp_path,
        turn(
            "t",
            [("r", "read_x", {"a": 1}), ("d", "drop", {}), ("q", "ask", {"q": "?"}), ("s", "ask", {})],
            {"type": "respond", "message": "The blue one"},
            {"type": "ignore"},
        ),
        turn("t", [("d", "drop", {})]),
        policy=POLICY,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    mixed, denied = outcomes(done)
    assert [call["id"] for call in mixed["executed"]] == ["r"]
    results = {answer["tool_call_id"]: answer for answer in mixed["answers"]}
    assert results["q"]["content"] == "The blue one"
    assert results["q"]["status"] == "success"
    assert results["s"]["status"] == "error"
    assert results["d"]["status"] == denied["answers"][0]["status"] == "error"


CAREFUL = """
default: review
interrupt_on:
  long: {must_read: true, confirm: true}
"""


def test_a_policy_of_ones_own_wants_all_of_it_read_and_asks_twice(tmp_path: Path) -> None:
    args = {"text": "word " * 4000}
    done = check(tmp_path, turn("t", [("c", "long", args)], {"type": "approve"}), policy=CAREFUL)

    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(done)[0]["executed"][0]["args"] == args


def test_a_quorum_is_refused_before_anything_starts(tmp_path: Path) -> None:
    policy = "{default: review, reviewers: {channel_members: true, quorum: 2}}"
    done = check(tmp_path, turn("t", [("c", "act", {})], {"type": "approve"}), policy=policy)

    assert done.returncode == 2
    assert "turns.jsonl:1: act needs 2 people, but here one person decides each call" in done.stderr


def test_what_can_not_be_decided_so_is_a_failure(tmp_path: Path) -> None:
    """A check that could not fail would say nothing: here the plan has a field that no form offers."""
    wrong = {"type": "edit", "args": {"a": 2, "unknown": 1}}
    done = check(tmp_path, turn("t", [("c", "act", {"a": 1})], wrong))

    assert done.returncode == 1
    assert "the form has no field for unknown" in done.stdout
    assert "0 of 1 turn ran exactly as decided" in done.stdout


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "turns.jsonl:1: The line is not JSON"),
        ("[1]", "turns.jsonl:1: The line must be a JSON object"),
        (turn("t", [("", "act", {})]), "turns.jsonl:1: The call of 'act' has no `id`"),
        (turn("t", [("c", "act", [1])]), "arguments that are not a JSON object"),
        (turn("t", [("c", "act", {})]), "0 decisions for the 1 calls that the policy reviews (act)"),
        (turn("t", [("c", "act", {})], {"type": "accept"}), "'accept' is not a decision"),
        ({"thread_id": "t"}, "'calls' is missing"),
        ({"thread_id": "", "calls": []}, "thread_id must be text"),
        ({"thread_id": "t", "calls": {"id": "c"}}, "calls must be a list of objects"),
        ({"thread_id": "t", "calls": [], "decisions": ["approve"]}, "at least one call"),
        (turn("t", [("c", "act", {})], {"type": "approve", "foo": 1}), "has no key 'foo'"),
        (turn("t", [("c", "act", {})], {"type": "edit"}), "an edit needs args"),
        (turn("t", [("c", "act", {})], {"type": "respond"}), "a respond needs a message"),
    ],
)  # fmt: skip
def test_a_line_that_can_not_be_played_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: Any, sentence: str
) -> None:
    """Before any process is started, so none is needed to see it."""
    data, calls = tmp_path / "data", tmp_path / "turns.jsonl"
    calls.write_text(line if isinstance(line, str) else json.dumps(line), "utf-8")

    assert main(["demo", "--check", f"--data={data}", f"--calls={calls}"]) == 2

    message = capsys.readouterr().err
    assert sentence in message
    assert len(message.splitlines()) == 1
    assert not data.exists()
