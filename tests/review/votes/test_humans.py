"""One human with identities in two channels has one vote, and never approves their own request."""

from __future__ import annotations

import pytest

from hitl_core.model import Action, EditRecord, Review, Reviewer, Reviewers, Vote
from hitl_core.review import vote_count
from tests.review.refusals import raises_refused
from tests.support.builders import START, review_of

MARIA = Reviewer(channel="slack", team="T1", id="U0MARIA", name="Maria")
MARIA_IN_TEAMS = Reviewer(
    channel="teams", team="tenant", id="8f3c", name="Maria", aliases=("slack:U0MARIA",)
)
BOB_IN_TEAMS = Reviewer(channel="teams", team="tenant", id="77aa", name="Bob")


def vote(by: Reviewer) -> Vote:
    return Vote(type="approve", by=by, at=START, revision=1)


def make_action(requester: str | None = None, **reviewers: object) -> tuple[Review, Action]:
    review, _ = review_of(requester=requester)
    action = review.actions[0]
    route = action.route.model_copy(update={"reviewers": Reviewers.model_validate(reviewers)})
    return review, action.model_copy(update={"route": route})


@pytest.mark.parametrize(("first", "second"), [(MARIA, MARIA_IN_TEAMS), (MARIA_IN_TEAMS, MARIA)])
def test_one_human_has_one_vote_in_both_channels(first: Reviewer, second: Reviewer) -> None:
    """Given a quorum of two; when the same human approves in both channels, then it is one approval. It is
    enough that one of the two votes was recorded when the settings already named both identities."""
    rule = Reviewers(quorum=2)
    with raises_refused("already_voted"):
        vote_count.count_vote([vote(first)], vote(second), rule)
    rejected = vote(first).model_copy(update={"type": "reject"})
    assert vote_count.count_vote([rejected], vote(second), rule).votes == (vote(second),)
    assert vote_count.count_vote([vote(first)], vote(BOB_IN_TEAMS), rule).is_enough


@pytest.mark.parametrize("requester", ["U0MARIA", "slack:U0MARIA", "teams:8f3c"])
@pytest.mark.parametrize("by", [MARIA_IN_TEAMS, MARIA_IN_TEAMS.model_copy(update={"name": "x"})])
def test_nobody_approves_their_own_request_from_the_other_side(
    requester: str, by: Reviewer
) -> None:
    review, action = make_action(requester, exclude_requester=True)
    with raises_refused("requester"):
        vote_count.check_not_excluded(review, action, "approve", by)
    vote_count.check_not_excluded(review, action, "reject", by)
    vote_count.check_not_excluded(review, action, "approve", BOB_IN_TEAMS)


def test_nobody_approves_their_own_edit_from_the_other_side() -> None:
    review, action = make_action(editor_approves=False)
    edit = EditRecord(by=MARIA, at=START, revision=2, args_hash="d")
    action = action.model_copy(update={"edits": (edit,)})
    with raises_refused("own_edit"):
        vote_count.check_not_excluded(review, action, "approve", MARIA_IN_TEAMS)
    assert vote_count.excluded_keys(review, action) == {"slack:U0MARIA"}


def test_the_same_id_in_two_channels_is_two_people() -> None:
    """Given ids that are equal by chance; then only the settings make them one human."""
    twin = MARIA.model_copy(update={"channel": "teams"})
    assert not MARIA.is_same_human(twin)
    assert vote_count.count_vote([vote(MARIA)], vote(twin), Reviewers(quorum=2)).is_enough


def test_a_stored_vote_has_other_identities_only_if_there_are_some() -> None:
    assert "aliases" not in MARIA.model_dump(mode="json")
    assert Reviewer.model_validate_json(MARIA_IN_TEAMS.model_dump_json()) == MARIA_IN_TEAMS
