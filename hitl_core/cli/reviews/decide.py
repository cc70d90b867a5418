"""`hitl reviews decide ID …`: a decision by the operator of this machine."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.call_details import ambiguous_error, find_calls, only_call
from hitl_core.cli.reviews.change_review import new_op, store_change
from hitl_core.cli.reviews.proposal import (
    confirmation_question,
    make_proposal,
    read_edit,
    show_proposals,
)
from hitl_core.cli.session import (
    add_id,
    add_redis,
    add_yes,
    check_deciding_enabled,
    confirm_change,
    confirmation_problem,
    find_review,
    operator,
    text_argument,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say
from hitl_core.errors import Refused
from hitl_core.model import Action, DecisionType, Review, Verdict
from hitl_core.review import PAST_VERBS, Decide, apply_command
from hitl_core.sentences import join_names

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

#: In place of an action: all open actions.
_ALL = "all"
_MORE = """\
The decision counts like one in the chat and follows the same rules: allowed
decisions, required reasons, schemas, deadlines. But the command doesn't check
whether you are a reviewer, so it is off unless HITL_CLI_DECIDE=1 is set. The
audit names your login and this host; cards show "ada (command line)"."""
_EPILOG = """\
examples:
  $ export HITL_CLI_DECIDE=1
  $ hitl reviews decide 0-93b4c7d2 send_email approve
  $ hitl reviews decide 0-93b4c7d2 2 reject --reason "Not on a Friday"
  $ hitl reviews decide 0-93b4c7d2 c1 edit --args '{"to": "jo@example.com"}'
  $ hitl reviews decide 0-93b4c7d2 c1 edit --tool send_sms
  $ hitl reviews decide 0-93b4c7d2 ask respond --answer "Use the second one"
  $ hitl reviews decide 0-93b4c7d2 pick respond --answer roads --answer rivers
  $ hitl reviews decide 0-93b4c7d2 all reject --reason "The wrong customer"

The command shows the call and asks you to confirm. Scripts use --yes with the
whole id.

Exits with 0 if everything was decided; 1 if something was refused or not found,
or if you answered no, 2 if the command or a setting is wrong, 3 if Redis can't
be reached.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "decide",
        run,
        help="decide an action of a review (needs HITL_CLI_DECIDE=1)",
        details=_MORE,
        epilog=_EPILOG,
    )
    add_id(parser)
    parser.add_argument(
        "action",
        metavar="ACTION",
        help="the action's number on the card (2 or '#2'), its tool's name or its tool call id; or `all` open"
        " actions",
    )
    parser.add_argument(
        "decision",
        metavar="DECISION",
        choices=get_args(DecisionType),
        help="approve, edit, reject, respond (answer in place of the tool) or ignore (skip)",
    )
    reply_group = parser.add_mutually_exclusive_group()
    reply_group.add_argument(
        "--reason", metavar="TEXT", type=text_argument, dest="message", help="your reason"
    )
    reply_group.add_argument(
        "--answer",
        metavar="TEXT",
        type=text_argument,
        action="append",
        dest="answers",
        help="with respond: what the agent gets in place of the tool's result; with approve: what the tool"
        " runs with; the value or name of an option; repeat it for a list",
    )
    args_group = parser.add_mutually_exclusive_group()
    args_group.add_argument(
        "--args",
        metavar="JSON",
        help="with edit: all new arguments; without this, --tool keeps the arguments",
    )
    args_group.add_argument(
        "--args-file", metavar="FILE", help="the same from a file; - reads standard input"
    )
    parser.add_argument(
        "--tool", metavar="NAME", help="with edit: the tool to run in place of the requested one"
    )
    add_yes(parser)
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    check_deciding_enabled()
    if problem := _usage_problem(args) or confirmation_problem(args):
        return complain(problem)
    try:
        edited = read_edit(args)
    except OSError as error:
        return complain(f"{args.args_file}: {error.strerror or error}.")
    snapshot = with_reviews(args, lambda reviews: find_review(reviews, args.id))
    review = snapshot.review
    if review.calls_in_doubt and review.status != "pending":  # pending: a release put it in doubt
        raise Refused(
            "already_decided", f"This review is already decided; {phrases.doubt_text(review)}"
        )
    actions = _choose_actions(review, args)
    by, commands = operator(), list[tuple[Action, Decide]]()
    for action in actions:
        proposal = make_proposal(review, action, args, edited)
        proposal = proposal._replace(seal=review.seal(action.key, is_whole=True))
        commands.append((action, Decide(review.id, action.key, proposal, by, new_op())))
    for action, command in commands:  # refuse before asking for the confirmation
        try:
            apply_command(snapshot, command)
        except Refused as refused:
            raise _cli_refusal(refused, review, action) from refused
    proposals = [(action, command.proposal) for action, command in commands]
    question = confirmation_question(review, proposals)
    if not confirm_change(
        args, lambda: show_proposals(snapshot, proposals), question, "Nothing was decided."
    ):
        return 1
    return with_reviews(args, lambda reviews: _decide(reviews, review, commands))


