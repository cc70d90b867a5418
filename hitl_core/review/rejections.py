"""Finds the calls that are another attempt at a rejected call. Pure.

It uses only our own records. Only a person's rejection counts, and nothing that an agent sends changes which
calls are another attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hitl_core.model import (
    POLICY,
    Action,
    Arguments,
    Call,
    EarlierRejection,
    JsonObject,
    Review,
    Reviewer,
)
from hitl_core.review.visibility import redaction_pointers
from hitl_core.store import RejectedCall

#: How many rejected calls of the same tools are compared, and of how many reviews.
MAX_CALLS = 20
MAX_REVIEWS = 3


class Rejected(NamedTuple):
    """A rejected call, and its newest arguments. `review` may be an outline (`ReviewStore.load_outline`)."""

    review: Review
    action: Action
    args: Arguments


def index_changes(
    before: Review | None, review: Review
) -> tuple[list[RejectedCall], list[RejectedCall]]:
    """The rejected calls that a change of a review adds to its thread, and those that it removes. A call that
    people decided replaces the rejected call that it follows.
    """
    added: list[RejectedCall] = []
    removed: list[RejectedCall] = []
    for action in review.actions:
        if _decider(action) is None:
            continue
        was = before.action(action.key) if before else None
        if was is not None and was.decision is not None:
            continue
        if (earlier := action.rejected_before) is not None:
            removed.append(RejectedCall(earlier.review_id, earlier.key, action.request.name))
        if is_rejected(action):
            added.append(RejectedCall(review.id, action.key, action.request.name))
    return added, removed


def is_rejected(action: Action) -> bool:
    """Whether people rejected it; not the deadline, and not the policy."""
    decision = action.decision
    return decision is not None and decision.type == "reject" and _decider(action) is not None


def add_rejections(review: Review, rejected: Sequence[Rejected]) -> Review:
    """The new review, in which each action that is another attempt has the rejected call that it follows."""
    args, actions, calls = dict(review.args), list(review.actions), list(review.calls)
    for at, one in _match_attempts(review, rejected):
        action = actions[at]
        args[f"{action.key}:0"] = one.args
        earlier = _make_earlier(one, review.arguments(action.key).parse())
        actions[at] = action.model_copy(update={"rejected_before": earlier})
        hid = one.review.call(one.action.key)
        calls = [
            _with_hidden_texts(call, hid) if call.key == action.key else call for call in calls
        ]
    update = {"args": args, "actions": tuple(actions), "calls": tuple(calls)}
    return review.model_copy(update=update)


def _make_earlier(one: Rejected, new_args: JsonObject) -> EarlierRejection:
    decision, before = one.action.decision, one.action.rejected_before
    assert decision is not None  # `is_rejected`
    hidden = (
        *redaction_pointers(one.action, one.args.parse()),
        *redaction_pointers(one.action, new_args),
    )
    return EarlierRejection(
        review_id=one.review.id,
        key=one.action.key,
        times=1 + (before.times if before else 0),
        by=one.action.deciders,
        at=decision.at,
        message=decision.message,
        redact=tuple(dict.fromkeys(hidden)),
    )


def _with_hidden_texts(call: Call, rejected: Call | None) -> Call:
    """The call with the agent's texts hidden if the rejected call hid values: the texts may quote them."""
    hides = call.hides_values or (rejected is not None and rejected.hides_values)
    return call.model_copy(update={"hides_values": hides})


def _match_attempts(review: Review, rejected: Sequence[Rejected]) -> Iterator[tuple[int, Rejected]]:
    """The position of each new action, and the rejected call of its tool that is most like it. A rejected
    call belongs to one action at most. Among equally similar calls the latest comes first.
    """
    parsed = [one.args.parse() for one in rejected]
    alike = [
        (-_count_equal(parsed[number], new), at, number)
        for at, action in enumerate(review.actions)
        if any(one.action.request.name == action.request.name for one in rejected)
        for new in [review.arguments(action.key).parse()]
        for number, one in enumerate(rejected)
        if one.action.request.name == action.request.name
    ]
    actions, used = set[int](), set[int]()
    for _, at, number in sorted(alike):
        if at not in actions and number not in used:
            actions.add(at)
            used.add(number)
            yield at, rejected[number]


def _count_equal(old: JsonObject, new: JsonObject) -> int:
    return sum(1 for key in old if key in new and old[key] == new[key])


def _decider(action: Action) -> Reviewer | None:
    """The person who decided last."""
    by = action.decision.by if action.decision else None
    return None if by is None or by.channel == POLICY else by
