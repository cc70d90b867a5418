"""Edits from the command line: what is edited is what runs, and is judged again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hitl_core.policy import Policy
from tests.cli.desk import Desk
from tests.cli.reviews.deciding import decisions, with_tools
from tests.support.builders import call


@pytest.mark.parametrize("how", ["argument", "file", "pipe"])
def test_an_edit_is_what_runs(permitted_desk: Desk, tmp_path: Path, how: str) -> None:
    review = permitted_desk.submit(call("strict", "c1", n=3))
    new, file = '{"n": 5, "to": "é"}', tmp_path / "args.json"
    file.write_text(new, "utf-8")
    given = {
        "argument": ["--args", new],
        "file": ["--args-file", str(file)],
        "pipe": ["--args-file", "-"],
    }
    ran = permitted_desk.run_piped(
        "reviews", "decide", review.id, "1", "edit", "--yes", *given[how], stdin=new
    )
    assert (ran.code, ran.out) == (0, "edited and approved strict (c1)\n")
    assert permitted_desk.review(review.id).arguments("1").parse() == {"n": 5, "to": "é"}


def amounts(least: int, most: int) -> dict[str, object]:
    number = {"type": "integer", "minimum": least, "maximum": most}
    return {"properties": {"amount": number}, "required": ["amount"]}


REFUNDS = Policy.from_mapping(
    {
        "default": "deny",
        "interrupt_on": {
            "refund": {
                "when": amounts(1_001, 10_000),
                "notify": "slack:#finance",
                "reviewers": {"groups": ["S1"], "quorum": 2},
            },
            "refun*": {"when": amounts(0, 1_000)},
        },
    }
)


def test_an_edit_is_judged_again(permitted_desk: Desk) -> None:
    """Given a refund of 5; when it is made 5,000, then it waits for those whom the
    rule for that names; 50,000 is refused before anybody is asked."""
    review = permitted_desk.submit(call("refund", "c1", amount=5), by=REFUNDS)
    edit = ["reviews", "decide", review.id, "1", "edit", "--yes", "--args"]
    denied = permitted_desk.hitl(*edit, '{"amount": 50000}')
    assert (denied.code, denied.out) == (1, "")
    assert "The policy denies refund with these arguments" in denied.err

    ran = permitted_desk.hitl(*edit, '{"amount": 5000}')
    assert (ran.code, ran.out) == (0, "edited refund (c1)\n")
    assert (
        "After the edit, the rule `refund` applies, so it waits in slack:#finance: S1; 2 of"
        in ran.err
    )
    assert decisions(permitted_desk, review.id) == [None]
    assert permitted_desk.review(review.id).actions[0].places == ("slack:#finance",)


def test_an_edit_is_shown_before_it_counts(permitted_desk: Desk) -> None:
    review = permitted_desk.submit(call("strict", "c1", n=3))
    argv = ["reviews", "decide", review.id, "1", "edit", "--args", '{"n": 5}']
    terminal = permitted_desk.terminal(*argv, NO_COLOR="1")
    terminal.until("Edit strict? [y/N]")
    assert "arguments\n      n          3\n" in terminal.out
    assert "edited, these would run\n      n          5\n" in terminal.out
    terminal.types("n\n")
    assert terminal.wait_end().code == 1


def test_an_edit_may_name_another_tool_and_then_that_one_is_named(
    permitted_desk: Desk,
) -> None:
    """Security M3 as well: with the same arguments, where no others are given."""
    review = with_tools(permitted_desk)
    decide = ["reviews", "decide", review.id, "a", "edit", "--tool"]
    wrong = permitted_desk.hitl(*decide, "drop_table", "--yes")
    assert (wrong.code, "drop_table" in wrong.err) == (1, True)

    ran = permitted_desk.hitl(*decide, "b", "--yes")

    assert (ran.code, ran.out) == (0, "edited and approved b (c1)\n")
    after = permitted_desk.review(review.id)
    assert (after.tool_name(after.calls[0]), after.arguments("1").parse()) == ("b", {"n": 1})
    shown = permitted_desk.hitl("reviews", "show", review.id).out
    assert "\n1  b  c1  edited and approved\n" in shown
    assert "    replaces   a\n" in shown
    [shown_call] = json.loads(permitted_desk.hitl("reviews", "show", review.id, "--json").out)[
        "calls"
    ]
    assert (shown_call["name"], shown_call["asked_for"]) == ("b", "a")
