"""Errors about a review that hides values contain no key, no value and no word of the agent's schema about
them. The tests put a canary into everything that must stay hidden.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.card import build_card, find_open_action, name_and_arguments, thread_lines
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.forms.edit_form import EditForm
from bot.forms.page import Entries, FormRef
from bot.inbox.press import ActionRef
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.proposal import show_proposals
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.errors import HitlError
from hitl_core.forms import FormErrors
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, Snapshot, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, judge_turn, person

Json = dict[str, Any]
CANARY = "zqx"
KEY, WORD = f"{CANARY}key", f"{CANARY}word"


def review_of(policy: Json, args: Json, tool_schema: Json | None) -> Review:
    judged = judge_turn(
        Policy.from_mapping(policy), [ToolCall("c1", "login", args)], login=tool_schema
    )
    return build_review(ReviewKey("a", "t", "x", None), judged, 1, START)[0]


def rule(**words: Any) -> Json:
    return {"default": "review", "interrupt_on": {"login": words}}


def edit_form(review: Review) -> EditForm:
    ref = FormRef("edit", ActionRef(review.id, "1", 1, review.seal("1", is_whole=True)))
    return EditForm(review, review.actions[0], ref, MODAL_LIMITS)


def read_form(review: Review) -> Iterator[str]:
    """What a person reads who enters something in each field, and nothing, and sends it."""
    form = edit_form(review)
    for page in range(form.session.page_count):
        yield repr(form.at_page(page, draft="").page())
    for typed in ("", "y", "7", "{}", "[]", f'{{"{"new"}": 1}}', "0"):
        entries = Entries({each.id: typed for each in form.page().fields if not each.field.locked})
        try:
            entered = form.enter(entries)
            yield repr(entered.page())
            proposal = entered.proposal()
            yield entered.warning(proposal)
            decisions.decide(review, "1", proposal, person(), START)
        except FormErrors as errors:
            session = form.enter(entries).session
            yield f"{session.error_text(errors)} {session.field_errors(errors)} {errors}"
        except HitlError as error:
            yield str(error)


def read_edit(review: Review, args: Json) -> Iterator[str]:
    """What a person reads who edits in the command line, and what is shown afterwards."""
    proposal = Proposal("edit", 1, args=encode(args))
    snapshot, out = Snapshot(review=review, posts={}, shown={}, now=START), io.StringIO()
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
        show_proposals(snapshot, [(review.actions[0], proposal)])
    yield out.getvalue()
    try:
        yield from read_review(decisions.decide(review, "1", proposal, person(), START).review)
    except HitlError as error:
        yield f"{error} {getattr(error, 'field', '')}"


def read_review(review: Review) -> Iterator[str]:
    snapshot, out = Snapshot(review=review, posts={}, shown={}, now=START), io.StringIO()
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
        for call in review.calls:
            say_call(snapshot, call, rest=None)
    yield out.getvalue()
    yield json.dumps(review_to_json(snapshot, with_args=True))
    for place in review.places:
        yield repr([build_card(review, place), thread_lines(review, place)])
    if review.actions:
        yield repr([find_open_action(review, "1"), name_and_arguments(review, "1")])


def leaks(texts: Iterator[str]) -> list[str]:
    return [text for text in texts if CANARY in text]


CREDS: list[Any] = [
    {"user": "x", KEY: WORD},
    {"user": "x", KEY: 1},
    {"user": {KEY: {"deep": WORD}}},
    [{KEY: WORD}, 3],
    WORD,
]
#: Words of a schema about one value.
LEAVES: list[Json] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "object"},
    {"const": WORD},
    {"enum": ["x", WORD]},
    {"pattern": f"^{WORD}."},
    {"not": {"type": "string"}},
    {"maxProperties": 1},
    {"title": WORD, "description": WORD, "default": WORD, "examples": [WORD]},
    {"required": [f"{CANARY}needed"]},
    {"additionalProperties": {"type": "integer"}},
    {"additionalProperties": False, "properties": {"user": {"type": "string"}}},
    {"unevaluatedProperties": False, "properties": {"user": {}}},
    {"propertyNames": {"pattern": "^u"}},
    {"propertyNames": {"enum": [WORD]}},
    {"patternProperties": {f"^{CANARY}": {"type": "integer"}}},
    {"additionalProperties": {"readOnly": True}},
    {"properties": {KEY: {"readOnly": True}}},
    {"dependentRequired": {"user": [f"{CANARY}needed"], KEY: ["other"]}},
    {"items": {"additionalProperties": False}},
    {"anyOf": [{"const": WORD}, {"type": "object", "required": [f"{CANARY}any"]}]},
    {"oneOf": [{"const": WORD, "title": WORD}, {"const": "y", "title": f"{CANARY} title"}]},
    {"oneOf": [{"properties": {"kind": {"const": WORD}}, "required": ["kind"]},
               {"properties": {"kind": {"const": "b"}, f"{CANARY}b": {}}, "required": ["kind"]}]},
    {"format": WORD},
    {"enum": [{"user": WORD}], "x-enumNames": [WORD]},
    {"if": {"type": "string"}, "then": {"enum": [WORD]}, "else": {"required": [WORD]}},
]  # fmt: skip


@st.composite
def parts(draw: st.DrawFn) -> Json:
    part: Json = {}
    for each in draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=2)):
        part |= each
    wrap = draw(st.sampled_from([None, "allOf", "anyOf"]))
    return {wrap: [part, {}]} if wrap else part


@st.composite
def agents_schemas(draw: st.DrawFn) -> Json:
    """A tool's schema that nobody trusts: its words about hidden and visible arguments have the canary."""
    schema: Json = {"type": "object", "properties": {"creds": draw(parts())}}
    if draw(st.booleans()):
        schema["properties"]["u"] = draw(parts())
    if draw(st.booleans()):
        schema["properties"][f"{CANARY}more"] = draw(parts())
    if draw(st.booleans()):
        schema |= draw(st.sampled_from(LEAVES[9:]))
        schema["properties"].setdefault("creds", {})
    return schema


