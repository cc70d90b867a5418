"""Sagents beyond approvals: questions to a person, and several interrupts in one."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card.actions import choices_of
from hitl_core import dialects
from hitl_core.errors import DecisionError, DialectError, Refused, UnsupportedByDialect
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.dialects.answers import read_answers
from tests.support.builders import person

ADA = person("Ada")
SAGENTS = dialects.get("sagents")


def option(value: str) -> dict[str, Any]:
    return {"label": value.title(), "value": value, "description": None}


def question(kind: str = "single_select", **more: Any) -> dict[str, Any]:
    """As https://hexdocs.pm/sagents/Sagents.Middleware.AskUserQuestion.html has it, as JSON."""
    options = [] if kind == "freeform" else [option("red"), option("blue")]
    return {
        "type": "ask_user_question",
        "question": "Which colour?",
        "response_type": kind,
        "options": options,
        "allow_other": False,
        "allow_cancel": True,
        "context": None,
        "tool_call_id": "q1",
        **more,
    }


def approval(id: str, *allowed: str) -> dict[str, Any]:
    return {
        "action_requests": [{"tool_call_id": id, "tool_name": "write", "arguments": {"n": 1}}],
        "review_configs": {"write": {"allowed_decisions": list(allowed or ("approve", "reject"))}},
    }


def review_of(wire: Any) -> Review:
    asked = SAGENTS.load_request(wire, "t")
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, 1.0)[0]


def resume_with(wire: Any, *proposals: Proposal) -> Any:
    """What Sagents resumes with, after these decisions in the order of the actions."""
    review = review_of(wire)
    for action, proposal in zip(review.actions, proposals, strict=True):
        review = decisions.decide(review, action.key, proposal, ADA, 2.0).review
    return SAGENTS.dump_decisions(review)


def respond(answer: Any, message: str | None = None) -> Proposal:
    return Proposal("respond", 1, message, answer=answer)


SKIP = Proposal("ignore", 1)


def test_a_question_is_known_and_becomes_one_that_is_answered() -> None:
    wire = question(context="For the logo.")
    assert dialects.is_interrupt(wire)
    assert dialects.detect(wire) == "sagents"
    [action] = review_of(wire).actions
    assert (action.request.name, action.request.tool_call_id) == ("ask_user", "q1")
    assert action.request.description == "Which colour?\n\nFor the logo."
    assert action.config.allowed_decisions == ("respond", "ignore")
    assert action.config.answer_schema == {
        "anyOf": [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]
    }


@pytest.mark.parametrize(
    ("wire", "proposal", "answer"),
    [
        (question(), respond("red"), {"type": "answer", "selected": ["red"]}),
        (question(), Proposal("respond", 1, "red"), {"type": "answer", "selected": ["red"]}),
        (
            question(allow_other=True),
            respond("green"),
            {"type": "answer", "selected": ["other"], "other_text": "green"},
        ),
        (
            question("multi_select"),
            respond(["blue", "red"]),
            {"type": "answer", "selected": ["blue", "red"]},
        ),
        (
            question("multi_select", allow_other=True),
            respond(["blue", "green"]),
            {"type": "answer", "selected": ["blue", "other"], "other_text": "green"},
        ),
        (
            question("freeform"),
            respond("Any of them."),
            {"type": "answer", "other_text": "Any of them."},
        ),
        (question(), SKIP, {"type": "cancel"}),
    ],
)
def test_an_answer_goes_out_as_sagents_takes_it_and_comes_back_the_same(
    wire: Any, proposal: Proposal, answer: Any
) -> None:
    assert resume_with(wire, proposal) == answer
    assert dialects.detect(answer) == "sagents"
    assert not dialects.is_interrupt(answer)
    review = review_of(wire)
    [again] = read_answers(SAGENTS, answer, review).values()
    assert again.type == proposal.type
    assert again.answer == (proposal.answer if proposal.message is None else proposal.message)


def test_a_choice_may_say_more_than_the_option() -> None:
    wire = {"type": "answer", "selected": ["red"], "other_text": "a dark one"}
    [text] = read_answers(SAGENTS, wire, review_of(question())).values()
    assert (text.answer, text.message) == ("red", "a dark one")
    assert resume_with(question(), text) == wire


