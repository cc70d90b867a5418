"""The pages of a form, and the drafts that keep what was entered on the others."""

from __future__ import annotations

from typing import cast

import pytest

from bot.forms import (
    FormPage,
    Notice,
    Stored,
)
from tests.bot.forms.world import OPERATOR, SEVEN, World, entries, shown


async def test_an_edit_over_three_pages_is_stored(world: World) -> None:
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    assert (first.title, first.submit, first.count) == ("Edit seven", "Next", 3)
    second = await world.turn(first, n1="11")
    last = await world.turn(second, n4="44")
    assert last.submit == "Approve edited"
    assert isinstance(await world.send(last, n6="66"), Stored)
    decided = await world.review()
    assert decided.actions[0].decision is not None
    assert decided.arguments("1").parse() == {**SEVEN, "n1": 11, "n4": 44, "n6": 66}


async def test_a_draft_outlives_the_bot_and_back_shows_it(world: World) -> None:
    """Given a person on the second page, when the bot starts again; then Back shows what they entered, and
    the page that they left keeps what they had typed there."""
    await world.ask("seven", SEVEN)
    second = await world.turn(await world.open("edit"), n1="11")
    world.restart()
    first = await world.form_service.redraw(
        second.ref, "form-1", entries(second, n3="33"), OPERATOR, back=True
    )
    assert (first.ref.page, shown(first)["n1"]) == (0, "11")
    again = await world.turn(first)
    assert (again.ref.page, shown(again)["n3"]) == (1, "33")


async def test_a_draft_that_is_gone_changes_nothing_and_says_so(world: World) -> None:
    await world.ask("seven", SEVEN)
    second = await world.turn(await world.open("edit"), n1="11")
    result = await world.form_service.submit(
        second.ref, "form-2", entries(second), OPERATOR, "op-1"
    )
    assert isinstance(result, Notice)
    assert "expired, so nothing was changed" in result.text
    assert (await world.review()).actions[0].is_pending


@pytest.mark.parametrize("stored", [b'["a", "b"]', b'{"id": "a", "more": 1}', b"{", b"7"])
async def test_a_draft_of_another_version_changes_nothing_and_says_so(
    world: World, stored: bytes
) -> None:
    """Given a draft that this version can't read; then no page of the form is taken or replaces it: it was a
    TypeError."""
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    second = await world.turn(first, n1="11")
    key = f"form:form-1:{OPERATOR.key}"
    await world.store.save_temporary_value(key, stored, 60.0)

    results = [
        await world.form_service.submit(page.ref, "form-1", entries(page), OPERATOR, "op-1")
        for page in (first, second)
    ]

    assert ["another version" in cast(Notice, one).text for one in results] == [True, True]
    assert await world.store.temporary_value(key) == stored


async def test_another_persons_draft_is_not_read(world: World) -> None:
    await world.ask("seven", SEVEN)
    second = await world.turn(await world.open("edit"), n1="11")
    other = OPERATOR.model_copy(update={"id": "other"})
    result = await world.form_service.submit(second.ref, "form-1", entries(second), other, "op-1")
    assert isinstance(result, Notice)
    assert "expired" in result.text


async def test_a_choice_redraws_the_form(world: World) -> None:
    await world.ask("contact", {"way": {"kind": "mail", "to": "jo"}})
    page = await world.open("edit")
    typed = entries(page, way="1")
    redrawn = await world.form_service.redraw(page.ref, "form-1", typed, OPERATOR)
    assert shown(redrawn) == {"way": "1", "way \u203a zip": None}
    sent_early = await world.form_service.submit(page.ref, "form-1", typed, OPERATOR, "op-1")
    assert isinstance(sent_early, FormPage)  # the person has not seen the new fields
    assert shown(sent_early) == shown(redrawn)
    warned = await world.turn(redrawn, **{"way \u203a zip": "1010"})
    assert isinstance(await world.send(warned), Stored)
    assert (await world.review()).arguments("1").parse() == {"way": {"kind": "post", "zip": "1010"}}


