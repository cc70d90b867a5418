"""What a screen reader and voice control get for a button. Each symbol has words beside it, and a label
begins with its verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bot.card import (
    Button,
    PlaceNames,
    ThreadLine,
    build_card,
    card_buttons,
    plain_text,
    thread_summary,
)
from bot.card.model.values import Edit
from bot.card.sentences.history import edit_lines
from bot.channels.slack.render.card_message import message
from hitl_core.model import Place, Review
from tests.card.test_buttons import on_actions
from tests.channels.scenes import (
    BOB,
    DEFAULT,
    THREE,
    decide,
    expire_lease,
    name_of,
    review_of,
    start_calls,
)
from tests.channels.test_golden_cards import SCENES

AMOUNT = {
    "order_id": 1042,
    "customer": "Jo Martin <jo@example.com>",
    "amount": 120.0,
    "currency": "EUR",
}
LONG: dict[str, Any] = {"a": "x" * 200, "b": "y" * 200, "total": 99}


def spoken_words(text: str) -> str:
    """Without signs: nobody says them."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def elements_in(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for part in value:
            yield from elements_in(part)
    elif isinstance(value, dict):
        if value.get("type") == "button":
            yield value
        for part in value.values():
            yield from elements_in(part)


def labelled(review: Review, verb: str, place: str = DEFAULT) -> list[Button]:
    card = build_card(review, Place(place))
    return [
        one for one in (*on_actions(card), *card_buttons(card, layout="full")) if one.verb == verb
    ]


@pytest.mark.parametrize("name", SCENES)
def test_a_label_begins_with_the_text_that_is_seen(name: str) -> None:
    """Cards 13: given a card in some state; then what each button says begins with what it shows."""
    make, place = SCENES[name]
    drawn = message(build_card(make(), place), name_of)

    for element in elements_in(drawn["blocks"]):
        seen, said = element["text"]["text"], element["accessibility_label"]
        assert len(said) <= 75
        assert spoken_words(said.rstrip("…")).startswith(spoken_words(seen.rstrip("…"))), (
            seen,
            said,
        )


@pytest.mark.parametrize("name", ["refund_order", "r" * 128])
def test_a_label_keeps_the_amount(name: str) -> None:
    """Cards 13: given an amount behind other arguments; then the buttons that decide name it, however long
    the tool's name is."""
    review = review_of((name, AMOUNT))
    doubt = expire_lease(start_calls(decide(review, "1", "approve"), "1"))

    for one in (review, doubt):
        for verb in ("approve", "edit", "reject") if one is review else ("ran", "rerun", "skip"):
            [button] = labelled(one, verb)
            assert "120.0" in button.spoken
            assert len(button.spoken) <= 75


def test_long_values_before_an_amount_do_not_hide_it() -> None:
    [button] = labelled(review_of(("pay", LONG)), "approve")
    assert "total: 99" in button.spoken


def test_run_again_asks_with_the_main_fact() -> None:
    """Cards 9: given a call in doubt; then to run it again asks first, and says what may happen twice."""
    doubt = expire_lease(start_calls(decide(review_of(("refund", AMOUNT)), "1", "approve"), "1"))

    [again] = labelled(doubt, "rerun")
    [skip] = labelled(doubt, "skip")

    assert again.confirmation
    assert again.confirmation.title == "Run refund again?"
    assert again.confirmation.text.startswith(
        "It may have run already. Then this happens twice: “amount: 120.0"
    )
    assert skip.label == "Go on without it"


def test_what_is_rare_is_in_the_menu() -> None:
    """Cards 12: given a card with a decision and an escalation; then both are in the menu."""
    blocks = message(build_card(decide(review_of(*THREE), "2", "reject"), DEFAULT), name_of)[
        "blocks"
    ]

    [last] = [block for block in blocks if block["block_id"] == "all"]
    menus = [element for element in last["elements"] if element["type"] == "overflow"]

    assert [element["text"]["text"] for element in elements_in(last)] == ["Approve all 2"]
    [menu] = menus
    assert [one["text"]["text"] for one in menu["options"]] == [
        "Escalate to #team-ops",
        "See what was decided",
    ]


def test_a_card_of_one_action_has_one_menu() -> None:
    """Cards 12: given one action with rare answers, and an escalation; then one menu has both."""
    blocks = message(build_card(review_of(THREE[2]), DEFAULT), name_of)["blocks"]

    menus = [
        element
        for block in blocks
        if block["type"] == "actions"
        for element in block["elements"]
        if element["type"] == "overflow"
    ]

    assert [[one["text"]["text"] for one in menu["options"]] for menu in menus] == [
        ["Answer instead of running it", "Skip it", "Escalate to #team-ops"]
    ]


#: Signs that our lines begin with or hold, and punctuation that a screen reader says or passes over.
_SIGN = re.compile(r"[✔✖✎↩⊘⊗↪⚠✂⏰↗]")


@pytest.mark.parametrize("name", SCENES)
def test_no_sign_stands_alone(name: str) -> None:
    """Cards 13: given a card in some state; then each sign of ours is followed by a word."""
    make, place = SCENES[name]
    drawn = message(build_card(make(), place), name_of)

    for kind in (drawn["text"], *texts_in(drawn["blocks"])):
        for sign in _SIGN.finditer(kind):
            assert re.match(r"\s*[\w“]", kind[sign.end() :]), kind


def texts_in(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Each line of a block as one text."""
    for block in blocks:
        for part in block.get("elements", []):
            inner = part.get("elements")
            yield (
                "".join(one.get("text", "") for one in inner)
                if inner
                else str(part.get("text", ""))
            )


@pytest.mark.parametrize("kind", ["edited", "rejected", "escalated"])
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("run_sql",), "run_sql was"),
        (("a", "b"), "a and b were"),
        (("a", "b", "c"), "a, b and c were"),
    ],
)
def test_a_verb_agrees_with_the_names(kind: Any, names: tuple[str, ...], expected: str) -> None:
    """Cards 13: given one tool or several; then a notification says was or were."""
    line = ThreadLine(0.0, kind, names)

    assert thread_summary(line, PlaceNames(name_of)).startswith(f"{expected} ")


@pytest.mark.parametrize(("count", "expected"), [(4, "1 earlier edit"), (5, "2 earlier edits")])
def test_one_earlier_edit_is_singular(count: int, expected: str) -> None:
    edits = [Edit(BOB, (), 0, None)] * count

    assert plain_text(edit_lines(edits)[0]) == f"✎ {expected}"
