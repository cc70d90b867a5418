"""Teams accepts the card of every review, and the card says what it does not show."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.card import Card, build_card, card_buttons
from bot.channels.teams.ids import IN_HOME, Where
from bot.channels.teams.render import CardBuilder, card_message
from bot.inbox import Press
from hitl_core.model import Place, Reviewer
from tests.channels.scenes import (
    DEFAULT,
    THREE,
    decide,
    escalate,
    expire_lease,
    name_of,
    resolve,
    review_of,
    start_calls,
)
from tests.channels.teams.reading import KEY, actions_of, arguments_on, check, to_text
from tests.channels.teams.test_markup import ADA_ID, KNOWN
from tests.channels.test_properties import arguments, long_text, nested, slowly, text

Json = dict[str, Any]


def draw(*calls: tuple[str, Json]) -> tuple[Card, Json]:
    card = build_card(review_of(*calls), DEFAULT)
    return card, check(card_message(card, name_of, KEY))


def presses(card: Json) -> list[Press]:
    data = [one["data"] for one in actions_of(card) if one["type"] == "Action.Execute"]
    return [Press.parse(Where.parse(*KEY.read(one))[1]) for one in data]


@slowly
@given(arguments)
@example(nested)
@example({"": "", " ": " ", '"': '"', "a\nb": "x" * 161, "⏎": "⟦"})
@example({"{{DATE(2026-01-01T00:00:00Z)}}": "{{TIME(2026-01-01T00:00:00Z)}}", "a  b": "c  d\te"})
def test_promise_8_every_character_is_on_the_card_or_counted_as_missing(args: Json) -> None:
    """T9: given any arguments, then they can be read back from the card exactly, or it says what it cut."""
    shown, card = draw(("tool", args))
    missing = shown.open_actions[0].excerpt.missing
    if missing:
        assert re.search(rf"\({missing:,} of [\d,]+ characters\)", to_text(card))
        assert "see" in [press.verb for press in presses(card)]
    else:
        assert "Not shown here" not in to_text(card)
        assert arguments_on([card]) == args


@slowly
@given(st.lists(arguments, min_size=1, max_size=12), st.data())
def test_any_review_makes_a_card_that_teams_takes(several: list[Json], data: st.DataObject) -> None:
    """Given any calls, some of them decided, some escalated, then the card keeps to Teams' limits."""
    review = review_of(*(("tool", args) for args in several))
    for action in review.actions:
        kind = data.draw(st.sampled_from(["", "approve", "reject", "edit"]))
        if kind:
            new = {"new": data.draw(long_text)}
            words = data.draw(text) if kind == "reject" else None
            review = decide(
                review, action.key, kind, message=words, args=new if kind == "edit" else None
            )
    if any(action.is_pending for action in review.actions) and data.draw(st.booleans()):
        review = escalate(review)
    for place in review.places:
        drawn = check(card_message(build_card(review, place), name_of, KEY))
        assert "full card can't be shown" not in to_text(drawn)


def listed_count(card: Json) -> int:
    """How many actions have a row or a line, with those that are only counted."""
    picture = to_text(card)
    more = re.search(r"and (\d+) more", picture)
    rows = [one for one in card["body"] if one["type"] == "Table"]
    lines = re.findall(r"^\*\d+  n", picture, re.MULTILINE)
    count = len(rows[0]["rows"]) - 1 if rows else len(lines)
    return count + (int(more[1]) if more else 0)


@pytest.mark.parametrize("count", [1, 3, 10, 11, 40, 200])
def test_a_card_of_the_worst_actions_fits(count: int) -> None:
    """Given calls full of markup, odd characters and long names, then one card asks about all of them, with
    everything or in a list, what has no room is counted, and what is not shown can't be approved there.
    """
    args = {f"{n}" + "日{{<\u202e" * 60: '{{"日>\n' * 500 for n in range(30)}
    shown, card = draw(*[("n" * 128, args)] * count)
    verbs = [press.verb for press in presses(card)]
    assert not {"approve", "approve_all"} & {*verbs}
    if shown.open_actions and "see" in verbs:
        assert verbs.count("see") == count
    else:
        assert verbs[0] == "review"
        assert listed_count(card) == count
        assert "Too much for one message." in to_text(card)


def test_a_hundred_decisions_fit() -> None:
    review = review_of(*[("tool", {"a": n}) for n in range(100)])
    for action in review.actions:
        review = decide(review, action.key, "reject", message=action.key + "日" * 500)
    card = check(card_message(build_card(review, DEFAULT), name_of, KEY))
    assert re.search(r"and \d+ more", to_text(card))


def test_each_decision_is_apart_from_the_next() -> None:
    """Given three decisions, then each is an element of its own, so that there is room between them."""
    review = review_of(*THREE)
    for action in review.actions:
        review = decide(review, action.key, "reject")
    card = check(card_message(build_card(review, DEFAULT), name_of, KEY))
    shown = [to_text({**card, "body": [one]}) for one in card["body"]]
    decisions = [text for text in shown if "rejected by" in text]
    assert [name in text for text, (name, _) in zip(decisions, THREE, strict=True)] == [True] * 3


