"""Does every review have one card at each place, and does the card show how its review ended? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product

from benchmarks.chaos.chats import digest_count
from benchmarks.chaos.verdict.decisions import describe
from benchmarks.chaos.verdict.evidence import Evidence, Shown
from hitl_core.model import Action, Review, is_digest_id

#: Buttons that a decided action must not have.
DECIDING = frozenset({"approve", "edit", "reject"})


def messages_missing(seen: Evidence) -> Iterator[str]:
    digests = list(all_digests(seen))
    for id, review in seen.reviews.items():
        shown = {card.channel for card in seen.cards.get(id, ())}
        shown |= {digest.channel for digest in digests if is_in_digest(seen, id, digest)}
        decisions = [action.decision for action in review.actions]
        if any(each is not None and each.by is not None for each in decisions) and not shown:
            yield f"{id} has no card"
        for place in review.places:
            # A place gets its first card only while something waits there.
            if any(action.is_pending for action in review.actions) and place.target not in shown:
                yield f"{id} has no card in {place}"


def messages_double(seen: Evidence) -> Iterator[str]:
    for id, cards in seen.cards.items():
        for channel, count in Counter(card.channel for card in cards).items():
            if count > 1:
                yield f"{id} has {count} cards in {channel}"
        if id not in seen.reviews and any(entry["review"] == id for entry in seen.submits):
            yield f"{id} has a card and is not stored"


def all_digests(seen: Evidence) -> Iterator[Shown]:
    return (card for id, cards in seen.cards.items() if is_digest_id(id) for card in cards)


def is_in_digest(seen: Evidence, review_id: str, digest: Shown) -> bool:
    return seen.posts.get((review_id, digest.channel)) == digest.id


def wrong_digests(seen: Evidence) -> Iterator[str]:
    """A digest must say how many of its reviews wait, and must open exactly while some do."""
    for digest in all_digests(seen):
        waiting = [
            id
            for id, review in seen.reviews.items()
            if is_in_digest(seen, id, digest) and any(each.is_pending for each in review.actions)
        ]
        opens = any(verb == "review" for verb, _ in digest.revisions)
        if digest_count(digest.text) != len(waiting) or opens is not bool(waiting):
            yield f"{len(waiting)} wait in a digest in {digest.channel}: {digest.text[:200]}"


def wrong_cards(seen: Evidence) -> Iterator[str]:
    for id, review in seen.reviews.items():
        for card, action in product(seen.cards.get(id, ()), review.actions):
            problem = _card_problem(review, action, card.text, card.revisions)
            if problem:
                yield f"{id} in {card.channel}: {problem} ({describe(action)}): {card.text[:200]}"


def _card_problem(
    review: Review, action: Action, text: str, revisions: Mapping[tuple[str, str], int | None]
) -> str | None:
    deciding = DECIDING & {verb for verb, key in revisions if key == action.key}
    if action.decision is None:
        if not deciding:
            return "no buttons"
        old = [verb for verb in deciding if revisions[verb, action.key] != action.revision]
        return f"buttons of another revision: {old}" if old else None
    if deciding:
        return f"still has {sorted(deciding)}"
    missing = [who.id for who in action.deciders if who.id not in text]
    if missing:
        return f"does not name {missing}"
    run = review.runs.get(action.key)
    if run is not None and run.state == "done" and run.line and run.line not in text:
        return f"does not show the result {run.line!r}"
    return None
