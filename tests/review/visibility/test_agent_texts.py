"""In a review that hides values, people read no text of the agent, because it could contain a hidden value in
any spelling.
"""

from __future__ import annotations

import io
from typing import Any

import pytest

from bot.card import build_card, find_open_action, thread_lines
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.errors import DecisionError
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DEFAULT_PLACE, Review, Snapshot, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import CallResult, claims, commands, decisions, visible_args
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.visibility import description_of, rule_reason_of, title_of
from tests.support.builders import START, judge_turn, person

SECRET = "4111 1111 1111 1111"
#: Spellings that no search for the value finds.
SPELLINGS = [
    SECRET,
    "4111111111111111",
    "4111-1111-1111-1111",
    "4111\u00a01111\u200b1111 1111",
    "the card that ends in 1111",
    "NDExMSAxMTExIDExMTEgMTExMQ==",
]
HIDES = {"redact": ["/card"]}


def review_of(
    rules: dict[str, Any], *calls: ToolCall, tools: dict[str, Any] | None = None, **config: Any
) -> Review:
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules, **config})
    asked = judge_turn(policy, list(calls), **(tools or {}))
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def with_texts(review: Review, text: str) -> Review:
    """The review, of whose first action the agent's texts are this."""
    action = review.actions[0]
    request = action.request.model_copy(
        update={"description": text, "title": text, "by_agent": True}
    )
    actions = (action.model_copy(update={"request": request}), *review.actions[1:])
    return review.model_copy(update={"actions": actions})


def everything_shown(review: Review) -> str:
    """On the card, in its modals and thread, and on the command line, also as JSON."""
    open_actions = [find_open_action(review, action.key) for action in review.actions]
    lines = thread_lines(review, DEFAULT_PLACE)
    snapshot, printed = Snapshot(review=review, posts={}, shown={}, now=START), io.StringIO()
    for each in review.calls:
        say_call(snapshot, each, rest=None, to=printed)
    on_the_terminal = [printed.getvalue(), review_to_json(snapshot, with_args=True)]
    return repr([build_card(review, DEFAULT_PLACE), open_actions, lines, on_the_terminal])


@pytest.mark.parametrize("text", SPELLINGS)
@pytest.mark.parametrize("hides_it", ["pay", "other"])
def test_promise_8_no_text_of_an_agent_is_shown_beside_hidden_values(
    text: str, hides_it: str
) -> None:
    """Given a review of two calls of which one hides a value, also another one than the text is about; then
    no description, title, result or reason of the agent is shown, and the card says so."""
    calls = (ToolCall("c1", "pay", {"card": SECRET}), ToolCall("c2", "other", {"card": SECRET}))
    review = with_texts(review_of({hides_it: HIDES}, *calls), f"Uses {text}.")
    assert review.hides_values
    assert description_of(review, review.actions[0]) is None
    assert title_of(review, review.actions[0]) is None
    shown = everything_shown(review)
    assert f"Uses {text}." not in shown
    assert "Its description is not shown, because this review has hidden values." in shown
    for result in (CallResult.of(f"Paid with {text}"), CallResult.failure(f"No {text}")):
        assert text not in str(result.to_run(review, None, START).line)
    cancelled, event = commands.cancel(review, None, f"Wrong card, {text}", START)
    assert f"Wrong card, {text}" not in everything_shown(cancelled) + str(event.why)


def test_a_review_without_hidden_values_shows_the_agents_texts() -> None:
    """A rule that would hide a value which this call doesn't have hides no text."""
    review = with_texts(review_of({"pay": HIDES}, ToolCall("c1", "pay", {"n": 1})), "Pays it.")
    assert not review.hides_values
    assert "Pays it." in everything_shown(review)
    assert CallResult.of("Paid.\nThanks").to_run(review, None, START).line == "Paid."


def test_what_code_wrote_of_hidden_arguments_is_not_shown() -> None:
    """The policy's own fixed words stay; those that its Python code made of the arguments don't."""
    said = {**HIDES, "description": lambda args: f"Pays with {args['card']}"}
    review = review_of({"pay": said}, ToolCall("c1", "pay", {"card": SECRET}))
    assert SECRET not in everything_shown(review)
    assert rule_reason_of(review, review.calls[0]) == ""
    fixed = {**HIDES, "description": "Pays. Call the customer first."}
    review = review_of({"pay": fixed}, ToolCall("c1", "pay", {"card": SECRET}))
    assert "Pays. Call the customer first." in everything_shown(review)


@pytest.mark.parametrize("hides", [{}, HIDES])
def test_a_reason_by_an_overriding_context_is_the_agents(hides: dict[str, Any]) -> None:
    """Given a policy that a context may override, then the context's description is no reason of the
    policy: it is quoted as the agent's, and withheld where values are hidden."""
    policy = Policy.from_mapping(
        {"default": "review", "allow_override": True, "interrupt_on": {"pay": hides}}
    )
    run = policy.for_run({"interrupt_on": {"pay": {"description": f"Security knows {SECRET}"}}})
    judged = judge_turn(run, [ToolCall("c1", "pay", {"card": SECRET})])
    review = build_review(ReviewKey("a", "t", "x", None), judged, 1, START)[0]
    shown = everything_shown(review)
    if hides:
        assert SECRET not in shown
        assert "the reason is not shown, because this review has hidden values" in shown
    else:
        assert f"the agent says “Security knows {SECRET}”" in shown
        assert find_open_action(review, "1").rule == ()