def test_a_hundred_calls_in_doubt_fit() -> None:
    """Given a hundred calls that may have run, then those that fit are asked about, the others counted."""
    review = review_of(*[("tool", {"a": n}) for n in range(100)])
    for action in review.actions:
        review = decide(review, action.key, "approve")
    review = expire_lease(start_calls(review, *(call.key for call in review.calls)))
    card = check(card_message(build_card(review, DEFAULT), name_of, KEY))
    asked = sum(press.verb == "ran" for press in presses(card))
    assert f"{100 - asked} more calls may have run" in to_text(card)


def test_a_call_in_doubt_is_asked_about_however_long_the_names_of_its_voters_are() -> None:
    """Given a call in doubt on which many people with very long names disagree; then its card has buttons,
    and the names are cut: it had none, so nobody could answer in Teams."""
    people = [f"{at:08x}-0000-4000-8000-000000000000" for at in range(60)]
    rule = {
        "reviewers": {
            "users": [f"teams:{one}" for one in people],
            "quorum": 30,
            "reject_quorum": 30,
        }
    }
    args = {f"k{at}": "日" * 300 for at in range(40)}
    review = review_of(("tool", args), policy={"interrupt_on": {"*": rule}})
    who = [Reviewer(channel="teams", team="t", id=one, name="😀" * 80) for one in people]
    for one in who[:30]:
        review = decide(review, "1", "approve", by=one)
    review = expire_lease(start_calls(review, "1"))
    for at, one in enumerate(who[:57]):
        answer = ("ran", "rerun", "skip")[at % 3]
        review = resolve(review, "1", answer, one)
    names = dict.fromkeys((Place(f"teams:{one}") for one in people), "😀" * 80)
    card = check(
        card_message(build_card(review, DEFAULT), lambda p: names.get(p) or name_of(p), KEY)
    )
    assert {press.verb for press in presses(card)} >= {"ran", "rerun", "skip"}
    assert f"“{'😀' * 11}…” (00000000)" in to_text(card)


def test_each_button_says_what_it_is_about() -> None:
    """Given buttons; then a screen reader says the label and the fact, and the value is the button's."""
    card = build_card(review_of(*THREE[:2]), DEFAULT)
    drawn = check(card_message(card, name_of, KEY))
    approve = next(one for one in actions_of(drawn) if one["title"] == "Approve")
    assert approve["tooltip"].startswith("Approve 1 send_email")
    values = {KEY.read(one["data"])[1] for one in actions_of(drawn) if "data" in one}
    assert {one.value for one in card_buttons(card, layout="full")} <= values


def test_a_question_is_asked_where_the_button_is() -> None:
    """Given a button with a question; then it opens the question, and only the answer yes counts."""
    rule = {"confirm": True}
    review = review_of(("deploy", {"env": "x"}), policy={"interrupt_on": {"*": rule}})
    drawn = check(card_message(build_card(review, DEFAULT), name_of, KEY))
    outer = next(one for one in actions_of(drawn) if one["title"] == "Approve")
    assert outer["type"] == "Action.ShowCard"
    assert "data" not in outer
    [inner] = outer["card"]["actions"]
    assert Press.parse(KEY.read(inner["data"])[1]).verb == "approve"


def test_the_people_of_an_escalation_are_mentioned() -> None:
    """Given an escalation to people of Teams; then the card mentions them by their names, and its footer has
    the names as text.
    """
    to = {"after": "10m", "to": f"teams:{ADA_ID}", "reviewers": {"users": [f"teams:{ADA_ID}"]}}
    review = escalate(review_of(THREE[2], policy={"escalate": [to]}))
    place = Place(f"teams:{ADA_ID}")
    names = {**KNOWN, DEFAULT: "#agent-approvals"}
    card = check(card_message(build_card(review, place), lambda one: names.get(one, one), KEY))
    assert card["msteams"]["entities"][0]["mentioned"] == {"id": ADA_ID, "name": "Ada Byron"}
    assert "@ <at>Ada Byron</at>" in to_text(card)


def test_a_person_of_teams_has_a_short_id() -> None:
    """Given a decision by a person of Teams; then their name has the start of their id."""
    ada = Reviewer(channel="teams", team="t", id=ADA_ID, name="Ada Byron")
    review = decide(review_of(THREE[2]), "1", "reject", ada, message="No.")
    card = check(card_message(build_card(review, DEFAULT), name_of, KEY))
    assert "“Ada Byron” (8f3c0000)" in to_text(card)
    assert ADA_ID not in to_text(card)


def test_buttons_in_a_home_say_so() -> None:
    builder = CardBuilder.of(name_of, KEY, where=IN_HOME)
    [button] = card_buttons(build_card(review_of(THREE[2]), DEFAULT), layout="lines")[:1]
    assert KEY.read(builder.button(button)["data"]) == ("home", button.value)
