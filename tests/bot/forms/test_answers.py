"""Answers to an agent's question, as people enter them in a form."""

from __future__ import annotations

import pytest

from bot.forms import (
    MESSAGE,
    Entries,
    Stored,
)
from tests.bot.forms.world import OPERATOR, TEXT, Json, World, shown


async def test_an_answer_as_text_and_one_by_a_schema(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    text = await world.open("respond")
    assert (text.title, text.fields[0].id) == ("Answer instead", MESSAGE)
    await world.ask("rate", {})
    choice = await world.open("respond")
    assert (choice.title, [each.field.label for each in choice.fields]) == (
        "Answer",
        ["Your answer"],
    )
    assert isinstance(await world.send(choice, **{"Your answer": "4"}), Stored)
    decision = (await world.review()).actions[0].decision
    assert decision is not None
    assert decision.answer == "o4"


async def test_none_of_the_choices_is_an_answer(world: World) -> None:
    """Given a question with choices, when a person chooses none and sends it; then that is their answer. The
    form calls it optional, and said "is required"."""
    await world.ask("tag", {"q": "?"})
    page = await world.open("respond")
    assert not page.fields[0].field.required
    assert isinstance(await world.send(page), Stored)
    decision = (await world.review()).actions[0].decision
    assert decision is not None
    assert decision.answer == {"tags": []}


async def test_a_blank_answer_is_null_where_the_question_allows_that(world: World) -> None:
    """The form calls it optional, and said "Write or choose an answer"."""
    await world.ask("perhaps", {"q": "?"})
    page = await world.open("respond")
    assert not page.fields[0].field.required
    assert isinstance(await world.send(page), Stored)
    decision = (await world.review()).actions[0].decision
    assert decision is not None
    assert (decision.answer, decision.message) == (None, "null")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "integer"},
        {"$ref": "#/definitions/n", "definitions": {"n": {"type": "integer"}}},
        {"$ref": "#/$defs/n", "$defs": {"n": {"$anchor": "n", "type": "integer"}}},
        {"$ref": "#/$defs/n", "$defs": {"n": {"$id": "https://a.b/n", "type": "integer"}}},
        {"allOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "integer"}}},
    ],
)
async def test_whatever_else_an_answers_schema_says_people_can_answer(
    world: World, schema: Json
) -> None:
    """Given a schema that the policy accepts, with a draft, anchors or addresses; then its form opens, and
    takes an answer. No form could be made of these, so nobody could answer."""
    world.use({"count": {"answer_schema": schema, "allowed_decisions": ["respond"]}})
    await world.ask("count", {})
    page = await world.open("respond")
    [one] = page.fields
    assert isinstance(
        await world.form_service.submit(page.ref, "f", Entries({one.id: "3"}), OPERATOR, "op"),
        Stored,
    )
    decision = (await world.review()).actions[0].decision
    assert decision is not None
    assert decision.answer == 3


async def test_an_answer_of_alternatives_has_their_fields(world: World) -> None:
    """Given an answer that is one of two objects, or has no known properties; then its form names it, and
    has a choice where there is one."""
    ways = [
        {"title": name, "properties": {key: TEXT}, "required": [key]}
        for name, key in (("Mail", "to"), ("Post", "zip"))
    ]
    world.use(
        {
            "way": {
                "answer_schema": {"type": "object", "oneOf": ways},
                "allowed_decisions": ["respond"],
            },
            "any": {"answer_schema": {"type": "object"}, "allowed_decisions": ["respond"]},
        }
    )
    await world.ask("way", {})
    assert shown(await world.open("respond")) == {"Your answer": None}
    page = await world.turn(await world.open("respond"), **{"Your answer": "1"})
    assert isinstance(await world.send(page, **{"Your answer \u203a zip": "1010"}), Stored)
    assert (await world.review()).actions[0].decision.answer == {"zip": "1010"}  # type: ignore[union-attr]
    await world.ask("any", {})
    assert shown(await world.open("respond")) == {"Your answer": None}


async def test_an_empty_text_is_an_answer_where_the_policy_says_so(world: World) -> None:
    choice = {"oneOf": [{"const": "", "title": "None"}, {"const": "b"}]}
    world.use({"suffix": {"answer_schema": choice, "allowed_decisions": ["respond"]}})
    await world.ask("suffix", {})
    assert isinstance(await world.send(await world.open("respond"), **{"Your answer": "0"}), Stored)
    decision = (await world.review()).actions[0].decision
    assert decision is not None
    assert (decision.answer, decision.message) == ("", "")
