"""`hitl reviews resolve ID …`: what became of a call in doubt, said by whoever sits at this machine."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.call_details import find_calls, only_call
from hitl_core.cli.reviews.change_review import confirm_change, show_calls, store_change
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.cli.session import (
    add_id,
    add_redis,
    add_yes,
    check_deciding_enabled,
    confirmation_problem,
    find_review,
    operator,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say, say_json
from hitl_core.errors import Refused
from hitl_core.model import Call, DoubtAnswer, Review, Run, Snapshot
from hitl_core.review import claims
from hitl_core.review.transition import Transition

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review.service import Reviews

_MORE = """\
A call is in doubt where its process died after the call was started: it may
have run, or not. Look where its effect would be seen, then say so here; it
counts like the buttons on the card, as one person's word. Nobody is asked
whether you may, so it is off unless HITL_CLI_DECIDE=1 is set. The record names
your login and this host."""
_EPILOG = """\
examples:
  $ export HITL_CLI_DECIDE=1
  $ hitl reviews list
  ID          AGE  AGENT    THREAD  STATUS   WAITS
  0-6be0a9f1  2h   billing  t-42    settled  in doubt: charge_card
  $ hitl reviews resolve 0-6be0a9f1 charge_card ran

What it is about is shown, and nothing is stored before you say y. Scripts say
--yes, and then the whole id. With --json: the review afterwards, as
`hitl reviews show --json` has it.

Exits with 0; 1 where it was refused, was not found, or you said no, 2 where
the command or a setting is wrong, 3 where Redis can't be reached.
"""
_QUESTIONS: dict[DoubtAnswer, str] = {
    "ran": "Say that {} ran?",
    "rerun": "Let {} run again?",
    "skip": "Skip {}, whether it ran or not?",
}
_UNKNOWN_MESSAGE = "Whether it was stored is not known. Look: hitl reviews show {}"


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "resolve",
        run,
        help="say what became of a call in doubt (needs HITL_CLI_DECIDE=1)",
        details=_MORE,
        epilog=_EPILOG,
    )
    add_id(parser)
    parser.add_argument(
        "action",
        metavar="ACTION",
        help="which call: its number on the card, its tool's name, or its tool call's id",
    )
    parser.add_argument(
        "answer",
        metavar="ANSWER",
        choices=get_args(DoubtAnswer),
        help="ran (it did run), rerun (run it again) or skip (go on without knowing)",
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
        note("That is one vote: it takes more people who say the same.")
    left = phrases.tool_names(after.review, after.review.calls_in_doubt)
    note(f"Still in doubt: {left}." if left else "That was the last doubt: its agent can go on.")
    return 0


async def _find_review(reviews: Reviews, given: str) -> Snapshot:
    """Where a lease has ended and no bot runs that would see it, the doubt begins now."""
    snapshot = await find_review(reviews, given)
    lease = snapshot.review.lease
    if lease is None or lease.until > snapshot.now:
        return snapshot
    await reviews.apply_due(snapshot.review.id)
    return await reviews.load(snapshot.review.id)


def _choose_call(review: Review, named: str) -> Call:
    """Any call may be in doubt, also one that nobody was asked about."""
    if matches := find_calls(review, named, review.calls):
        return only_call(review, named, matches)
    tools_text = phrases.tool_names(review, review.calls)
    raise Refused("unknown_action", f"This review has {tools_text}, and no call {named!r}.")


def _find_doubt(snapshot: Snapshot, call: Call) -> Run:
    """Raises Refused where there is none."""
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
    raise Refused("already_decided", f"There is no doubt about {phrases.tool_name(review, call)}.")


async def _resolve(
    reviews: Reviews, review: Review, call: Call, answer: DoubtAnswer, attempt: int
) -> Snapshot:
    """The answer is to this attempt: if the call was run again meanwhile, it settles nothing."""
    by, seal = operator(), review.seal(call.key)

    def resolve_doubt(review: Review, now: float) -> Transition:
        return claims.resolve(review, call.key, answer, by, now, attempt=attempt, seal=seal)

    await store_change(
        lambda op: reviews.change(review.id, op, resolve_doubt), _UNKNOWN_MESSAGE.format(review.id)
    )
    return await reviews.load(review.id)
