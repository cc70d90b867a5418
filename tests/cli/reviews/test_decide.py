"""`hitl reviews decide`: off by default, with an identity of its own, and under the same rules as in the
chat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import Decide
from hitl_core.review.service import Reviews
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.cli.desk import Desk
from tests.cli.reviews.deciding import LOGIN, ME, decisions, with_tools
from tests.support.builders import call, judge_turn, person, proposal


@pytest.mark.parametrize("switch", [None, "", "0", "true"])
def test_it_is_off_unless_it_is_switched_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, switch: str | None
) -> None:
    """T70: the only way to decide without being a reviewer works only where an operator has allowed it."""
    if switch is not None:
        monkeypatch.setenv("HITL_CLI_DECIDE", switch)
    review = desk.submit()
    ran = desk.hitl("reviews", "decide", review.id, "1", "approve", "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "HITL_CLI_DECIDE=1" in ran.err
    assert decisions(desk, review.id) == [None]


def test_the_record_says_that_it_was_the_command_line(
    permitted_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T70: who uses this right is named, on the card too. The login is the system's: the environment's could
    say anything."""
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("USER", "ada")
    review = permitted_desk.submit()
    ran = permitted_desk.hitl("reviews", "decide", review.id, "1", "approve", "--yes")
    assert (ran.code, ran.out) == (0, "approved ask (c1)\n")
    assert ran.err == "That was the last action: the agent continues.\n"
    [decision] = decisions(permitted_desk, review.id)
    assert decision is not None
    assert (decision.type, decision.by) == ("approve", ME)
    shown = permitted_desk.hitl("reviews", "show", review.id).out
    assert f"approved by {LOGIN} (command line) (cli {ME.team}/{LOGIN})" in shown


@pytest.mark.parametrize(
    ("typed", "code", "decided"),
    [("y\n", 0, True), ("YES\n", 0, True), ("n\n", 1, False), ("\n", 1, False), ("\x04", 1, False)],
)
def test_a_person_sees_what_will_run_and_is_asked(
    permitted_desk: Desk, typed: str, code: int, decided: bool
) -> None:
    review = permitted_desk.submit(call("ask", "c1", to="jo@example.com"), thread_id="t-9")
    terminal = permitted_desk.terminal(
        "reviews", "decide", review.id[:8], "ask", "approve", NO_COLOR="1"
    )
    terminal.until("Approve ask? [y/N] ")
    assert f"{review.id}: billing, thread t-9\n" in terminal.out
    assert 'to         "jo@example.com"' in terminal.out
    assert decisions(permitted_desk, review.id) == [None]

    terminal.types(typed)

    ran = terminal.wait_end()
    assert ran.code == code
    assert ("approved ask (c1)" if decided else "Nothing was decided.") in ran.out
    assert (decisions(permitted_desk, review.id) != [None]) is decided


def test_a_person_sees_all_of_what_they_confirm(permitted_desk: Desk) -> None:
    """attack 7, M4: given a long value and many arguments, when a person is asked to approve them, then
    nothing of them is cut."""
    sql = "\n".join([*["SELECT 1;"] * 40, "DROP TABLE users;", *["SELECT 2;"] * 40])
    rest = {f"argument_{number}": f"value {number}" for number in range(60)}
    review = permitted_desk.submit(call("ask", "c1", sql=sql, long="x" * 900 + "!", **rest))
    terminal = permitted_desk.terminal(
        "reviews", "decide", review.id, "1", "approve", columns=2000, NO_COLOR="1"
    )
    terminal.until("[y/N]")
    assert "DROP TABLE users;" in terminal.out
    assert "x" * 900 + "!" in terminal.out
    assert all(f'"{value}"' in terminal.out for value in rest.values())
    assert "Not everything is shown" not in terminal.out
    terminal.types("n\n")
    terminal.wait_end()


def test_ctrl_c_decides_nothing(permitted_desk: Desk) -> None:
    review = permitted_desk.submit()
    terminal = permitted_desk.terminal("reviews", "decide", review.id, "1", "approve")
    terminal.until("[y/N]")
    terminal.interrupt()
    ran = terminal.wait_end()
    assert ran.code == 130
    assert "Traceback" not in ran.out
    assert decisions(permitted_desk, review.id) == [None]


def test_somebody_was_faster(permitted_desk: Desk) -> None:
    """Given a person who is asked; when somebody else rejects it meanwhile; then y changes nothing."""
    review = permitted_desk.submit()
    terminal = permitted_desk.terminal("reviews", "decide", review.id, "1", "approve", NO_COLOR="1")
    terminal.until("[y/N]")
    permitted_desk.do(
        lambda r: r.apply(Decide(review.id, "1", proposal("reject"), person("Ada"), "op"))
    )

    terminal.types("y\n")

    ran = terminal.wait_end()
    assert ran.code == 1
    assert ran.out.endswith("hitl: “Ada” (U_ADA) already rejected ask.\n")


