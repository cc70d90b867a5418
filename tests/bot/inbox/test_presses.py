"""The value of a button, and the command or form that it means: the same in every channel."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bot.card import Button, Verb
from bot.forms import FormRef
from bot.inbox import ActionRef, Choose, Press
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Reviewer
from hitl_core.review import AnswerDoubt, Decide, DecideAll, Proposal

WHO = Reviewer(channel="text", team="office", id="p-ada", name="Ada")
CARD = MessageRef(channel="text", conversation="r-orders", ts="7")
TARGET = ActionRef("rev-1", "7", 2, "5ea1")


def button(verb: Any, **about: Any) -> Button:
    return Button(verb, "label", "spoken", "rev-1", **about)


def on_action(verb: Any, number: int | None = None) -> Button:
    return button(verb, action="7", revision=2, seal="5ea1", number=number)


def test_what_a_button_is_about_is_read_back_from_its_value() -> None:
    """Given buttons of each kind; then the value that a channel carries says what they are about."""
    assert on_action("approve").value == "approve.rev-1.7.2.5ea1"
    assert Press.parse("approve.rev-1.7.2.5ea1").target == TARGET

    third = Press.parse(on_action("answer", 3).value)
    assert (third.target, third.number) == (TARGET, 3)

    both = button("approve_all", seal="5ea1", revisions=(("1", 1), ("2", 4)))
    assert both.value == "approve_all.rev-1.1:1,2:4..5ea1"
    assert Press.parse(both.value).revisions == {"1": 1, "2": 4}
    assert Press.parse(both.value).target.seal == "5ea1"

    page = Press.parse(button("review", number=12).value)
    assert (page.target.review_id, page.target.action, page.number) == ("rev-1", "", 12)

    home = Press.parse(Button("next", "label", "spoken", "", number=3).value)
    assert (home.target.review_id, home.number) == ("", 3)


@pytest.mark.parametrize("verb", get_args(Verb))
def test_every_button_is_a_command_or_a_form_or_shows_something(verb: Any) -> None:
    """Given a button of each verb; then at most one of both is made of it, and both are about its action."""
    press = Press.parse(on_action(verb, 1).value)
    command, form = press.command(WHO, "op", CARD), FormRef.of_button(press, CARD)

    decides = verb in ("approve", "ignore", "answer", "approve_all", "ran", "rerun", "skip")
    assert (command is not None) == decides
    assert (form is not None) == (verb in ("edit", "reject", "respond", "escalate"))
    assert command is None or command.review_id == "rev-1"
    assert form is None or form.kind == verb


def test_a_press_becomes_its_command() -> None:
    approve = Decide("rev-1", "7", Proposal("approve", 2, seal="5ea1"), WHO, "op", CARD)
    assert Press.parse(on_action("approve").value).command(WHO, "op", CARD) == approve
    assert Press.parse(on_action("answer", 1).value).command(WHO, "op", CARD) == Choose(
        TARGET, 1, WHO, "op", CARD
    )
    assert Press.parse(on_action("rerun").value).command(WHO, "op", CARD) == AnswerDoubt(
        "rev-1", "7", "rerun", WHO, "op", 2, "5ea1", CARD
    )
    both = button("approve_all", seal="5ea1", revisions=(("1", 1), ("2", 4)))
    assert Press.parse(both.value).command(WHO, "op", CARD) == DecideAll(
        "rev-1", {"1": Proposal("approve", 1), "2": Proposal("approve", 4)}, WHO, "op", "5ea1", CARD
    )


def test_an_escalation_knows_its_card_and_the_steps_that_it_showed() -> None:
    form = FormRef.of_button(Press.parse(button("escalate", number=2).value), CARD)
    assert form is not None
    assert (form.target.review_id, form.target.revision, form.card) == ("rev-1", 2, CARD)


@pytest.mark.parametrize(
    "value", ["approve", "approve.rev-1", "approve.rev-1.7.x", "approve....9" * 9]
)
def test_a_value_that_lacks_parts_matches_nothing(value: str) -> None:
    """Given a value that nothing of ours sends; then its parts are empty, also the seal."""
    target = Press.parse(value).target
    assert (target.revision, target.seal) == (0, "") or target.review_id == ""


@pytest.mark.parametrize("value", ["", "rev-1.7.2.5ea1", "drop.rev-1", "Approve.rev-1"])
def test_what_is_no_button_of_ours_is_refused(value: str) -> None:
    with pytest.raises(Refused):
        Press.parse(value)
