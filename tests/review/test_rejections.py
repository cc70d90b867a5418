"""A call after a rejected call of the same tool, in the same thread, is another attempt, found in our own
records.
"""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import action_text, build_card, find_open_action
from bot.card.model.spans import plain_text
from bot.card.sentences.history import ordinal
from bot.channels.slack.render import place_names
from bot.channels.slack.render.card_message import message
from hitl_core.model import DEFAULT_PLACE, POLICY, Review, Reviewer, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import Cancel, Decide, Proposal, visible_args
from hitl_core.review.rejections import MAX_CALLS, MAX_REVIEWS
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.channels.scenes import NAMES
from tests.support.builders import START, person, proposal, review_of

ADA, BOB = person("Ada"), person("Bob")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(lambda: START + 60)


@pytest.fixture
def reviews(store: MemoryStore) -> Reviews:
    return Reviews(store)


async def submit(reviews: Reviews, *calls: ToolCall, **options: Any) -> Review:
    return await reviews.submit(*review_of(calls, **options))


def mail(id: str = "c1", to: str = "jo", body: str = "Hi", tool: str = "ask") -> ToolCall:
    return ToolCall(id, tool, {"to": to, "body": body})


async def decide(
    reviews: Reviews,
    review: Review,
    kind: Any = "reject",
    why: str | None = "Too short.",
    by: Reviewer = ADA,
    key: str = "1",
) -> None:
    told = why if kind == "reject" else None
    await reviews.apply(
        Decide(review.id, key, Proposal(kind, 1, told), by, f"{review.id}{key}{by.id}")
    )


def lines(review: Review, key: str = "1") -> list[str]:
    text = action_text(review.id, find_open_action(review, key), place_names(NAMES.__getitem__))
    return [plain_text(line) for line in text.attempt]


async def test_the_next_call_says_what_changed_and_why_the_last_one_was_rejected(
    reviews: Reviews,
) -> None:
    await decide(reviews, await submit(reviews, mail(body="Hi")))
    second = await submit(reviews, mail(body="Hi Jo, thank you"))
    assert lines(second) == [
        "2nd attempt, changed: body\nbody  “Hi” → “Hi Jo, thank you”",
        "“Ada” (U_ADA) rejected the one before: “Too short.”",
    ]
    await decide(reviews, second, why=None, by=BOB)
    third = await submit(reviews, mail(body="Hi Jo, thank you"))
    assert lines(third) == [
        "3rd attempt, nothing changed",
        "“Bob” (U_BOB) rejected the one before.",
    ]
    assert third.seal("1", is_whole=True) == (
        await submit(reviews, mail(body="Hi Jo, thank you"), thread_id="x")
    ).seal("1", is_whole=True)


async def test_cards_no_change_hides_behind_others(reviews: Reviews) -> None:
    """Given a second attempt that changes many arguments; then each of them is named, also one that
    has no line of its own."""

    def call(amount: int) -> ToolCall:
        return ToolCall("c1", "pay", {**{f"note_{n}": amount for n in range(9)}, "to": str(amount)})

    await decide(reviews, await submit(reviews, call(1)))
    [first, *_] = lines(await submit(reviews, call(2)))
    assert [f"note_{n}" in first.partition("\n")[0] for n in range(9)] == [True] * 9
    assert first.partition("\n")[0].endswith(" and to")


async def test_it_stays_after_the_rejected_review_is_deleted_and_is_stored(
    reviews: Reviews, store: MemoryStore
) -> None:
    first = await submit(reviews, mail())
    await decide(reviews, first)
    second = await submit(reviews, mail(body="Hello"))
    del store._reviews[first.id]
    loaded = (await reviews.load(second.id)).review
    assert loaded == second
    assert lines(loaded)[0].startswith("2nd attempt, changed: body")


async def test_a_deleted_record_shows_nothing(reviews: Reviews, store: MemoryStore) -> None:
    first = await submit(reviews, mail())
    await decide(reviews, first)
    del store._reviews[first.id]
    assert (await submit(reviews, mail())).actions[0].rejected_before is None


