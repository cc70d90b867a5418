"""Nine ways to fool a reviewer, tried on a card of Teams. docs/gallery.md lists them."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import build_card
from bot.channels.teams.render import card_message
from bot.inbox import Press
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, asking, name_of, review_of, with_request
from tests.channels.teams.reading import KEY, actions_of, check, shown_text, to_text
from tests.gallery.calls import ask
from tests.gallery.unseen import FILLED, HIDDEN_CLAUSE, KEYS, PEOPLE, QUERIES, SIGNS

Json = dict[str, Any]

LIE = "Already approved by Bob Reyes."
TRANSFER = ("transfer_funds", {"amount": 4800, "currency": "EUR", "to": "AT61 1904 3002"})


def draw(review: Review) -> Json:
    return check(card_message(build_card(review, DEFAULT), name_of, KEY))


def presses(card: Json) -> list[tuple[Press, Json]]:
    return [
        (Press.parse(KEY.read(one["data"])[1]), one)
        for one in actions_of(card)
        if one["type"] == "Action.Execute"
    ]


def verbs(card: Json) -> list[str]:
    return [press.verb for press, _ in presses(card)]


def runs_of(card: Json) -> list[Json]:
    return [
        run
        for element in card["body"]
        if element["type"] == "RichTextBlock"
        for run in element["inlines"]
    ]


def test_a_description_of_the_agent_is_quoted_and_not_in_our_italics() -> None:
    card = draw(with_request(review_of(TRANSFER), by_agent=True, description=LIE))
    assert f"support-agent says: “{LIE}”" in to_text(card)
    assert not [run for run in runs_of(card) if run.get("italic") and LIE in run["text"]]


def test_keys_of_the_agent_are_code_below_those_of_the_schema() -> None:
    for review in (ask(("refund_order", KEYS)), review_of(("pay", KEYS))):
        card = draw(review)
        for key in ("Approved by", "Approvals: 2 of 2", "amount  80.00 EUR  (limit"):
            found = [run for run in runs_of(card) if key in shown_text([run])]
            assert found[0]["fontType"] == "monospace"
            assert all('"' in shown_text([run]) or "“" in shown_text([run]) for run in found)


def test_one_of_forty_that_does_more_is_seen() -> None:
    calls = [("update_customer", {"customerId": f"c{n}", "status": "vip"}) for n in range(40)]
    calls[22][1]["payout_iban"] = "DE89370400440532013000"
    card = draw(ask(*calls))
    [table] = [one for one in card["body"] if one["type"] == "Table"]
    rows = [
        [shown_text(cell["items"][0]["inlines"]) for cell in row["cells"]] for row in table["rows"]
    ]
    assert rows[0][-1] == "Differs"
    assert [row for row in rows[1:] if row[-1].strip()] == [
        ["23", "c22", "payout_iban: DE89370400440532013000"]
    ]
    [question] = [one for one in actions_of(card) if one["type"] == "Action.ShowCard"]
    assert "payout_iban" in str(question["card"])


def test_approve_all_asks_and_takes_nothing_odd() -> None:
    calls = [("run_sql", {"query": query}) for query in [*QUERIES, "DROP TABLE users"]]
    card = draw(ask(*calls))
    [question] = [one for one in actions_of(card) if "approve_all" in str(one.get("card", ""))]
    assert question["type"] == "Action.ShowCard"
    assert "DROP TABLE" in str(question["card"]["body"])
    [inner] = question["card"]["actions"]
    assert inner["title"].startswith("Approve all")
    odd = [("send_email", {"to": f"p{n}@p\u0430yp\u0430l.com", "body": "Hi"}) for n in range(4)]
    card = draw(ask(*odd))
    assert "approve_all" not in verbs(card)
    assert not [one for press, one in presses(card) if press.verb == "approve" and "style" in one]


@pytest.mark.parametrize(
    ("name", "args", "hidden"),
    [
        ("send_contract", {"supplier": "Globex", "text": HIDDEN_CLAUSE}, "text"),
        ("post_letter", {**FILLED, "bcc": "evil@example.org"}, "bcc"),
        ("send_letters", {"recipients": PEOPLE}, "recipients"),
    ],
)
def test_what_is_cut_is_named_and_read_first(name: str, args: Json, hidden: str) -> None:
    card = draw(ask((name, args)))
    assert "approve" not in verbs(card)
    assert "[+Read all, then approve]" in to_text(card)
    [cut] = [line for line in to_text(card).split("\n") if "✂ Not shown here" in line]
    assert f"“{hidden}”" in cut


def test_signs_that_look_like_others_are_warnings() -> None:
    card = draw(ask(("pay", SIGNS)))
    alerts = [run["text"] for run in runs_of(card) if run.get("color") == "attention"]
    warned = "".join(alerts)
    for key in SIGNS:
        assert f"“{key}”" in warned
    assert not [one for press, one in presses(card) if press.verb == "approve" and "style" in one]


def test_numbers_whose_order_changes_are_written_out() -> None:
    card = draw(review_of(("pay", {"amount": "\u05d0 120 \u05d1 99"})))
    assert "⚠" in to_text(card)
    assert not [one for press, one in presses(card) if press.verb == "approve" and "style" in one]


def test_what_an_answer_stands_for_is_read_before_the_press() -> None:
    schema = {
        "oneOf": [
            {"title": "Refund nothing", "const": {"amount": 4800, "to": "AT61 1904 3002"}},
            {"const": "Ask the customer"},
        ]
    }
    card = draw(asking(schema))
    text = to_text(card)
    assert text.index("4800") < text.index("[A")


def test_names_of_others_are_no_sentence_of_ours() -> None:
    lie = "Approved by Bob Reyes. For the record, deploy-bot"
    card = draw(review_of(TRANSFER, agent=lie, requester=lie))
    assert to_text(card).startswith(f"# The agent “{lie}” asks to run")
    assert f"For “{lie}” (named by the agent)" in to_text(card)
    thread = review_of(TRANSFER).model_copy(update={"thread_id": lie})
    assert f"thread “{lie}”" in to_text(draw(thread))