def test_redis_goes_away_at_the_question(
    permitted_desk: Desk, own_redis: Callable[[], EmbeddedRedis], capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, and the exit code for it."""
    server = own_redis()
    desk = Desk(server.url, capsys)
    review = desk.submit()
    terminal = desk.terminal(
        "reviews", "decide", review.id, "1", "approve", NO_COLOR="1", HITL_REDIS_URL=server.url
    )
    terminal.until("[y/N]")
    server.kill()
    terminal.types("y\n")
    ran = terminal.wait_end()
    assert ran.code == 3
    assert "Traceback" not in ran.out
    assert "can't be reached" in ran.out


def test_scripts_must_say_yes_and_the_whole_id(permitted_desk: Desk) -> None:
    review = permitted_desk.submit()
    for argv, text in (
        ([review.id, "1", "approve"], "add --yes"),
        ([review.id[:10], "1", "approve", "--yes"], "whole id"),
    ):
        ran = permitted_desk.run_piped("reviews", "decide", *argv, stdin="y\n")
        assert (ran.code, ran.out) == (2, "")
        assert text in ran.err
    assert decisions(permitted_desk, review.id) == [None]


@pytest.mark.parametrize(
    ("argv", "type", "message"),
    [
        (["reject", "--reason", "Not on a Friday"], "reject", "Not on a Friday"),
        (["respond", "--answer", "The second one"], "respond", "The second one"),
        (["ignore"], "ignore", None),
        (["approve", "--reason", "Fine"], "approve", "Fine"),
    ],
)
def test_each_answer(permitted_desk: Desk, argv: list[str], type: str, message: str | None) -> None:
    review = permitted_desk.submit(call("ask", "call_7"))
    assert permitted_desk.hitl("reviews", "decide", review.id, "call_7", *argv, "--yes").code == 0
    [decision] = decisions(permitted_desk, review.id)
    assert decision is not None
    assert (decision.type, decision.message) == (type, message)


REFUSED = [
    (["ask", "edit", "--args", '{"n": 1}'], 1, "The arguments are unchanged."),
    (["strict", "edit", "--args", '{"n": 11}'], 1, "/n: "),
    (["strict", "edit", "--args", "{n}"], 2, "The arguments are not JSON"),
    (["strict", "edit", "--args", "[1]"], 2, "must be a JSON object"),
    (["strict", "edit", "--args-file", "/none"], 2, "/none: No such file"),
    (["strict", "edit"], 2, "--args or --args-file"),
    (["strict", "approve", "--args", "{}"], 2, "--args or --args-file"),
    (
        ["strict", "respond", "--answer", "x"],
        1,
        "The policy only allows for strict: approve, edit, rej",
    ),
    (["strict", "reject"], 1, "the policy requires a reason. Use --reason"),
    (["ask", "respond"], 1, "Use --reason or --answer"),
    (["9", "approve"], 1, "no action '9'"),
    (["look_up", "approve"], 1, "no action 'look_up'"),
    (["all", "respond", "--answer", "x"], 2, "name it"),
    (["all", "ignore"], 1, "The policy only allows for strict"),
]


@pytest.mark.parametrize(("argv", "code", "message"), REFUSED)
def test_a_refusal_is_one_sentence_and_changes_nothing(
    permitted_desk: Desk, argv: list[str], code: int, message: str
) -> None:
    review = permitted_desk.submit(
        call("look_up", "c0"), call("ask", "c1", n=1), call("strict", "c2", n=1)
    )
    ran = permitted_desk.hitl("reviews", "decide", review.id, *argv, "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert message in ran.err
    assert permitted_desk.review(review.id).version == review.version


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["aprove"],
        ["approve", "--reason", "a", "--answer", "b"],
        ["reject", "--reason", "\udcff"],
    ],
)
def test_a_wrong_command_exits_with_2(permitted_desk: Desk, argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        permitted_desk.hitl("reviews", "decide", "0-" + "0" * 32, "1", *argv, "--yes")
    assert caught.value.code == 2


def test_after_the_deadline_it_is_too_late(permitted_desk: Desk) -> None:
    review = permitted_desk.submit(call("hurried", "c1"), ago=5)
    ran = permitted_desk.hitl("reviews", "decide", review.id, "1", "approve", "--yes")
    assert (ran.code, ran.err) == (1, "hitl: The time to decide on hurried is over.\n")


def test_numbers_are_those_of_the_card(permitted_desk: Desk) -> None:
    """Calls that nobody is asked about have none."""
    review = permitted_desk.submit(
        call("look_up", "c1"), call("strict", "c2", n=1), call("ask", "c3")
    )
    permitted_desk.hitl("reviews", "decide", review.id, "2", "approve", "--yes")
    assert [(a.request.name, a.is_pending) for a in permitted_desk.review(review.id).actions] == [
        ("strict", True),
        ("ask", False),
    ]


def test_what_may_mean_two_actions_decides_none(permitted_desk: Desk) -> None:
    """A tool that was called twice, and an id that is another's number or says `all`."""
    review = permitted_desk.submit(call("ask", "2"), call("ask", "b"), call("strict", "all", n=1))
    for named in ("ask", "2", "all"):
        ran = permitted_desk.hitl("reviews", "decide", review.id, named, "approve", "--yes")
        assert (ran.code, ran.out) == (1, "")
        assert f"{named!r} can mean " in ran.err
    assert decisions(permitted_desk, review.id) == [None, None, None]
    assert permitted_desk.hitl("reviews", "decide", review.id, "b", "approve", "--yes").code == 0


def test_a_number_with_its_sign_is_no_id(permitted_desk: Desk) -> None:
    """Given calls whose ids are each other's numbers; then the number with its sign means one, and the
    refusal of a bare number says so. An id that has a sign itself still decides nothing."""
    desk, yes = permitted_desk, ("approve", "--yes")
    review = desk.submit(call("ask", "2"), call("ask", "1"))
    ran = desk.hitl("reviews", "decide", review.id, "2", *yes)
    assert "'2' can mean #1 (ask 2), #2 (ask 1): use the number with its #" in ran.err
    assert desk.hitl("reviews", "decide", review.id, "#2", *yes).out == "approved ask (1)\n"
    odd = desk.submit(call("ask", "#2"), call("ask", "b"), thread_id="t-2")
    assert desk.hitl("reviews", "decide", odd.id, "#2", *yes).code == 1
    assert decisions(desk, odd.id) == [None, None]


def test_all_that_still_wait(permitted_desk: Desk) -> None:
    review = permitted_desk.submit(call("ask", "c1"), call("ask", "c2"), call("strict", "c3", n=1))
    ran = permitted_desk.hitl("reviews", "decide", review.id, "c2", "approve", "--yes")
    assert ran.err == "2 more actions wait.\n"

    ran = permitted_desk.hitl(
        "reviews", "decide", review.id, "all", "reject", "--reason", "no", "--yes"
    )

    assert (ran.code, ran.out) == (0, "rejected ask (c1)\nrejected strict (c3)\n")
    types = [decision.type for decision in decisions(permitted_desk, review.id) if decision]
    assert types == ["reject", "approve", "reject"]
    again = permitted_desk.hitl("reviews", "decide", review.id, "all", "approve", "--yes")
    assert (again.code, again.err) == (1, "hitl: All actions of this review are already decided.\n")


@pytest.mark.parametrize(
    ("schema", "given", "answer"),
    [
        ({"type": "array", "items": {"enum": ["x", "y", "z"]}}, ["z", "x"], ["z", "x"]),
        ({"type": "array", "items": {"type": "integer"}}, ["5"], [5]),
        ({"anyOf": [{"const": 1, "title": "One"}, {"const": 2}]}, ["One"], 1),
        ({"type": "boolean"}, ["false"], False),
        ({"type": "integer"}, ["7"], 7),
        ({"type": "string"}, ["7"], None),
    ],
)
def test_an_answer_may_be_a_list_or_any_value(
    permitted_desk: Desk, schema: Any, given: list[str], answer: Any
) -> None:
    review = with_tools(permitted_desk, allowed_decisions=["respond"], answer_schema=schema)
    answers = [part for each in given for part in ("--answer", each)]

    ran = permitted_desk.hitl("reviews", "decide", review.id, "1", "respond", *answers, "--yes")

    assert ran.code == 0, ran.err
    [decision] = decisions(permitted_desk, review.id)
    assert decision is not None
    assert decision.answer == ("7" if answer is None else answer)


def test_a_list_where_one_answer_is_asked_for_is_refused(permitted_desk: Desk) -> None:
    review = permitted_desk.submit()
    two = ["--answer", "a", "--answer", "b"]
    ran = permitted_desk.hitl("reviews", "decide", review.id, "1", "respond", *two, "--yes")
    assert (ran.code, ran.err) == (1, "hitl: Only one --answer is allowed here.\n")


@pytest.mark.parametrize("tool", ["charge2", "charge3"])
def test_what_would_run_is_listed_without_what_is_hidden(permitted_desk: Desk, tool: str) -> None:
    """Given a call of which a number is hidden, when it is made another tool's, whose rule hides
    more or says nothing, then neither value is on the terminal, asked or answered."""
    rules: dict[str, Any] = {
        "charge": {"redact": ["/card/number"]},
        "charge2": {"redact": ["/pin"]},
    }
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
    args = {"card": {"number": "4111SECRET"}, "pin": "9-SECRET" if tool == "charge2" else "1"}
    asked = judge_turn(
        policy, [ToolCall("c1", "charge", args)], charge=None, charge2=None, charge3=None
    )
    made = build_review(ReviewKey("a", "t", "x", None), asked, 1, 0.0)

    async def submit(reviews: Reviews) -> Review:
        return await reviews.submit(*made)

    review = permitted_desk.do(submit)
    terminal = permitted_desk.terminal("reviews", "decide", review.id, "1", "edit", "--tool", tool)
    terminal.until("[y/N]")
    terminal.types("n\n")
    out = terminal.wait_end().out
    assert f"{tool} would run with" in out
    would_run = out.partition("would run with")[2]
    assert "SECRET" not in would_run
    assert "4111SECRET" not in out