def _usage_problem(args: argparse.Namespace) -> str | None:
    """What is wrong with the command line itself, or None."""
    given = args.args is not None or args.args_file is not None
    if (args.decision == "edit") != (given or args.tool is not None):
        return "edit needs --args or --args-file, or --tool; other decisions don't take these."
    if args.answers and args.decision not in ("approve", "respond"):
        return f"--answer is for respond and approve: use --reason with {args.decision}."
    if args.action == _ALL and (args.decision in ("edit", "respond") or args.answers):
        return f"{args.decision} is for one action: name it in place of {_ALL}."
    if args.args_file == "-" and not args.yes:
        return "With --args-file - you can't answer the confirmation: add --yes."
    return None


def _choose_actions(review: Review, args: argparse.Namespace) -> list[Action]:
    """Raises Refused if no action, or more than one, matches what was typed."""
    named = args.action
    calls = [call for call in review.calls if review.action(call.key)]
    matches = find_calls(review, named, calls)
    if named == _ALL and matches:
        raise ambiguous_error(review, named, matches)
    if named == _ALL:
        if not (open_actions := phrases.open_actions(review)):
            raise Refused("already_decided", "All actions of this review are already decided.")
        return list(open_actions)
    if not matches:
        tools_text = phrases.tool_names(review, calls) or "no action"
        raise Refused("unknown_action", f"This review has {tools_text}, and no action {named!r}.")
    key = only_call(review, named, matches).key
    return [action for action in review.actions if action.key == key]


async def _decide(reviews: Reviews, review: Review, commands: list[tuple[Action, Decide]]) -> int:
    code = 0
    for action, command in commands:
        try:
            applied = await store_change(reviews, command)
        except Refused as refused:
            complain(str(_cli_refusal(refused, review, action)))
            code = 1
            continue
        review = applied.review
        now = next(each for each in review.actions if each.key == action.key)
        kind = command.proposal.type
        verb = "edited" if kind == "edit" and now.is_pending else PAST_VERBS[kind]
        say(f"{verb} {_tool_name(review, action)} ({action.request.tool_call_id})")
        if now.newest_rule is not None and now.newest_rule != action.newest_rule:
            note(_new_rule_note(now, now.newest_rule))
    if code == 0:
        left = len(phrases.open_actions(review))
        more = "1 more action waits" if left == 1 else f"{left} more actions wait"
        note(f"{more}." if left else "That was the last action: the agent continues.")
    return code


def _tool_name(review: Review, action: Action) -> str:
    return next(phrases.tool_name(review, call) for call in review.calls if call.key == action.key)


def _new_rule_note(action: Action, verdict: Verdict) -> str:
    """The note after an edit, if another rule matches it. The editor's approval never counts then, because
    the command line can't check whether that rule names the editor.
    """
    where = join_names(map(phrases.place_text, action.places))
    people = phrases.describe_reviewers(action.route.reviewers)
    return f"After the edit, {verdict.rule_label} applies, so it waits in {where}: {people}."


def _cli_refusal(refused: Refused, review: Review, action: Action) -> Refused:
    """The refusal with a text for the command line: the original text names buttons."""
    match refused.code:
        case "unchanged":
            words = "The arguments are unchanged. To run the call as it is, use approve."
        case "not_allowed":
            allowed = ", ".join(action.config.allowed_decisions)
            words = f"The policy only allows for {_tool_name(review, action)}: {allowed}."
        case "message_required":
            words = f"{refused} Use --reason or --answer."
        case _:
            return refused
    return Refused(refused.code, words)
