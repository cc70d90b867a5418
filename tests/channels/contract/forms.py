"""Forms: every page is within the channel's limits, and text of others is plain text."""

from __future__ import annotations

from typing import Any

import pytest

from bot.forms import EditForm, FormLimits, FormPage, FormRef
from bot.inbox import ActionRef
from bot.text import one_line
from tests.channels.contract.world import World
from tests.channels.nasty import NASTY
from tests.channels.scenes import EMAIL, review_of

Json = dict[str, Any]


def _properties(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties][:1]}


#: A schema and the arguments, for each thing that makes a form large or odd.
FORMS: dict[str, tuple[Json | None, Json]] = {
    "no schema": (None, EMAIL),
    "no arguments": (_properties(), {}),
    "many fields": (
        _properties(**{f"n{at}": {"type": "integer"} for at in range(120)}),
        {f"n{at}": at for at in range(120)},
    ),
    "long texts": (
        _properties(**{f"t{at}": {"type": "string"} for at in range(30)}),
        {f"t{at}": f"line {at}\n" * 500 for at in range(30)},
    ),
    "long names": (
        _properties(
            **{"n" * 200: {"type": "string", "title": "t" * 400, "description": "d" * 900}}
        ),
        {"n" * 200: "x"},
    ),
    "many options": (
        _properties(one={"enum": [f"option {at}" for at in range(900)]}, two={"type": "boolean"}),
        {"one": "option 3", "two": True},
    ),
    "kinds": (
        _properties(
            day={"type": "string", "format": "date"},
            at={"type": "string", "format": "date-time"},
            mail={"type": "string", "format": "email"},
            list={"type": "array", "items": {"type": "string"}},
            some={"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
            deep={"type": "object", "properties": {"x": {"type": "number"}}},
            fixed={"const": "as it is"},
        ),
        {"day": "2027-01-15", "mail": "jo@example.com", "deep": {"x": 1.5}, "fixed": "as it is"},
    ),
}


def edit_pages(schema: Json | None, args: Json, limits: FormLimits) -> list[FormPage]:
    """All pages of the form for an edit, as they open."""
    rule = {"args_schema": schema} if schema else True
    review = review_of(("update", args), requester=None, policy={"interrupt_on": {"*": rule}})
    (action,) = review.actions
    ref = FormRef("edit", ActionRef(review.id, action.key, action.revision))
    form = EditForm(review, action, ref, limits)
    return [form.at_page(page, draft="").page() for page in range(form.session.page_count)]


class Forms:
    @pytest.mark.parametrize("name", FORMS)
    async def test_every_page_of_a_form_is_within_the_limits(self, world: World, name: str):
        """Given a form of any size, then the chat system takes each page, and people read what each input is
        and what sending does."""
        for page in edit_pages(*FORMS[name], world.modal_limits):
            text = world.show_form(page).text
            for one in page.fields:
                assert world.spelling(one.field.label[:70]) in text
            assert page.effect[:70] in text
            assert page.submit in text

    async def test_promise_8_the_text_of_others_stays_text_in_a_form(self, world: World):
        """Given a text that means something to a chat system, as a name, title, hint, option and value; then
        it can be read, calls nobody, and links nowhere."""
        for text in (one for one in (*NASTY, *world.nasty) if one.strip()):
            schema = _properties(
                plain={"type": "string", "title": text, "description": text},
                choice={"enum": [text, text + "x"], "title": text},
                fixed={"const": text},
            )
            args = {"plain": text, "choice": text, "fixed": text, text: text}
            for page in edit_pages(schema, args, world.modal_limits):
                shown, _, alive = world.show_form(page)
                assert not alive
                assert not page.fields or world.spelling(one_line(text.strip())) in shown, text
