"""An interrupt about a call that the policy denies: the policy decides at once, and hides what it hides."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from typing import Any

import pytest

from bot.api.submissions import judge_turn
from bot.api.wire.requests import SubmitInterrupt
from bot.card import build_card, find_open_action, name_and_arguments
from bot.channels.slack.render.card_message import message
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.gate import ReviewKey
from hitl_core.model import Review, Snapshot
from hitl_core.policy import Policy
from tests.support.builders import START

SECRET = "hunter2secret"
LOGIN = ("login", {"s": SECRET, "u": "x"})
OTHER = ("other", {"n": 1})
WRITE_ONLY = {"type": "object", "properties": {"s": {"type": "string", "writeOnly": True}}}
HIDES: dict[str, Any] = {"redact": ["/s"]}


def submit(
    policy: dict[str, Any],
    *calls: tuple[str, dict[str, Any]],
    requester: str | None = None,
    **more: Any,
) -> Review:
    """The review of LangChain's interrupt about these calls. Its texts quote the hidden value."""
    requests = [
        {"name": name, "args": args, "description": f"uses {SECRET}"} for name, args in calls
    ]
    configs = [
        {"action_name": name, "allowed_decisions": ["approve", "reject"]} for name, _ in calls
    ]
    interrupt = {"action_requests": requests, "review_configs": configs}
    body = SubmitInterrupt.model_validate(
        {"turn": "x", "thread_id": "t", "dialect": "langchain", "interrupt": interrupt, **more}
    )
    [turn] = asyncio.run(judge_turn(Policy.from_mapping(policy), body))
    return turn.build(ReviewKey("a", "t", "x", requester), 1, START)[0]


def everything_shown(review: Review) -> str:
    """On the cards, in "See all", on the command line and in its JSON."""
    snapshot, printed = Snapshot(review=review, posts={}, shown={}, now=START), io.StringIO()
    for call in review.calls:
        say_call(snapshot, call, rest=None, to=printed)
    with contextlib.suppress(KeyError):
        printed.write(repr([find_open_action(review, a.key) for a in review.actions]))
    printed.write(repr([name_and_arguments(review, a.key) for a in review.actions]))
    printed.write(json.dumps(review_to_json(snapshot, with_args=True)))
    cards = [message(build_card(review, place), str) for place in review.places]
    return printed.getvalue() + json.dumps(cards)


@pytest.mark.parametrize(
    ("policy", "more"),
    [
        (
            {"default": "review", "interrupt_on": {"login": HIDES}},
            {"context": {"interrupt_on": {"login": "deny"}}},
        ),
        (
            {"default": "review", "trust_tool_schemas": True, "interrupt_on": {"login": "deny"}},
            {"tools": {"login": WRITE_ONLY}},
        ),
        ({"default": "review", "interrupt_on": {"login": HIDES}}, {}),
    ],
    ids=["the run's context denies", "trusted tools, and a rule denies", "nobody denies"],
)
@pytest.mark.parametrize("calls", [(LOGIN,), (LOGIN, OTHER), (LOGIN, LOGIN, OTHER)])
def test_a_denied_interrupt_hides_what_the_policy_hides(
    policy: dict[str, Any], more: dict[str, Any], calls: Any
) -> None:
    """The ruling of a denied call was made from the interrupt's, which hides nothing."""
    review = submit(policy, *calls, **more)
    assert review.hides_values
    assert SECRET not in everything_shown(review)


def test_a_denied_interrupt_without_hidden_values_shows_the_agents_words_as_its_own() -> None:
    review = submit({"default": "review", "interrupt_on": {"login": "deny"}}, LOGIN)
    request = review.actions[0].request
    assert (request.description, request.by_agent) == (f"uses {SECRET}", True)
    assert review.status == "settled"


QUORUM = {
    "users": ["U0ALICE", "U0BOB", "U0CARL"],
    "quorum": 2,
    "reject_quorum": 2,
}


@pytest.mark.parametrize(
    ("policy", "context"),
    [
        ({"default": "deny", "reviewers": QUORUM}, None),
        ({"default": "review", "reviewers": QUORUM, "interrupt_on": {"login": "deny"}}, None),
        (
            {"default": "review", "interrupt_on": {"login": {"reviewers": QUORUM}}},
            {"interrupt_on": {"login": "deny"}},
        ),
        (
            {"default": "review", "interrupt_on": {"login": {"reject_reason": "required"}}},
            {"interrupt_on": {"login": "deny"}},
        ),
    ],
)
def test_a_call_that_the_policy_denies_waits_for_nobody(
    policy: dict[str, Any], context: Any
) -> None:
    """Given a rule for which several people must reject, when the policy itself denies a call, then its
    answer is final at once."""
    review = submit(policy, LOGIN, context=context)
    [action] = review.actions
    assert review.status == "settled"
    assert action.decision is not None
    assert action.decision.type == "reject"
    assert action.decision.by is not None
    assert action.decision.by.name == "The policy"
    assert action.votes == ()


def test_a_denied_call_needs_no_requester() -> None:
    """Nobody is asked, so nobody has to be excluded."""
    people = {"channel_members": True, "exclude_requester": True}
    review = submit(
        {"default": "review", "reviewers": people, "interrupt_on": {"login": "deny"}}, LOGIN
    )
    assert review.status == "settled"


def test_an_overridden_description_stays_the_agents_in_an_interrupt() -> None:
    """Given a policy that lets the run's context override it, then the context's description is the
    agent's on a card, and is not shown beside hidden values."""
    context = {"interrupt_on": {"login": {"description": f"Security says ok {SECRET}"}}}
    policy: dict[str, Any] = {"default": "review", "allow_override": True}
    review = submit(policy, LOGIN, context=context)
    assert review.actions[0].request.by_agent
    assert f"the agent says “Security says ok {SECRET}”" in everything_shown(review)
    hiding = submit({**policy, "interrupt_on": {"login": HIDES}}, LOGIN, context=context)
    assert SECRET not in everything_shown(hiding)


def test_denied_calls_cost_no_more_than_their_number() -> None:
    """Given interrupts of more and more calls that the policy denies; the work grows with their number, not
    with its square."""

    def work(count: int) -> int:
        calls = 0

        def count_call(_frame: object, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        many = [("drop_table", {"name": f"t{n}"}) for n in range(count)]
        sys.setprofile(count_call)
        try:
            submit({"default": "allow", "interrupt_on": {"drop_*": "deny"}}, *many)
        finally:
            sys.setprofile(None)
        return calls

    work(5)
    assert work(80) < 2.5 * work(40)