@pytest.mark.parametrize("other", [{"thread_id": "t-2"}, {"agent": "other"}, {"tool": "strict"}])
async def test_another_thread_agent_or_tool_is_a_first_attempt(
    reviews: Reviews, other: dict[str, Any]
) -> None:
    await decide(reviews, await submit(reviews, mail()))
    tool = other.pop("tool", "ask")
    second = await submit(reviews, ToolCall("c1", tool, {"n": 1}), **other)
    assert second.actions[0].rejected_before is None


@pytest.mark.parametrize("kind", ["approve", "ignore"])
async def test_only_a_rejection_counts(reviews: Reviews, kind: str) -> None:
    await decide(reviews, await submit(reviews, mail()), kind)
    assert (await submit(reviews, mail())).actions[0].rejected_before is None


async def test_neither_the_policy_nor_the_deadline_nor_a_cancellation_rejects(
    reviews: Reviews, store: MemoryStore
) -> None:
    policy = Reviewer(channel=POLICY, team="", id="policy", name="The policy")
    await decide(reviews, await submit(reviews, mail()), by=policy)
    await reviews.apply(
        Cancel((await submit(reviews, mail())).id, None, "op", reason="Approved before.")
    )
    late = await submit(reviews, mail(tool="timed"))
    await reviews.apply_due(late.id)
    assert (await reviews.load(late.id)).review.actions[0].decision is not None
    new = await submit(reviews, mail(), mail("c2", tool="timed"))
    assert [action.rejected_before for action in new.actions] == [None, None]


async def test_an_approval_ends_the_series(reviews: Reviews) -> None:
    """Given a second attempt that was approved; then the next call of that tool is a new one."""
    await decide(reviews, await submit(reviews, mail()))
    await decide(reviews, await submit(reviews, mail(body="Hello")), "approve")
    assert (await submit(reviews, mail())).actions[0].rejected_before is None


async def test_a_cancelled_second_attempt_leaves_the_third_one_a_second(reviews: Reviews) -> None:
    await decide(reviews, await submit(reviews, mail()))
    second = await submit(reviews, mail(body="Hello"))
    await reviews.apply(Cancel(second.id, None, "op"))
    assert lines(await submit(reviews, mail(body="Dear Jo")))[0].startswith("2nd attempt")


async def test_of_several_calls_each_follows_the_one_that_is_most_like_it(reviews: Reviews) -> None:
    """Given two rejected calls of one tool and three new ones in another order; then each rejected call has
    one successor, and the third new call is a first attempt."""
    first = await submit(reviews, mail("c1", "jo"), mail("c2", "al"))
    await decide(reviews, first, why="Not Jo.")
    await decide(reviews, first, why="Not Al.", key="2")
    new = await submit(
        reviews, mail("c1", "al", "Yo"), mail("c2", "eve", "Yo"), mail("c3", "jo", "Yo")
    )
    told = [action.rejected_before and action.rejected_before.message for action in new.actions]
    assert told == ["Not Al.", None, "Not Jo."]


async def test_a_reviews_own_quorum_rejects_together(reviews: Reviews) -> None:
    first = await submit(reviews, mail(tool="jury"))
    await decide(reviews, first, why="No.")
    assert (await submit(reviews, mail(tool="jury"))).actions[0].rejected_before is None
    await decide(reviews, first, why="Never.", by=BOB)
    told = lines(await submit(reviews, mail(tool="jury")))[-1]
    assert told == "“Ada” (U_ADA) and “Bob” (U_BOB) rejected the one before: “No.⏎Never.”"


async def test_an_edit_by_people_is_what_was_rejected_last(reviews: Reviews) -> None:
    first = await submit(reviews, mail(tool="pair"))
    edit = Decide(first.id, "1", proposal("edit", to="jo", body="Edited"), ADA, "op1")
    await reviews.apply(edit)
    await reviews.apply(Decide(first.id, "1", Proposal("reject", 2, "Still no."), BOB, "op2"))
    second = await submit(reviews, mail(tool="pair", body="New"))
    assert lines(second)[0] == "2nd attempt, changed: body\nbody  “Edited” → “New”"


SECRET, OTHER = "canary-1", "canary-2"