#: What a policy's schema says of a hidden value and people do read, and what a policy refuses.
SHOWN = ("title", "'format'", "x-enumNames")
EDITS: list[Any] = [{}, {"new": "1"}, "y", 3, None, [], [{}], {KEY: 2}, {"user": ""}]
REDACTED = rule(redact=["/creds"])


@settings(max_examples=80, deadline=None)
@given(creds=st.sampled_from(CREDS), schema=agents_schemas(), new=st.sampled_from(EDITS))
@example(CREDS[0], {"type": "object", "properties": {"u": {}}, "required": [WORD]}, {})
def test_no_text_for_people_has_a_word_of_the_agents_schema(
    creds: Any, schema: Json, new: Any
) -> None:
    """M1, M2, M3: given a hidden value with keys and values that nobody may read, and an agent's schema that
    quotes them anywhere, then no form, error, preview, refusal or card has them."""
    check_all(review_of(REDACTED, {"creds": creds, "u": "x"}, schema), creds, new)


@settings(max_examples=80, deadline=None)
@given(
    creds=st.sampled_from(CREDS),
    part=parts().filter(lambda part: not any(word in str(part) for word in SHOWN)),
    new=st.sampled_from(EDITS),
    is_tools=st.booleans(),
)
def test_no_text_for_people_quotes_a_trusted_schema_about_a_hidden_value(
    creds: Any, part: Json, new: Any, is_tools: bool
) -> None:
    """M1, M2: given a schema of the policy, or of a tool that it trusts, that hides a value and says what is
    in it, then people read the value's name, and nothing of what is in it."""
    schema = {"type": "object", "properties": {"creds": {**part, "writeOnly": True}, "u": {}}}
    trusting = {"default": "review", "trust_tool_schemas": True}
    policy = trusting if is_tools else rule(args_schema=schema)
    review = review_of(policy, {"creds": creds, "u": "x"}, schema if is_tools else None)
    check_all(review, creds, new)


def check_all(review: Review, creds: Any, new: Any) -> None:
    assert review.hides_values
    assert leaks(read_review(review)) == []
    assert leaks(read_form(review)) == []
    edits: list[Json] = [{"creds": creds, "u": "y"}, {"creds": creds, "u": 7}, {"creds": creds}]
    if CANARY not in json.dumps(new):  # what people typed themselves, they may read
        edits += [{"creds": new, "u": "x"}, {"u": "y"}]
    for args in edits:
        assert leaks(read_edit(review, args)) == []