@pytest.mark.parametrize(
    ("wire", "answer", "says"),
    [
        (question(), {"type": "answer", "selected": ["green"]}, "must be one of: red, blue"),
        (question(), {"type": "answer", "selected": []}, "requires exactly one selection"),
        (question(), {"type": "answer", "selected": ["other"]}, "'other' is not allowed"),
        (question("multi_select"), {"type": "answer"}, "at least one selection"),
        (question("freeform"), {"type": "answer"}, "requires 'other_text' field"),
        (question("freeform"), {"type": "answer", "other_text": 7}, "must be a string"),
        (question(allow_cancel=False), {"type": "cancel"}, "Cancellation is not allowed"),
        (question(), {"type": "approve"}, "Invalid response format"),
        (question(), "red", "Invalid response format"),
    ],
)
def test_a_bad_answer_is_named_and_changes_nothing(wire: Any, answer: Any, says: str) -> None:
    with pytest.raises(DecisionError, match=says) as caught:
        read_answers(SAGENTS, answer, review_of(wire))
    assert (caught.value.index, caught.value.tool) == (0, "ask_user")


@pytest.mark.parametrize(
    "wire",
    [
        question(question=""),
        question("slider"),
        question(options=[]),
        question(options=[{"label": "x"}]),
        question("freeform", options=[option("red")]),
        {"type": "multiple_interrupts", "interrupts": [question(), {"type": "halt"}]},
        {"type": "multiple_interrupts", "interrupts": []},
        {"type": "multiple_interrupts"},
    ],
)
def test_what_is_no_question_is_refused(wire: Any) -> None:
    with pytest.raises(DialectError):
        SAGENTS.load_request(wire, "t")


def test_a_question_that_we_made_ourselves_can_be_asked_there() -> None:
    """It is the same when it comes back."""
    for kind in ("single_select", "multi_select", "freeform"):
        review = review_of(question(kind))
        wire = SAGENTS.dump_request(review)
        assert wire["response_type"] == kind
        [action] = review_of(wire).actions
        assert action.config == review.actions[0].config


SEVERAL = {
    "type": "multiple_interrupts",
    "interrupts": [
        {"type": "subagent_hitl", "task_name": "first", "interrupt_data": approval("c1")},
        question(),
        approval("c2", "approve", "edit"),
    ],
}


def test_several_interrupts_in_one_are_one_request_and_a_list_of_answers() -> None:
    """Given three that wait at once, then what goes out is a list with an answer for each, and the question's
    names its call, because Sagents finds it by that."""
    assert dialects.detect(SEVERAL) == "sagents"
    assert SAGENTS.load_request(SEVERAL, "t").path == ()  # each came another way
    answers = resume_with(SEVERAL, Proposal("approve", 1), respond("red"), Proposal("approve", 1))
    assert answers == [
        [{"type": "approve"}],
        {"type": "answer", "selected": ["red"], "tool_call_id": "q1"},
        [{"type": "approve"}],
    ]
    assert dialects.detect(answers) == "sagents"
    read = read_answers(SAGENTS, answers, review_of(SEVERAL))
    assert [proposal.type for proposal in read.values()] == ["approve", "respond", "approve"]
    assert len(dialects.split(SEVERAL)) == 3


def test_several_interrupts_of_a_sub_agent_have_an_answer_each() -> None:
    """Given a sub-agent two of whose own sub-agents wait at once; then the answer to one is no part of the
    answer to the other."""
    inner = [
        {"type": "subagent_hitl", "task_name": name, "interrupt_data": approval(call)}
        for name, call in (("in", "c1"), ("also in", "c2"))
    ]
    data = {"type": "multiple_interrupts", "interrupts": inner}
    wire = {"type": "subagent_hitl", "task_name": "out", "interrupt_data": data}

    answers = resume_with(wire, Proposal("approve", 1), Proposal("reject", 1))

    assert answers == [[{"type": "approve"}], [{"type": "reject"}]]


def test_the_list_must_have_an_answer_for_each() -> None:
    review = review_of(SEVERAL)
    with pytest.raises(DecisionError, match=r"Decision count \(1\) does not match"):
        read_answers(SAGENTS, [[{"type": "approve"}]], review)
    bad = [[{"type": "approve"}], {"type": "cancel"}, [{"type": "reject"}]]
    with pytest.raises(DecisionError, match="'reject' not allowed for tool 'write'") as caught:
        read_answers(SAGENTS, bad, review)
    assert caught.value.index == 2


