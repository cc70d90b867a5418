"""Forms from opening to the decision, in a channel made for this test, with three fields on a page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.channels.contract import Channel
from bot.channels.registry import Channels
from bot.forms import (
    MESSAGE,
    Entries,
    FieldErrors,
    FormKind,
    FormLimits,
    FormPage,
    FormRef,
    FormResult,
    FormService,
    Notice,
    Stored,
    service,
)
from bot.inbox import ActionRef, ArgumentsPage, Inbox, ReadRequired
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import Refused
from hitl_core.model import CLI, MessageRef, Review, Reviewer
from hitl_core.review import Release, Reviews, ran_mark
from hitl_core.store import MemoryStore

Json = dict[str, Any]

LIMITS = FormLimits(page_fields=3, page_bytes=20_000)
#: The operator needs no look-up, so the channel is asked for nothing.
OPERATOR = Reviewer(channel=CLI, team="host", id="root", name="root")
CHANNEL = SimpleNamespace(
    name="memory",
    team="T0",
    person=None,
    group_members=None,
    conversation_members=None,
    conversation_size=None,
)
TEXT: Json = {"type": "string"}
SEVEN = {f"n{at}": at for at in range(7)}
RULES: Json = {
    "seven": {
        "must_read": False,
        "args_schema": {
            "properties": {name: {"type": "integer"} for name in SEVEN},
            "if": {"properties": {"n6": {"const": 66}}},
            "then": {"properties": {"n0": {"maximum": 5}}},
        },
    },
    "mail": {
        "must_read": False,
        "args_schema": {"properties": {"to": TEXT, "cc": TEXT}, "required": ["to"]},
        "allowed_decisions": ["approve", "edit", "reject", "respond"],
        "reject_reason": "required",
        "escalate": [{"after": "1h", "to": "slack:#team-ops"}],
    },
    "long": {"must_read": True},
    "letter": {
        "must_read": True,
        "args_schema": {
            "properties": {
                "way": {
                    "oneOf": [
                        {
                            "title": "Mail",
                            "properties": {
                                "kind": {"const": "mail"},
                                **dict.fromkeys(("to", "note", "body", "end"), TEXT),
                            },
                        },
                        {"title": "Post", "properties": {"kind": {"const": "post"}, "zip": TEXT}},
                    ]
                }
            },
            "required": ["way"],
        },
    },
    "rate": {
        "answer_schema": {"enum": [f"o{at}" for at in range(9)]},
        "allowed_decisions": ["respond"],
    },
    "perhaps": {
        "must_read": False,
        "allowed_decisions": ["respond"],
        "answer_schema": {"type": ["string", "null"]},
    },
    "tag": {
        "answer_schema": {
            "type": "object",
            "properties": {"tags": {"type": "array", "items": {"enum": ["x", "y"]}}},
            "required": ["tags"],
        },
        "allowed_decisions": ["respond"],
    },
    "contact": {
        "must_read": False,
        "args_schema": {
            "properties": {
                "way": {
                    "oneOf": [
                        {"title": "Mail", "properties": {"kind": {"const": "mail"}, "to": TEXT}},
                        {"title": "Post", "properties": {"kind": {"const": "post"}, "zip": TEXT}},
                    ]
                }
            },
            "required": ["way"],
        },
    },
}


class World:
    """An agent, a store, and a bot that may be started again."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.use(RULES)
        self.restart()

    def use(self, rules: Json) -> None:
        """Submit by these rules from now on."""
        policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
        self._gate = Gate(self.store, policy=policy, agent="agent")

    def restart(self) -> None:
        directory = Directory(Channels(cast(Channel, CHANNEL)))
        self.inbox = Inbox(Reviews(self.store), directory)
        self.form_service = FormService(self.inbox, LIMITS, str)

    async def ask(self, name: str, args: Json, **more: Any) -> None:
        self._id = await self._gate.submit([ToolCall("c1", name, args)], thread_id=name, **more)

    async def review(self) -> Review:
        return (await Reviews(self.store).load(self._id)).review

    async def target(self) -> ActionRef:
        """As if no card showed a call completely."""
        review = await self.review()
        seal = review.seal("1", is_whole=False)
        return ActionRef(review.id, "1", review.actions[0].revision, seal)

    async def read(self, target: ActionRef, page: int) -> ArgumentsPage[str]:
        pages = ["first", "last"]
        return await self.inbox.reader.arguments(target, page, OPERATOR, lambda _: pages)

    async def open(self, kind: FormKind) -> FormPage:
        return await self.form_service.open(FormRef(kind, await self.target()), OPERATOR)

    async def send(self, page: FormPage, op: str = "op-1", **typed: str | None) -> FormResult:
        return await self.form_service.submit(
            page.ref, "form-1", entries(page, **typed), OPERATOR, op
        )

    async def turn(self, page: FormPage, **typed: str | None) -> FormPage:
        result = await self.form_service.submit(
            page.ref, "form-1", entries(page, **typed), OPERATOR, "op-1"
        )
        assert isinstance(result, FormPage)
        return result


@pytest.fixture
def world() -> World:
    return World()


def entries(page: FormPage, **typed: str | None) -> Entries:
    """What the channel gives back: what the inputs showed, and what was typed, by label."""
    return Entries(
        {
            each.id: typed.get(each.field.label, each.field.initial)
            for each in page.fields
            if each.field.locked is None
        }
    )


def shown(page: FormPage) -> dict[str, str | None]:
    return {each.field.label: each.field.initial for each in page.fields}


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