async def test_a_late_page_loses_nothing_that_was_entered_since(world: World) -> None:
    """Given a person at the last page; when their first page arrives again, as a client repeats it, or is
    sent from another device; then it changes nothing and says so, and all that they entered runs."""
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    second = await world.turn(first, n1="11")
    last = await world.turn(second, n4="44")
    late = await world.send(first, n1="1")
    assert isinstance(late, Notice)
    assert "You continued this form on another page" in late.text
    assert isinstance(await world.send(last), Stored)
    assert (await world.review()).arguments("1").parse() == {**SEVEN, "n1": 11, "n4": 44}


async def test_a_page_whose_answer_was_lost_is_sent_again(world: World) -> None:
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    await world.turn(first, n1="1")
    second = await world.turn(first, n1="11")
    await world.turn(second, n4="4")
    last = await world.turn(second, n4="44")
    assert isinstance(await world.send(last), Stored)
    assert (await world.review()).arguments("1").parse() == {**SEVEN, "n1": 11, "n4": 44}


async def test_a_page_from_before_a_change_elsewhere_is_not_sent(world: World) -> None:
    """Given the last page on two devices; when the person goes back on one of them, changes a value and goes
    on; then the other one does not send what it doesn't show."""
    await world.ask("seven", SEVEN)
    second = await world.turn(await world.open("edit"))
    here = await world.turn(second)
    before = await world.form_service.redraw(here.ref, "form-1", entries(here), OPERATOR, back=True)
    there = await world.turn(before, n4="44")
    old = await world.send(here, n6="66")
    assert isinstance(old, Notice)
    assert "Continue there" in old.text
    assert (await world.review()).actions[0].is_pending
    assert isinstance(await world.send(there), Stored)


async def test_a_late_send_of_a_page_does_not_replace_a_later_one(world: World) -> None:
    """Given a page that was sent twice, because the first answer was lost, with another value the second
    time; when the first one arrives late; then the value that the person saw last runs, or they are told."""
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    second = await world.turn(first, n1="11")
    await world.send(first, n1="1")
    last = await world.send(second, n4="44")
    if isinstance(last, FormPage):
        last = await world.send(last)
    assert isinstance(last, Notice)
    assert "You continued this form on another page" in last.text
    assert (await world.review()).actions[0].is_pending


async def test_a_page_that_is_sent_again_after_an_error_keeps_its_draft(
    world: World,
) -> None:
    """So that Teams takes it for the same submission: the first one may be stored."""
    await world.ask("seven", SEVEN)
    last = await world.turn(await world.turn(await world.open("edit"), n1="11"))
    typed = entries(last, n6="6")
    again = await world.form_service.redraw(last.ref, "form-1", typed, OPERATOR, for_retry=True)
    assert again.ref == last.ref
    assert isinstance(await world.send(again), Stored)


async def test_another_tool_reads_no_answer_of_another_page_as_its_own(world: World) -> None:
    """Given a form with pages, whose last one chooses the tool; when it is sent with another tool, which has
    choices where numbers were typed, then the pages of that tool show its own values, and these run. A typed
    2 was read as the choice with this number."""
    numbers = {name: {"type": "integer"} for name in SEVEN}
    choices = {name: {"enum": [0, 20, 40]} for name in SEVEN}
    world.use(
        {
            name: {"args_schema": {"properties": properties}, "must_read": False}
            for name, properties in (("numbers", numbers), ("steps", choices))
        }
    )
    tools = {"numbers": None, "steps": None}
    await world.ask("numbers", dict.fromkeys(SEVEN, 0), tools=tools)
    page = await world.turn(await world.open("edit"))
    last = await world.turn(page, n4="2")
    page = await world.turn(last, Tool="1")
    assert page.ref.tool == "steps"
    page = await world.turn(page)
    assert shown(page) == {"n3": "0", "n4": "0", "n5": "0"}
    assert isinstance(await world.send(await world.turn(page), n6="1"), Stored)
    assert (await world.review()).arguments("1").parse() == {**dict.fromkeys(SEVEN, 0), "n6": 20}
