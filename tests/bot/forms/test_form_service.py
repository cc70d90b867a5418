"""Forms from opening to the decision, in a channel made for this test, with three fields on a page."""

from __future__ import annotations

import pytest

from bot.forms import (
    MESSAGE,
    Entries,
    FieldErrors,
    FormKind,
    FormPage,
    FormRef,
    Notice,
    Stored,
    service,
)
from bot.inbox import ReadRequired
from hitl_core.errors import Refused
from hitl_core.model import MessageRef
from hitl_core.review import Release, Reviews, ran_mark
from tests.bot.forms.world import OPERATOR, SEVEN, World, entries, shown


async def test_an_error_is_beside_its_field(world: World) -> None:
    await world.ask("mail", {"to": "jo", "cc": "al"})
    page = await world.open("edit")
    result = await world.send(page, to=None)
    assert result == FieldErrors({page.fields[0].id: "is required"})


async def test_an_error_on_another_page_shows_that_page(world: World) -> None:
    """Given a rule over two pages that the last page breaks, when it is sent; then the page with the wrong
    field is shown, with a sentence, and nothing is stored."""
    await world.ask("seven", SEVEN)
    last = await world.turn(await world.turn(await world.open("edit"), n0="9"))
    result = await world.turn(last, n6="66")
    assert (result.ref.page, shown(result)["n0"]) == (0, "9")
    assert result.problem == "Not sent yet: n0 must be at most 5"
    assert (await world.review()).actions[0].is_pending


async def test_an_error_on_its_own_page_does_not_wait_for_the_last_one(world: World) -> None:
    await world.ask("seven", SEVEN)
    first = await world.open("edit")
    assert isinstance(await world.send(first, n1="many"), FieldErrors)