def test_what_code_wrote_of_another_call_is_not_shown_either() -> None:
    """The reason of a call is withheld also if only another call of the review hides a value."""
    says = {"description": lambda _: f"Uses {SECRET}"}
    calls = (ToolCall("c1", "pay", {"n": 1}), ToolCall("c2", "other", {"card": SECRET}))
    assert SECRET not in everything_shown(review_of({"pay": says, "other": HIDES}, *calls))


def test_an_edit_that_brings_a_hidden_value_hides_the_texts_and_one_that_removes_it_shows_none() -> (
    None
):
    review = with_texts(review_of({"pay": HIDES}, ToolCall("c1", "pay", {"n": 1})), "Pays it.")
    ada = person("Ada")
    edit = Proposal("edit", 1, args=encode({"n": 1, "card": SECRET}))
    review = decisions.decide(review, "1", edit, ada, START + 1).review
    assert review.hides_values
    assert "Pays it." not in everything_shown(review)


WRITE_ONLY = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "password": {"type": "string", "writeOnly": True}},
}
LOGIN = ToolCall("c1", "login", {"user": "bob", "password": "hunter2secret"})
CONTEXTS: dict[str, Any] = {
    "none": None,
    "asks": {"interrupt_on": {"login": True}},
    "has a schema": {
        "interrupt_on": {"login": {"args_schema": {"properties": {"user": {"minLength": 1}}}}}
    },
    "has fewer decisions": {
        "interrupt_on": {"login": {"allowed_decisions": ["approve", "reject"]}}
    },
}


@pytest.mark.parametrize("default", ["allow", "review"])
@pytest.mark.parametrize("override", [False, True])
@pytest.mark.parametrize("own", ["no rule", "a rule", "a rule with a schema"])
@pytest.mark.parametrize("context", CONTEXTS)
def test_promise_12_no_context_shows_what_a_trusted_tool_hides(
    default: str, override: bool, own: str, context: str
) -> None:
    """Given a policy that trusts its tools' schemas; then whatever the run's context adds, and whatever
    schema the policy's rule has, what the tool marks `writeOnly` stays hidden, also of a call that needs no
    person."""
    schema = {"args_schema": {"type": "object", "properties": {"user": {"type": "string"}}}}
    rules = {"no rule": {}, "a rule": {"login": {}}, "a rule with a schema": {"login": schema}}
    policy = Policy.from_mapping(
        {
            "default": default,
            "trust_tool_schemas": True,
            "allow_override": override,
            "interrupt_on": rules[own],
        }
    )
    if CONTEXTS[context]:
        policy = policy.for_run(CONTEXTS[context])
    asked = judge_turn(policy, [LOGIN], login=WRITE_ONLY)
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    assert "hunter2secret" not in everything_shown(review)
    assert visible_args(review, review.calls[0]) == {"user": "bob", "password": "(hidden)"}
    assert review.hides_values


def test_promise_8_an_allowed_call_in_doubt_shows_no_hidden_value() -> None:
    """Given a call that needs nobody, of a tool whose schema the policy trusts; when its process dies, then
    the card that asks about it hides what the tool hides."""
    review = review_of(
        {}, LOGIN, tools={"login": WRITE_ONLY}, default="allow", trust_tool_schemas=True
    )
    review = claims.claim(review, "p1", START, 30).review
    review = claims.start(review, review.fence, "1", START).review
    review = claims.expire_lease(review, START + 31).review
    assert [call.key for call in review.calls_in_doubt] == ["1"]
    shown = repr(build_card(review, DEFAULT_PLACE))
    assert "bob" in shown
    assert "hunter2secret" not in shown


@pytest.mark.parametrize("own", [{"properties": {"n": {"maximum": 5}}}, {"required": ["user"]}])
def test_promise_12_a_contexts_schema_replaces_no_check_of_a_tool(own: dict[str, Any]) -> None:
    """Given a tool that checks its arguments and a policy without a schema; when the context has one, then
    both check."""
    context = {"interrupt_on": {"act": {"args_schema": {"properties": {"user": {"minLength": 1}}}}}}
    policy = Policy.from_mapping({"default": "review"}).for_run(context)
    asked = judge_turn(policy, [ToolCall("c1", "act", {"user": "bob", "n": 1})], act=own)
    schema = str(asked.rulings[0].args_schema)
    assert str(own)[1:-1] in schema
    assert "minLength" in schema


@pytest.mark.parametrize(
    "keyword",
    [
        {"additionalProperties": False},
        {"propertyNames": {"pattern": "^y"}},
        {"dependentRequired": {"hunter2": ["b"]}},
        {"additionalProperties": {"type": "integer"}},
    ],
)
def test_promise_8_a_refused_edit_names_no_key_of_a_hidden_value(keyword: dict[str, Any]) -> None:
    rules = {"pay": {"redact": ["/card"], "args_schema": {"properties": {"card": keyword}}}}
    review = review_of(rules, ToolCall("c1", "pay", {"card": {"hunter2": "x"}}))
    edit = Proposal("edit", 1, args=encode({"card": {"hunter2": "x"}, "n": 1}))
    with pytest.raises(DecisionError) as refused:
        decisions.decide(review, "1", edit, person("Ada"), START + 1)
    assert "hunter2" not in f"{refused.value} {refused.value.field}"
    assert "/card: is hidden, and its value is not valid" in str(refused.value)