def test_a_question_that_waits_has_no_answer_yet() -> None:
    with pytest.raises(Refused):
        SAGENTS.dump_decisions(review_of(question()))


def test_a_sub_agents_interrupt_goes_out_as_it_came_in() -> None:
    """In all of its wrappers, whose names are also in `path`."""
    inner = {**approval("c1"), "hitl_tool_call_ids": ["c1"]}
    names = {"type": "subagent_hitl", "sub_agent_id": "s2", "task_name": "in", "tool_call_id": "t2"}
    wire = {
        "type": "subagent_hitl",
        "sub_agent_id": "s1",
        "task_name": "out",
        "interrupt_data": {**names, "interrupt_data": inner},
    }
    out = SAGENTS.dump_request(review_of(wire))
    assert {**out, "interrupt_data": None} == {**wire, "interrupt_data": None}
    assert {**out["interrupt_data"], "interrupt_data": None} == {**names, "interrupt_data": None}
    assert SAGENTS.load_request(out, "t").path == ("out", "in")
    assert SAGENTS.load_request(out, "t").calls == SAGENTS.load_request(wire, "t").calls


@pytest.mark.parametrize("ids", [["c2"], ["c2", "c1"], ["c1", "c2", "c3"], [], None, "c1"])
@pytest.mark.parametrize("inside", [False, True])
def test_an_approval_is_about_all_calls_that_sagents_asks_about(ids: Any, inside: bool) -> None:
    """attack 7, M7: given an interrupt that asks people about other calls than `hitl_tool_call_ids` names,
    then it is refused, because Sagents approves by itself what is not there."""
    both = {"action_requests": [approval(id)["action_requests"][0] for id in ("c1", "c2")]}
    wire: dict[str, Any] = {**approval("c1"), **both, "hitl_tool_call_ids": ids}
    if inside:
        wire = {"type": "subagent_hitl", "task_name": "in", "interrupt_data": wire}
    with pytest.raises(DialectError, match="`hitl_tool_call_ids` must be the `tool_call_id`s"):
        SAGENTS.load_request(wire, "t")


def test_with_an_option_called_other_no_free_text_is_possible() -> None:
    """Selecting it means that option: nothing else can be answered, by a person or by
    a deadline."""
    wire = question(allow_other=True, options=[option("other"), option("blue")])
    assert review_of(wire).actions[0].config.answer_schema == {
        "anyOf": [{"const": "other", "title": "Other"}, {"const": "blue", "title": "Blue"}]
    }
    assert resume_with(wire, respond("other")) == {"type": "answer", "selected": ["other"]}
    message = {"type": "answer", "selected": ["green"]}
    with pytest.raises(DecisionError):
        read_answers(SAGENTS, message, review_of(wire))


def test_an_approval_among_questions_is_answered_as_one() -> None:
    """Given an approval that takes a response only, which Sagents can't express: it
    is not a question."""
    wire = approval("c1", "respond")
    with pytest.raises(UnsupportedByDialect):
        resume_with(wire, Proposal("respond", 1, "why"))


@pytest.mark.parametrize("kind", ["single_select", "multi_select"])
def test_people_read_the_labels_of_a_question_and_its_values_go_back(kind: str) -> None:
    """Given options with labels; then people choose by these, and the answer is the
    value."""
    options = [{"label": "Keep it", "value": "v1"}, {"label": "Delete it", "value": "v2"}]
    wire = question(kind, options=options)
    [action] = review_of(wire).actions
    if kind == "single_select":
        assert [each.label for each in choices_of(action.config)] == ["Keep it", "Delete it"]
    given = "v2" if kind == "single_select" else ["v2"]
    reason = resume_with(wire, Proposal("respond", 1, answer=given))
    assert reason == {"type": "answer", "selected": ["v2"]}


@pytest.mark.parametrize("kind", ["single_select", "multi_select"])
def test_a_label_is_no_answer(kind: str) -> None:
    wire = question(kind, options=[{"label": "Keep it", "value": "v1"}])
    given = "Keep it" if kind == "single_select" else ["Keep it"]
    with pytest.raises(Refused):
        resume_with(wire, Proposal("respond", 1, answer=given))
