"""`hitl reviews show`: all facts about one review. No text of an agent can look like one of them."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from hitl_core import dialects
from hitl_core.cli.terminal import display_width
from hitl_core.gate import JudgedCalls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import MessageRef, Place, Review, ToolCall, short_id
from hitl_core.review import Cancel, Decide, delivery_problems
from hitl_core.review.service import Reviews
from hitl_core.store import lane_of, note_lane_failure
from hitl_core.store.redis import keys
from tests.cli.desk import Desk
from tests.support.builders import call, person, proposal


@pytest.mark.parametrize(
    "note", [b"x", b"null", b'{"why": 1}', b'["why", "at"]', b'["why", 1, "new"]']
)
def test_a_note_that_this_version_cannot_read_hides_no_review(desk: Desk, note: bytes) -> None:
    """Given a note of a newer version, or a damaged one, about why its cards wait; then the review is shown:
    there was a traceback."""
    review = desk.submit()
    [place] = review.places
    key = f"failure:{lane_of(place)}"
    desk.do(lambda reviews: reviews.store.save_temporary_value(key, note, 60))
    shown = desk.hitl("reviews", "show", review.id)
    assert shown.code == 0
    assert "not posted yet" in shown.out


def test_why_a_card_is_not_posted_yet(desk: Desk) -> None:
    """Given cards of a conversation that a bot can't post, and one of which no bot says anything; then the
    first ones say why."""
    review = desk.submit(call("ask"), call("timed"))
    first = Place("slack:#first")
    why = "Slack answered internal_error to chat.postMessage"
    desk.do(lambda reviews: note_lane_failure(reviews.store, lane_of(first), why))

    lines = desk.hitl("reviews", "show", review.id).out.splitlines()

    [told] = [line for line in lines if line.startswith(f"  card       {first}: not posted yet")]
    assert f"not posted yet: {why}, at 2" in told
    assert told.endswith(" ago)")
    assert "  card       the bot's own channel (HITL_CHANNEL): not posted yet" in lines
    [delay] = json.loads(desk.hitl("reviews", "show", review.id, "--json").out)["delays"]
    assert (delay["place"], delay["why"]) == (first, why)


def test_a_card_that_is_posted_is_not_delayed(desk: Desk) -> None:
    """Given a card that is there, and a failure of its conversation after that; then it is not delayed."""
    review = desk.submit(thread_id="t-1")
    [place] = review.places
    ref = MessageRef(channel="slack", conversation="C1", ts="1.1")
    desk.do(lambda reviews: reviews.store.record_post(review.id, place, ref))
    desk.do(lambda reviews: note_lane_failure(reviews.store, lane_of(place), "Slack is away"))
    assert "slack C1 1.1" in desk.hitl("reviews", "show", review.id).out
    assert json.loads(desk.hitl("reviews", "show", review.id, "--json").out)["delays"] == []


def test_everything_about_a_review(desk: Desk) -> None:
    """Given a turn of an allowed, a denied, an edited and two waiting calls, shown in one of two places; then
    each is listed with what was decided, by whom, and where it is shown."""
    review = desk.submit(
        call("ask", "c1", to="jo@example.com", copies=2, body="Hi Jo,\nC:\\x"),
        call("look_up", "c2"),
        call("drop_table", "c3", table="users"),
        call("strict", "c4", n=3),
        call("timed", "c5"),
        thread_id="t-57",
    )

    async def happen(reviews: Reviews) -> None:
        await reviews.apply(Decide(review.id, "4", proposal("edit", n=5), person("Ada"), "op"))
        ref = MessageRef(channel="slack", conversation="C0FIRST", ts="17.5")
        await reviews.store.record_post(review.id, Place("slack:#first"), ref)
        await reviews.store.record_shown_version(review.id, Place("slack:#first"), 2)

    desk.do(happen)

    ran = desk.hitl("reviews", "show", review.id)

    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"{review.id}  pending: ask, timed"
    assert "  thread     t-57" in lines
    assert "  card       slack:#first: slack C0FIRST 17.5, version 2 of 2" in lines
    assert "  card       the bot's own channel (HITL_CHANNEL): not posted yet" in lines
    calls = ["\n".join(part.splitlines()) for part in ran.out.split("\n\n")[1:]]
    ask, allowed, denied, edited, timed = calls
    assert ask.startswith("1  ask  c1  waits for a person\n")
    assert ask.endswith(
        "    arguments\n"
        "      body       │ Hi Jo,\n"
        "                 │ C:\\\\x\n"
        "      copies     2\n"
        '      to         "jo@example.com"'
    )
    assert allowed.startswith("-  look_up  c2  allowed\n")
    assert denied.startswith("-  drop_table  c3  denied\n")
    assert edited.startswith("2  strict  c4  edited and approved\n")
    assert "    decided    edited and approved by “Ada” (slack T1/U_ADA)\n" in edited
    assert "    arguments\n      n          5\n    before the edit\n      n          3" in edited
    assert "    escalates  to slack:#second, " in timed
    assert "    expires    " in timed
    assert timed.startswith("3  timed  c5")


def test_values_of_arguments_are_in_one_column(desk: Desk) -> None:
    """Given names of different lengths, also longer than the labels of other fields."""
    review = desk.submit(call("ask", "c1", to="jo", confirmation_number=7))

    shown = desk.hitl("reviews", "show", review.id).out

    assert '      confirmation_number  7\n      to                   "jo"\n' in shown


def test_what_came_of_a_review(desk: Desk) -> None:
    """A result, a doubt and a cancellation are told."""
    done, doubt = desk.done(thread_id="t-1"), desk.doubtful(thread_id="t-2")
    gone = desk.submit(thread_id="t-3")
    desk.do(
        lambda reviews: reviews.apply(Cancel(gone.id, person("Bo"), "op", reason="the wrong one"))
    )

    assert "    result     mail m-1 sent\n" in desk.hitl("reviews", "show", done.id).out
    assert "in doubt: started" in desk.hitl("reviews", "show", doubt.id).out
    text = desk.hitl("reviews", "show", gone.id).out
    assert "  cancelled  by “Bo” (slack T1/U_BO), " in text
    assert "the wrong one" in text
    assert "1  ask  c1  cancelled\n" in text


def test_a_group_has_a_card_for_each_member(desk: Desk) -> None:
    """Given a place of which each member has a copy, as of a group; then `show` says where it is."""
    review = desk.submit(call("ask"), call("timed"))
    group = Place("slack:#first")
    ref = MessageRef(channel="slack", conversation="D0CARL", ts="1.1")
    desk.do(lambda reviews: reviews.store.record_post(review.id, group.for_member("U0CARL"), ref))
    text = desk.hitl("reviews", "show", review.id).out
    assert f"  card       {group}>U0CARL: slack D0CARL 1.1" in text
    assert f"{group}: not posted yet" not in text


def test_why_a_card_is_not_shown(desk: Desk) -> None:
    """Given a place that can't be reached; then `show` says why and since when, for
    people and programs."""
    review = desk.submit(thread_id="t-1")
    [place] = review.places
    why = "there is no channel #suport that the bot can see"
    desk.do(
        lambda reviews: reviews.change(
            review.id,
            "op",
            lambda seen, now: delivery_problems.record_delivery_problem(seen, place, why, now),
        )
    )
    shown = desk.hitl("reviews", "show", review.id).out
    assert f"can't be shown: {why}, since 20" in shown
    [trouble] = json.loads(desk.hitl("reviews", "show", review.id, "--json").out)[
        "delivery_problems"
    ]
    assert (trouble["place"], trouble["why"]) == (place, why)


def test_json_has_the_arguments(desk: Desk) -> None:
    args = {"body": "x" * 5000, "n": {"a": [1, None]}}
    review = desk.submit(call("ask", "c1", **args))
    found = json.loads(desk.hitl("reviews", "show", review.id, "--json").out)
    assert found["calls"][0]["args"] == args
    assert found["cards"] == []


def test_a_terminal_cuts_long_values_and_says_so(desk: Desk) -> None:
    """Both ends of each value are shown, and every value; --args and a pipe have all of it."""
    mail = "\n".join(f"line {n}" for n in range(200)) + "\nrm -rf /"
    review = desk.submit(call("ask", "c1", mail=mail, flat="a" * 900 + "END", last="seen"))

    cut = desk.on_terminal("reviews", "show", review.id).out

    assert "│ line 0\n" in cut
    assert "│ rm -rf /\n" in cut
    assert "line 100" not in cut
    assert "187 more lines" in cut
    assert 'END"' in cut.replace("\n" + " " * 17, "")
    assert '"seen"' in cut
    assert "Not everything is shown. To see all: --args" in cut
    whole = desk.on_terminal("reviews", "show", review.id, "--args").out
    for out in (whole, desk.run_piped("reviews", "show", review.id).out):
        assert "line 100" in out
        assert "Not all" not in out


def test_a_long_text_can_not_draw_a_line_of_ours(desk: Desk) -> None:
    """T13: given a value that continues at the terminal's edge as our own words would; then it stays in its
    column. A space where the line breaks is not lost."""
    edge, spaced = "x" * 60, "x" * 40 + " tmp "
    review = desk.submit(call("ask", "c1", a=f"{edge}2  strict  c4  approved", b=spaced + "y" * 90))
    lines = desk.on_terminal("reviews", "show", review.id).out.splitlines()
    assert all(display_width(line) <= 80 for line in lines)
    assert not [line for line in lines if line.startswith("2  strict")]
    text = "".join(line[17:].ljust(63) for line in lines if line[17:])
    assert f'"{edge}2  strict  c4  approved"' in text
    assert f'"{spaced}yyyy' in text


def test_arguments_can_not_steer_the_terminal(desk: Desk) -> None:
    """T13: escapes, line moves and invisible letters in names and values are seen as what they are."""
    evil = "\x1b[2K\x1b[1A approve\u202e\u3164\u2028\x85"
    review = desk.submit(call("ask", "c1", **{evil: evil, "text": f"a\n{evil}"}))
    out = desk.on_terminal("reviews", "show", review.id, columns=120).out
    assert out.isascii() or set(out) - set(map(chr, range(128))) == {"│"}
    assert "\x1b" not in out
    assert out.count(r"approve\u202e\u3164\u2028\x85") == 3


def test_the_beginning_of_an_id_is_enough(desk: Desk) -> None:
    review = desk.submit()
    assert desk.hitl("reviews", "show", review.id[:6]).out.startswith(review.id)
    assert desk.hitl("reviews", "show", review.id[:12].upper()).out.startswith(review.id)


def test_the_id_that_a_card_shows_names_a_review_that_is_done(desk: Desk) -> None:
    """Change 10: cards show eight characters; given a review that is done; then these
    still show it, and an operator learns the whole id."""
    done = desk.done()
    for given in (done.id, short_id(done.id), done.id[:6].upper()):
        assert desk.hitl("reviews", "show", given).out.startswith(done.id), given
        assert desk.hitl("audit", "show", given).code == 0


def test_a_live_review_comes_before_one_that_is_done(desk: Desk) -> None:
    turns: dict[str, list[str]] = defaultdict(list)
    for turn in map(str, range(2000)):
        turns[keys.make_review_id(0, "billing", "t-1", turn, ["c1"])[:6]].append(turn)
    start, (one, two, *_) = next(pair for pair in turns.items() if len(pair[1]) > 1)
    desk.done(turn=one)
    live = desk.submit(turn=two)

    assert desk.hitl("reviews", "show", start).out.startswith(live.id)


def test_a_beginning_that_two_share_names_none(desk: Desk) -> None:
    """Given two reviews whose ids begin alike; then neither is shown, and a digit more is asked for."""
    turns: dict[str, list[str]] = defaultdict(list)
    for turn in map(str, range(2000)):
        turns[keys.make_review_id(0, "billing", "t-1", turn, ["c1"])[:6]].append(turn)
    start, (one, two, *_) = next(pair for pair in turns.items() if len(pair[1]) > 1)
    desk.submit(turn=one)
    desk.submit(turn=two)

    ran = desk.hitl("reviews", "show", start)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"hitl: 2 live reviews begin with {start}: type more of the id.\n"


def test_a_review_that_is_not_there(desk: Desk) -> None:
    done = desk.done()
    other = "0-0000" if not done.id.startswith("0-0000") else "0-1111"
    for given in (
        other,
        "0-*",
        "0-????",
        "0-" + "0" * 32,
        "0-123",
        "refund",
        "../0-12345",
        "\x1b[2K",
    ):
        ran = desk.hitl("reviews", "show", given)
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1), given
        assert "\x1b" not in ran.err


def test_path_title_fallback_and_the_tool_that_runs(desk: Desk) -> None:
    """Given a sub-agent's interrupt with a sentence for a title, an edit that names
    another tool, and a place that could not be reached; then each is told as it is."""
    wire = {
        "action_request": {"action": "Really send?", "args": {}},
        "config": {"allow_accept": True},
    }
    asked = dialects.get("agent_inbox").load_request([wire], "t")._replace(path=("main", "mailer"))
    turn = ReviewKey("billing", "t-1", "m1", None)
    titled = desk.do(lambda reviews: _submit(reviews, turn, asked))

    shown = desk.hitl("reviews", "show", titled.id).out
    assert "  path       main > mailer\n" in shown
    assert "\n1  “Really send?”  " in shown
    assert json.loads(desk.hitl("reviews", "show", titled.id, "--json").out)["path"] == [
        "main",
        "mailer",
    ]
    assert "Really send?" in desk.hitl("reviews", "list").out

    lost = desk.submit(call("jury", "c1"))
    desk.do(
        lambda reviews: reviews.change(
            lost.id,
            "lost",
            lambda review, now: delivery_problems.use_fallback(
                review, Place("slack:#first"), "is archived", now
            ),
        )
    )
    shown = desk.hitl("reviews", "show", lost.id).out
    assert "    fallback   to slack:#it, as it can't be decided in slack:#first" in shown
    assert "not decided in time" not in shown


def test_a_title_of_an_agent_is_quoted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """attack 7, L1: given a title, a thread and a reason of a cancellation that imitate our words, then they
    are in quotation marks in each sentence of ours, and the title still names the action."""
    lie = "Refund”, approved by “Ada” (slack T1/U_ADA)"
    wire = {"action_request": {"action": lie, "args": {}}, "config": {"allow_accept": True}}
    asked = dialects.get("agent_inbox").load_request([wire], "t")
    turn = ReviewKey("billing", "t-1, for Ada", "m1", None)
    titled = desk.do(lambda reviews: _submit(reviews, turn, asked))
    quoted = '“Refund", approved by "Ada" (slack T1/U_ADA)”'
    monkeypatch.setenv("HITL_CLI_DECIDE", "1")

    assert f"pending: {quoted}\n" in desk.hitl("reviews", "show", titled.id).out
    assert quoted in desk.hitl("reviews", "list").out
    terminal = desk.terminal(
        "reviews", "decide", titled.id, lie, "approve", columns=200, NO_COLOR="1"
    )
    terminal.until(f"Approve {quoted}? [y/N]")
    assert "billing, thread “t-1, for Ada”\n" in terminal.out
    terminal.types("n\n")
    terminal.wait_end()
    desk.do(lambda reviews: reviews.apply(Cancel(titled.id, None, "op", "ok, approved by Ada")))
    assert ": “ok, approved by Ada”\n" in desk.hitl("reviews", "show", titled.id).out


async def _submit(reviews: Reviews, turn: ReviewKey, asked: JudgedCalls) -> Review:
    made = build_review(turn, asked, reviews.store.partitions, await reviews.store.now())
    return await reviews.submit(*made)


def test_the_agents_reason_is_quoted_on_one_line(desk: Desk) -> None:
    """Given a reason that imitates a line of ours; then it is quoted, as the agent's words, after the
    arguments; and JSON has it as it is."""
    lie = "Fine.”\n    decided    approved by “Ada”"
    review = desk.submit(ToolCall("c1", "ask", {"n": 1}, lie))
    lines = desk.hitl("reviews", "show", review.id).out.splitlines()
    (line,) = [line for line in lines if line.startswith("    agent says")]
    assert line == '    agent says  “Fine."\\n    decided    approved by "Ada"”'
    assert lines.index(line) > lines.index("      n          1")
    shown = json.loads(desk.hitl("reviews", "show", review.id, "--json").out)
    assert shown["calls"][0]["reason"] == lie
