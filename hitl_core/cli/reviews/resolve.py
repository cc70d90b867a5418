"""`hitl reviews resolve ID …`: the operator of this machine says whether a call in doubt ran."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.call_details import find_calls, only_call
from hitl_core.cli.reviews.change_review import new_op, show_calls, store_change
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.cli.session import (
    add_id,
    add_redis,
    add_yes,
    check_deciding_enabled,
    confirm_change,
    confirmation_problem,
    find_review,
    operator,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say, say_json
from hitl_core.errors import Refused
from hitl_core.model import Call, DoubtAnswer, Review, Run, Snapshot
from hitl_core.review import AnswerDoubt

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_MORE = """\
A call is in doubt if its process died after the call was started: it is not
known whether it ran. Check whether its effect happened, then give the answer
here; it counts as one person's answer, like the buttons on the card. The
command doesn't check whether you are a reviewer, so it is off unless
HITL_CLI_DECIDE=1 is set. The audit names your login and this host."""
_EPILOG = """\
examples:
  $ export HITL_CLI_DECIDE=1
  $ hitl reviews list
  ID          AGE  AGENT    THREAD  STATUS   WAITS
  0-6be0a9f1  2h   billing  t-42    settled  in doubt: charge_card
  $ hitl reviews resolve 0-6be0a9f1 charge_card ran

The command shows the call and asks you to confirm. Scripts use --yes with the
whole id. With --json: the changed review, as in `hitl reviews show --json`.

Exits with 0; 1 if it was refused or not found, or if you answered no, 2 if the
command or a setting is wrong, 3 if Redis can't be reached.
"""
_QUESTIONS: dict[DoubtAnswer, str] = {
    "ran": "Confirm that {} ran?",
    "rerun": "Let {} run again?",
    "skip": "Skip {}, without knowing whether it ran?",
}
_UNKNOWN_MESSAGE = "It is not known whether this was stored. Check with: hitl reviews show {}"


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "resolve",
        run,
        help="say whether a call in doubt ran (needs HITL_CLI_DECIDE=1)",
        details=_MORE,
        epilog=_EPILOG,
    )
    add_id(parser)
    parser.add_argument(
        "action",
        metavar="ACTION",
        help="the call's number on the card (2 or '#2'), its tool's name or its tool call id",
    )
    parser.add_argument(
        "answer",
        metavar="ANSWER",
        choices=get_args(DoubtAnswer),
        help="ran (it did run), rerun (run it again) or skip (continue without knowing)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    add_yes(parser)
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    check_deciding_enabled()
    if problem := confirmation_problem(args):
        return complain(problem)
    snapshot = with_reviews(args, lambda reviews: _find_review(reviews, args.id))
    review, answer = snapshot.review, args.answer
    call = _choose_call(review, args.action)
    attempt = _find_doubt(snapshot, call).attempt
    question = _QUESTIONS[answer].format(phrases.tool_name(review, call))
    if not confirm_change(
        args, lambda: show_calls(snapshot, [call]), question, "Nothing was resolved."
    ):
        return 1
    after = with_reviews(args, lambda reviews: _resolve(reviews, review, call, answer, attempt))
    if args.json:
        say_json(review_to_json(after, with_args=True))
    else:
        say(f"{answer}: {phrases.tool_name(after.review, call)} ({call.tool_call_id})")
    if after.review.runs[call.key].state == "in_doubt":
        note("That is one vote: more people must give the same answer.")
    left = phrases.tool_names(after.review, after.review.calls_in_doubt)
    note(f"Still in doubt: {left}." if left else "No call is in doubt now: the agent can continue.")
    return 0


async def _find_review(reviews: Reviews, given: str) -> Snapshot:
    """The review. If its lease has ended and no bot has noticed that yet, its calls become in doubt now."""
    snapshot = await find_review(reviews, given)
    lease = snapshot.review.lease
    if lease is None or lease.until > snapshot.now:
        return snapshot
    await reviews.apply_due(snapshot.review.id)
    return await reviews.load(snapshot.review.id)


def _choose_call(review: Review, named: str) -> Call:
    """The call that was typed. Any call can be in doubt, also one that needed no review."""
    if matches := find_calls(review, named, review.calls):
        return only_call(review, named, matches)
    tools_text = phrases.tool_names(review, review.calls)
    raise Refused("unknown_action", f"This review has {tools_text}, and no call {named!r}.")


def _find_doubt(snapshot: Snapshot, call: Call) -> Run:
    """The run of a call in doubt. Raises Refused if the call is not in doubt."""
    review = snapshot.review
    run = review.runs.get(call.key)
    if run is not None and run.state == "in_doubt":
        return run
    if run is not None and run.state == "started" and review.lease is not None:
        end = phrases.time_text(review.lease.until, snapshot.now)
        raise Refused(
            "not_due",
            f"{review.lease.holder} may still be running {phrases.tool_name(review, call)}: it is"
            f" in doubt only if its lease ends before it reports, {end}.",
        )
    if run is not None and run.by is not None:
        raise Refused("already_decided", f"{run.by.label} already answered this.")
    raise Refused("already_decided", f"{phrases.tool_name(review, call)} is not in doubt.")


async def _resolve(
    reviews: Reviews, review: Review, call: Call, answer: DoubtAnswer, attempt: int
) -> Snapshot:
    """Store the answer. It is about this attempt, so it doesn't count if the call was run again meanwhile."""
    command = AnswerDoubt(
        review.id,
        call.key,
        answer,
        operator(),
        new_op(),
        attempt,
        review.seal(call.key, is_whole=True),
    )
    await store_change(reviews, command, _UNKNOWN_MESSAGE.format(review.id))
    return await reviews.load(review.id)
