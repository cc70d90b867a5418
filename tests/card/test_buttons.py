"""Which buttons a card has in each state, and which action each is about."""

from __future__ import annotations

import pytest

from bot.card import (
    Button,
    Card,
    Layout,
    PlaceNames,
    action_text,
    build_card,
    card_buttons,
    doubt_text,
)
from bot.card.buttons import page_buttons
from hitl_core.model import Place, Review
from tests.channels.scenes import (
    DEFAULT,
    THREE,
    asking,
    decide,
    done,
    expire_lease,
    name_of,
    review_of,
    start_calls,
)
from tests.channels.test_golden_cards import SCENES

LONG = {"script": "echo step\n" * 400}
ALL: dict[str, object] = {"allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"]}


def card_of(review: Review) -> Card:
    return build_card(review, DEFAULT)


def on_actions(card: Card) -> list[Button]:
    names = PlaceNames(name_of)
    texts = [action_text(card.review_id, action, names) for action in card.open_actions]
    texts += [doubt_text(card.review_id, doubt) for doubt in card.doubts]
    return [button for text in texts for button in text.buttons]


def labels(buttons: list[Button] | tuple[Button, ...]) -> list[str]:
    return [f"({one.label})" if one.is_rare else one.label for one in buttons]


def of_rule(**rule: object) -> Review:
    return review_of(("deploy", LONG), policy={"interrupt_on": {"*": rule}})


@pytest.mark.parametrize(
    ("review", "expected"),
    [
        (review_of(THREE[0]), ["Approve", "Edit", "Reject"]),
        (review_of(THREE[1]), ["Approve", "Reject"]),
        (
            of_rule(**ALL),
            ["Read all, then approve", "Edit", "Reject", "(Answer instead of running it)", "(Skip it)"],
        ),
        (of_rule(allowed_decisions=["edit"]), ["Edit", "See all of it"]),
        (asking({"type": "string"}), ["Answer"]),
        (asking({"type": "boolean"}), ["Yes", "No"]),
        (asking({"enum": ["EUR", "Approve", None]}), ["“EUR”", "“Approve”", "“null”"]),
        (asking({"enum": ["DHL", "UPS"]}, "approve", "reject"), ["“DHL”", "“UPS”", "Reject"]),
        (asking({"enum": [*"abcdefgh"]}), ["Answer"]),
        (
            expire_lease(start_calls(decide(review_of(THREE[0]), "1", "approve"), "1")),
            ["It ran", "Run again", "Go on without it"],
        ),
        (decide(review_of(THREE[0]), "1", "reject"), []),
    ],
)  # fmt: skip
def test_an_action_has_the_buttons_of_its_state(review: Review, expected: list[str]) -> None:
    """Given an action or a doubt; then it has these buttons, in this order, the rare ones in brackets."""
    assert labels(on_actions(card_of(review))) == expected


@pytest.mark.parametrize(
    ("review", "layout", "expected"),
    [
        (review_of(THREE[0], policy={"escalate": []}), "full", []),
        (review_of(THREE[0]), "full", ["(Escalate to #team-ops)"]),
        (review_of(*THREE), "full", ["Approve all 3", "(Escalate to #team-ops)"]),
        (review_of(*THREE), "table", ["Review one by one", "(Escalate to #team-ops)"]),
        (decide(review_of(THREE[0]), "1", "reject"), "full", ["See all arguments"]),
        (
            decide(review_of(*THREE[:2]), "1", "reject"),
            "full",
            ["(Escalate to #team-ops)", "(See what was decided)"],
        ),
        (
            done(start_calls(decide(review_of(THREE[0]), "1", "approve"), "1"), {"1": "sent"}),
            "full",
            ["See all arguments"],
        ),
    ],
)
def test_a_card_has_the_buttons_of_its_state(
    review: Review, layout: Layout, expected: list[str]
) -> None:
    card = card_of(review)
    place = name_of(card.next_step.to) if card.next_step else ""

    assert labels(card_buttons(card, layout=layout, next_place=place)) == expected


def test_a_button_that_decides_names_what_was_shown() -> None:
    """Given an edited action; then its buttons have its key, its revision and its seal."""
    policy = {"reviewers": {"quorum": 2, "users": ["U0BOB"]}}
    review = decide(review_of(*THREE[:2], policy=policy), "1", "edit", args={"to": "a@example.com"})
    card = card_of(review)

    decides = [one for one in on_actions(card) if one.action == "1"]
    [all_of_them] = [one for one in card_buttons(card, layout="full") if one.verb == "approve_all"]

    assert {(one.revision, one.seal) for one in decides} == {(2, review.seal("1", is_whole=True))}
    assert all_of_them.revisions == (("1", 2), ("2", 1))
    assert all_of_them.seal == review.seal("1", "2", is_whole=True)


def test_an_approval_that_the_policy_wants_confirmed_asks() -> None:
    """Given `confirm`; then Approve asks first, and names what is approved. There is no Approve all."""
    calls = [("deploy", {"env": "production"}), ("deploy", {"env": "staging"})]
    card = card_of(review_of(*calls, policy={"interrupt_on": {"*": {"confirm": True}}}))

    asks = [one.confirmation for one in on_actions(card) if one.verb == "approve"]

    assert [ask and ask.title for ask in asks] == ["Approve deploy?"] * 2
    assert "production" in asks[0].text if asks[0] else False
    assert "approve_all" not in [one.verb for one in card_buttons(card, layout="full")]


@pytest.mark.parametrize(
    ("page", "expected"),
    [(0, [("Next ▶", 1)]), (1, [("◀ Back", 0), ("Next ▶", 2)]), (2, [("◀ Back", 1)])],
)
def test_pages_turn_as_far_as_there_are_pages(page: int, expected: list[tuple[str, int]]) -> None:
    turn = page_buttons(Button("next", "", "Action", "review-1"), page, 3)

    assert [(one.label, one.number) for one in turn] == expected
    assert [one.spoken for one in turn] == [
        f"{label}, Action {to + 1} of 3" for label, to in expected
    ]


@pytest.mark.parametrize("name", SCENES)
def test_every_button_says_what_it_does_to_what(name: str) -> None:
    """Given a review in some state; then no two of its buttons are alike, and each has a text for screen
    readers."""
    make, place = SCENES[name]
    card = build_card(make(), Place(place))
    next_place = name_of(card.next_step.to) if card.next_step else ""
    buttons = [*on_actions(card), *card_buttons(card, layout="full", next_place=next_place)]

    assert len(set(buttons)) == len(buttons)
    assert all(one.label and one.spoken and one.review_id == card.review_id for one in buttons)