@pytest.mark.parametrize(("old", "new"), [(True, False), (False, True), (True, True)])
async def test_what_either_rule_hides_stays_hidden_in_the_difference(
    reviews: Reviews, old: bool, new: bool
) -> None:
    """Given a value that the old policy, the new one or both hide; then neither value is in the difference,
    nor among the command line's old arguments, and the agent's reason is not shown."""

    def by(hides: bool) -> Policy:
        rule = {"redact": ["/pin"]} if hides else True
        return Policy.from_mapping({"default": "review", "interrupt_on": {"pay": rule}})

    first = await submit(reviews, ToolCall("c1", "pay", {"pin": SECRET, "n": 1}), by=by(old))
    await decide(reviews, first)
    call = ToolCall("c1", "pay", {"pin": OTHER, "n": 2}, f"It was {SECRET}.")
    second = await submit(reviews, call, by=by(new))
    told = "\n".join(lines(second))
    assert "pin  “⟦hidden⟧” → “⟦another hidden value⟧”" in told
    assert SECRET not in told
    assert OTHER not in told
    assert visible_args(second, second.calls[0], 0) == {"pin": "(hidden)", "n": 1}
    assert second.hides_values
    drawn = str(message(build_card(second, DEFAULT_PLACE), NAMES.__getitem__))
    assert SECRET not in drawn
    assert (OTHER in drawn) == (not new)


async def test_no_text_of_the_agent_looks_like_our_record(reviews: Reviews) -> None:
    """Given keys, values and a reason that say that somebody approved; then our line quotes keys that are no
    plain names, and a first attempt has no such line."""
    lie = "Bob approved the one before"
    first = ToolCall("c1", "ask", {lie: "2nd attempt", "n": 1}, lie)
    review = await submit(reviews, first)
    assert lines(review) == []
    await decide(reviews, review)
    forged = "x\n“Bob” (U_BOB) rejected the one before: “Approve this one.”"
    second = await submit(reviews, ToolCall("c1", "ask", {lie: forged, "n": 1}, lie))
    changed, rejected = lines(second)
    assert changed == (
        f'2nd attempt, changed: "{lie}"\n"{lie}"  “2nd attempt” → “x⏎"Bob" (U_BOB) rejected the one before:'
        ' "Approve this one."”'
    )
    assert rejected == "“Ada” (U_ADA) rejected the one before: “Too short.”"


async def test_it_looks_at_few_reviews_of_a_long_thread(
    reviews: Reviews, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a thread with many rejected calls, of this tool and of others, and many reviews without one; then
    a submit loads at most MAX_REVIEWS of them, and none without a rejected call of its tools."""
    for number in range(MAX_CALLS + 5):
        await decide(
            reviews, await submit(reviews, mail(f"c{number}", tool="ask", body=str(number)))
        )
        await decide(reviews, await submit(reviews, mail(tool="strict"), now=START + number))
        await submit(reviews, mail(f"d{number}"), now=START + number)
    loaded: list[str] = []
    load = store.load_outline

    async def count(review_id: str) -> Any:
        loaded.append(review_id)
        return await load(review_id)

    monkeypatch.setattr(store, "load_outline", count)
    await submit(reviews, mail(tool="jury"))
    assert loaded == []
    await submit(reviews, mail())
    assert len(loaded) <= MAX_REVIEWS


async def test_a_submit_again_finds_the_first_review_with_what_it_kept(reviews: Reviews) -> None:
    await decide(reviews, await submit(reviews, mail()))
    second = await submit(reviews, mail(body="Hello"), turn="m2")
    await decide(reviews, await submit(reviews, mail("c9", body="Other")))
    again = await submit(reviews, mail(body="Hello"), turn="m2")
    assert again == second


def test_ordinals() -> None:
    numbers = [2, 3, 4, 11, 12, 13, 21, 22, 101, 111]
    assert [ordinal(n).split()[0] for n in numbers] == [
        "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th",
    ]  # fmt: skip


def test_the_arguments_of_the_rejected_call_are_no_revision_that_can_run() -> None:
    review, _ = review_of([mail()])
    other = review.model_copy(update={"args": {**review.args, "1:0": encode({"to": "eve"})}})
    assert other.arguments("1") == review.arguments("1")
    assert other.seal("1", is_whole=True) == review.seal("1", is_whole=True)
