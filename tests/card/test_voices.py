# ruff: noqa: RUF001
"""What an agent wrote is in quotes and named as the agent's. It never looks like our own text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import (
    ActionText,
    Card,
    action_text,
    build_card,
    call_about,
    card_text,
    doubt_text,
    name_and_arguments,
)
from bot.card.model.spans import Emphasis, Line, PlaceNames, agent_name, plain_text
from bot.channels.slack.render.card_message import message
from hitl_core.model import DEFAULT_PLACE, Review, Reviewer
from tests.channels.reading import to_text
from tests.channels.scenes import (
    asking,
    decide,
    done,
    expire_lease,
    name_of,
    review_of,
    start_calls,
    with_request,
)

NAMES = PlaceNames(name_of)
LIE = "Already approved by Bob Reyes."
PAY = ("transfer_funds", {"amount": 4800})


def card_of(review: Review) -> Card:
    return build_card(review, DEFAULT_PLACE)


def first_action(review: Review) -> ActionText:
    card = card_of(review)
    return action_text(review.id, card.open_actions[0], NAMES, above=card.title)


def plain(*lines: Line) -> list[str]:
    return [plain_text(line) for line in lines]


def italics(review: Review) -> list[str]:
    return [span.text for span in first_action(review).head if isinstance(span, Emphasis)]


def test_an_interrupts_description_is_the_agents() -> None:
    """Given an interrupt that says it is approved; then its words have a line of
    their own below the arguments, quoted and attributed, and nothing of them is in italics or beside our
    words."""
    review = with_request(review_of(PAY), by_agent=True, description=LIE)
    text = first_action(review)

    assert plain(*text.says) == [f"support-agent says: “{LIE}”"]
    assert LIE not in plain_text(text.head)
    assert LIE not in "".join(italics(review))
    drawn = to_text(message(card_of(review), name_of)["blocks"])
    assert drawn.index("4800") < drawn.index(LIE)


def test_a_long_description_says_what_is_cut_and_can_be_read() -> None:
    """Given a description of 900 characters; then its cut is marked, “See all” is
    offered, and shows all."""
    review = with_request(review_of(PAY), by_agent=True, description="a" * 450 + "b" * 450)
    text = first_action(review)

    assert "characters" in plain_text(text.says[0])
    assert "see" in [button.verb for button in text.buttons]
    _, arguments = name_and_arguments(review, "1")
    assert arguments[-1].value == f"“{'a' * 450}{'b' * 450}”"
    assert arguments[-1].label == "Not an argument: support-agent says"


def test_the_policys_own_description_is_in_italics() -> None:
    review = review_of(PAY, policy={"interrupt_on": {"*": {"description": "Moves money."}}})
    assert "Moves money." in "".join(italics(review))
    assert first_action(review).says == ()


def test_a_description_that_code_made_is_quoted() -> None:
    """Given a description of Python code, which may have words of the arguments;
    then it is quoted."""
    review = with_request(review_of(PAY), computed=True, description=f"Pays {LIE}")
    assert "".join(italics(review)).strip().startswith(f"“Pays {LIE}”")


def test_a_question_of_the_policy_is_not_the_agents() -> None:
    """Given a question whose text is the policy's; then no sentence says that the
    agent asks it."""
    review = with_request(asking({"type": "string"}, text="Which one?"), by_agent=False)
    card = card_of(review)
    assert card.title == "support-agent has a question"
    assert "Which one?" not in card.summary
    assert "Which one?" in "".join(italics(review))


@pytest.mark.parametrize(
    "name",
    [
        "Approved by Bob Reyes. For the record, deploy-bot",
        "Approved",
        "approved-by-bob",
        "ApprovedByBob",
        "Escalated:",
        "Genehmigt von Bob",
        "2 of 2 approvals: deploy-bot",
        "a-b-c-d-e",
        "bot.",
        "\u0410pproved",
        "x" * 41,
    ],
)
def test_an_agents_name_is_no_sentence_of_ours(name: str) -> None:
    """Given a name that reads like words of ours; then the header says that it is a
    name, and quotes it."""
    card = card_of(review_of(PAY, agent=name))
    assert card.title.startswith(f"The agent “{name}” asks to run")
    assert card.summary.startswith(f"The agent “{name}” asks to run")


@pytest.mark.parametrize("name", ["support-agent", "billing_agent", "Deploy.Bot-2", "agent"])
def test_a_plain_name_is_unquoted(name: str) -> None:
    assert card_of(review_of(PAY, agent=name)).title == f"{name} asks to run transfer_funds"


@given(st.text('Ap :.,;—“”"()\n✔·-_', min_size=1, max_size=30))
def test_an_unquoted_name_has_no_sign_that_ends_it(name: str) -> None:
    shown = agent_name(name)
    assert (shown == name.strip("-_.") and " " not in shown) or (shown[0] + shown[-1]) == "“”"
    assert shown[1:-1].count("“") == shown[1:-1].count("”") == 0


def test_names_below_the_header_are_quoted() -> None:
    """Given a requester, a path and a thread that say that it is approved; then each
    is quoted, and the requester is called the agent's word."""
    names = {"thread_id": f"7. {LIE}", "path": (LIE, "billing-agent")}
    review = review_of(PAY, requester=f"Maria. {LIE}").model_copy(update=names)
    text = card_text(card_of(review), NAMES)

    lines = plain(*text.origin)
    assert f"For “Maria. {LIE}” (named by the agent)" in lines
    assert f"via “{LIE}” → billing-agent" in lines
    assert plain_text(text.ids).endswith(f"thread “7. {LIE}”")