async def test_nothing_changed_is_said_and_nothing_is_stored(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    result = await world.send(await world.open("edit"))
    assert isinstance(result, FormPage)
    assert "Nothing was changed" in result.problem
    assert (await world.review()).actions[0].is_pending


async def test_a_value_that_the_card_quotes_has_an_input_with_several_lines(world: World) -> None:
    """Given a tool without a schema, whose policy says how its body is shown; then its input has several
    lines, however short the text is now."""
    world.use({"send": {"display": {"/body": "email", "/link": "link"}, "must_read": False}})
    await world.ask("send", {"body": "Hi Jo", "to": "jo", "link": "https://a.example"})

    page = await world.open("edit")

    kinds = {each.field.label: each.field.kind for each in page.fields}
    assert kinds == {"body": "long_text", "to": "text", "link": "text"}
    assert isinstance(await world.send(page, body="Hi Jo\n\nBye"), Stored)
    assert (await world.review()).arguments("1").parse()["body"] == "Hi Jo\n\nBye"


async def test_a_removal_is_confirmed_once(world: World) -> None:
    await world.ask("mail", {"to": "jo", "cc": "al"})
    warned = await world.turn(await world.open("edit"), cc=None)
    assert warned.problem == "This removes cc. Send the form again to confirm."
    assert (await world.review()).actions[0].is_pending
    assert isinstance(await world.send(warned), Stored)
    assert (await world.review()).arguments("1").parse() == {"to": "jo"}


async def test_a_submission_that_arrives_twice_counts_once(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    page = await world.open("edit")
    assert isinstance(await world.send(page, to="al"), Stored)
    again = await world.send(page, to="al")
    assert isinstance(again, Notice)
    assert (again.title, again.fixable) == ("Already stored", False)


async def test_a_form_of_an_old_revision_changes_nothing(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    old = await world.open("edit")
    assert isinstance(await world.send(old, to="al"), Stored)
    late = await world.send(old, op="op-2", to="mo")
    assert isinstance(late, Notice)
    assert not late.fixable
    assert (await world.review()).arguments("1").parse() == {"to": "al"}


async def test_a_reason_that_the_policy_requires(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    page = await world.open("reject")
    assert (page.effect, page.fields[0].field.required) == ("The tool does not run.", True)
    blank = await world.form_service.submit(
        page.ref, "form-1", Entries({MESSAGE: "  "}), OPERATOR, "op-1"
    )
    assert isinstance(blank, Notice)
    assert blank.fixable
    half = await world.form_service.submit(
        page.ref, "form-1", Entries({MESSAGE: "\ud800"}), OPERATOR, "op-2"
    )
    assert isinstance(half, FieldErrors)
    assert "half a character" in half.errors[MESSAGE]
    result = await world.form_service.submit(
        page.ref, "form-1", Entries({MESSAGE: "no"}), OPERATOR, "op-3"
    )
    assert isinstance(result, Stored)


async def test_a_card_that_is_not_recorded_escalates_nothing(world: World) -> None:
    await world.ask("mail", {"to": "jo"})
    card = MessageRef(channel="slack", conversation="C0NONE", ts="1.1")
    target = await world.target()
    with pytest.raises(Refused, match="no longer shown here"):
        await world.form_service.open(FormRef("escalate", target, card=card), OPERATOR)


async def test_what_must_be_read_first_opens_no_form(world: World) -> None:
    """Given a policy that wants all of it to be read, and a value that the form does not show whole; then the
    form opens only after the last page of it was shown."""
    await world.ask("long", {"text": "x" * 4_000})
    with pytest.raises(ReadRequired) as unread:
        await world.open("edit")
    first, last = [await world.read(unread.value.unread.target, page) for page in (0, 1)]
    assert first.reads is None
    with pytest.raises(ReadRequired):
        await world.open("edit")
    assert (first.content, last.content) == ("first", "last")
    assert last.reads == unread.value.unread.target
    await world.inbox.access.read_marks.record(unread.value.unread.target, OPERATOR)
    assert (await world.open("edit")).title == "Edit long"


async def test_a_form_that_shows_every_value_whole_counts_as_read(world: World) -> None:
    """Given a policy that wants all of it to be read, when the form shows all of it; then it opens, and what
    is sent is approved."""
    await world.ask("long", {"text": "x", "n": 1})
    form = await world.open("edit")
    assert isinstance(await world.send(form, text="y"), Stored)
    assert (await world.review()).actions[0].decision is not None


async def test_a_text_that_no_input_takes_is_refused_before_any_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a client that sends more than an input takes; then no form reads it, in any of the three ways to
    send, and the person may shorten it."""
    await world.ask("mail", {"to": "jo"})
    edit, reject = await world.open("edit"), await world.open("reject")

    def fail(*_: object) -> None:
        raise AssertionError("it was worked on")

    monkeypatch.setattr(service, "make_review_form", fail)
    long = "\u0430" * 3_001
    for page, label in ((edit, "to"), (reject, "Why?")):
        result = await world.send(page, **{label: long})
        assert isinstance(result, Notice)
        assert result.fixable
        assert "at most 3,000 characters" in result.text
    with pytest.raises(Refused, match="at most 3,000 characters"):
        await world.form_service.redraw(edit.ref, "form-1", entries(edit, to=long), OPERATOR)
    assert (await world.review()).actions[0].is_pending
    assert isinstance(await world.send(reject, **{"Why?": long[:1_000]}), Stored)


async def test_no_form_opens_for_a_call_that_may_have_run(world: World) -> None:
    """Given a release of a review of which an agent says that it has started its call; then nobody types an
    edit that is refused when they send it."""
    await world.ask("mail", {"to": "ada"})
    review = await world.review()
    await world.store.hold_live_reviews()
    await world.store.record_mark(review.id, ran_mark("1"))
    await Reviews(world.store).apply(Release(review.id, OPERATOR, "release"))
    with pytest.raises(Refused, match="may have run as it is"):
        await world.open("edit")
    assert (await world.open("reject")).fields


async def test_what_another_choice_leaves_out_was_not_read(world: World) -> None:
    """Given a call that must be read, and a form of several pages whose first one has a choice, which can
    leave out the others; then the form opens only after all of the call was read."""
    args = {"way": {"kind": "mail", "to": "jo", "note": "n", "body": "b", "end": "e"}}
    await world.ask("letter", args)
    with pytest.raises(ReadRequired):
        await world.open("edit")
    await world.inbox.access.read_marks.record(await world.target(), OPERATOR)
    assert (await world.open("edit")).count == 2


@pytest.mark.parametrize("kind", ["edit", "reject", "respond"])
async def test_no_form_opens_for_a_held_review(world: World, kind: FormKind) -> None:
    """Given a review that is held, with its old card; then nobody fills in a form that nobody can send."""
    await world.ask("mail", {"to": "ada"})
    await world.store.hold_live_reviews()
    with pytest.raises(Refused) as refused:
        await world.open(kind)
    assert refused.value.code == "held"