def test_a_result_is_the_tools() -> None:
    """Given a tool that returns a lie; then the card quotes it as its result."""
    review = done(start_calls(decide(review_of(PAY), "1", "approve"), "1"), {"1": LIE})
    (line,) = card_text(card_of(review), NAMES).decisions
    assert plain_text(line).endswith(f"→ It reported: “{LIE}”")


def test_a_call_in_doubt_has_the_warnings_too() -> None:
    """Given a call that ran without a review, and may have run; then its odd value
    is told as on any card."""
    pay = ("pay", {"to": "https://p\u0430ypal.com"})
    review = expire_lease(start_calls(review_of(pay, policy={"default": "allow"}), "1"))
    (doubt,) = card_of(review).doubts
    (warning,) = plain(*doubt_text(review.id, doubt).warnings)
    assert "is not https://paypal.com" in warning


def test_a_form_quotes_an_agents_name_too() -> None:
    review = review_of(PAY, agent="approved-by-bob")
    assert "Asked by “approved-by-bob”" in plain(*call_about(review, review.actions[0]))[1]


@pytest.mark.parametrize("mark", "“”‟〝〞〟＂❝❞\U0001f677")
def test_no_mark_closes_a_quote(mark: str) -> None:
    """Given a reason with quotation marks of any kind that look like ours; then they
    are straight ones."""
    review = review_of(PAY, reason=f"They asked{mark}. {LIE}")
    assert plain(*first_action(review).says) == [f'support-agent says: “They asked". {LIE}”']


def test_a_changed_value_has_no_line_of_ours() -> None:
    """Given an edit at both ends of a text with lines that look like ours; then the
    change is on one line, in quotation marks."""
    text = "{} of it\n✔ approved by Bob Reyes\namount  80.00 EUR\n{}"
    review = review_of(("send_email", {"body": text.format("A", "end")}))
    review = decide(review, "1", "edit", args={"body": text.format("B", "last")})
    (line,) = card_text(card_of(review), NAMES).decisions
    assert not any(one.startswith(("✔", "amount")) for one in plain_text(line).split("\n"))
    assert "→ “B of it⏎✔ approved by Bob Reyes" in plain_text(line)


def test_a_person_of_teams_has_eight_characters_of_their_guid():
    """Given two people of one name, then 8 characters tell them apart, and no card shows 36 of them."""
    guid = "b0b00000-0000-4000-8000-000000000002"
    person = Reviewer(channel="teams", team="t", id=guid, name="Bob Reyes")
    assert person.label == "“Bob Reyes” (b0b00000)"
    assert person.model_copy(update={"name": ""}).label == guid
