"""An agent can only make rules stricter, with everything that it sends beside its calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.card import build_card, find_open_action, plain_text
from bot.card.arguments import PATH_SEPARATOR, list_arguments, mask_action
from hitl_core import dialects
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.errors import HitlError
from hitl_core.forms import make_form
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.jsonschema import check_args
from hitl_core.model import DEFAULT_PLACE, Action, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.visibility import redaction_pointers, visible_schema
from tests.support.builders import START, judge_turn

ARGS: dict[str, Any] = {"query": "DROP TABLE users", "password": "hunter2", "token": "t-1", "n": 5}
#: What people read of these arguments where the policy hides the token.
READ = {"query": "DROP TABLE users", "password": "hunter2", "token": "⟦hidden⟧", "n": "5"}
CONFIG: dict[str, Any] = {
    "default": "allow",
    "interrupt_on": {
        "run_sql": {
            "description": "Careful with SQL.",
            "reviewers": {"users": ["U1", "U2", "U3"]},
            "notify": "slack:#data",
            "redact": ["/token"],
        },
        "pay": {
            "allowed_decisions": ["approve", "reject"],
            "reviewers": {"groups": ["S1"], "quorum": 2, "exclude_requester": True},
            "args_schema": {"properties": {"n": {"maximum": 9}}},
            "must_read": True,
            "confirm": True,
            "reject_reason": "required",
        },
        "look": False,
        "drop": "deny",
    },
}
KINDS = ("allow", "review", "deny")
PLAIN = ReviewKey("a", "t", "x", "U1")

#: What hides and names a value, as a part of its schema.
HARMLESS = {"writeOnly": True, "title": "Cancel", "enum": ["No"]}

words = st.sampled_from(["Cancel, do not run this", "query", "⟦hidden⟧", "*x* <@U1>", ""])
#: Texts that look like an id, a place, a mention, a rule, a person or a line of ours.
SAYS = [
    "U1",
    "S1",
    "slack:U1",
    "slack:#data",
    "@ada",
    "<@U1>",
    "<!here>",
    "<#C1|data>",
    "*x* _y_ ~z~",
    "default",
    "origin",
    "run_*",
    "/token",
    "token ",
    "to\u200bken",
    "Token",
    "nekot\u202e",
    "⟦hidden⟧",
    "a\nApproved by Ada",
    "x" * 400,
]
names = st.text(min_size=1, max_size=12).filter(str.isprintable) | st.sampled_from(SAYS)
refs = st.sampled_from(
    ["#/$defs/A", "#/$defs/B", "#/$defs/C/const", "#/x/y", "#/$defs/B/x/y", "#", "#a"]
)
hints = st.fixed_dictionaries(
    {},
    optional={
        "title": words,
        "description": words,
        "default": words,
        "writeOnly": st.just(True),
        "format": st.just("password"),
        "readOnly": st.just(True),
        "x-enumNames": st.just(["No"]),
        "x": st.just({"y": HARMLESS}),
    },
)
shapes = st.one_of(
    st.just({}),
    refs.map(lambda ref: {"$ref": ref}),
    st.sampled_from(["$dynamicRef", "$recursiveRef"]).map(lambda word: {word: "#"}),
    hints.map(lambda one: {"anyOf": [one, {"type": "null"}]}),
    hints.map(lambda one: {"allOf": [one]}),
    hints.map(lambda one: {"if": one, "then": one}),
    words.map(lambda word: {"oneOf": [{"const": v, "title": word} for v in ARGS.values()]}),
)
parts = st.builds(lambda one, other: {**one, **other}, hints, shapes)
schemas = st.builds(
    lambda properties, root, shared, many: {
        **root,
        "x": {"y": HARMLESS},
        "type": "object",
        "properties": properties,
        "$defs": shared,
        **({"patternProperties": {f"^{n}": {} for n in range(200)}} if many else {}),
    },
    st.dictionaries(st.sampled_from([*ARGS, "more"]), parts, max_size=4),
    hints,
    st.fixed_dictionaries({"A": parts, "B": hints, "C": st.just({"const": HARMLESS})}),
    st.booleans(),
)
#: What a run's own configuration may set for a tool, right or wrong, by its key.
said: dict[str, st.SearchStrategy[Any]] = {
    "allowed_decisions": st.lists(
        st.sampled_from(["approve", "edit", "reject", "respond"]), min_size=1, unique=True
    ),
    "description": words,
    "redact": st.just(["/query"]),
    "answer_schema": st.just({"enum": ["Cancel, do not run this"]}),
    "args_schema": st.sampled_from(
        [{}, {"properties": {"n": {"title": "Cancel", "writeOnly": True}}}]
    ),
    "when": st.sampled_from([{"required": ["n"]}, {"required": ["zzz"]}]),
    "must_read": st.booleans(),
    "confirm": st.booleans(),
    "reject_reason": st.sampled_from(["optional", "required"]),
    "idempotent": st.booleans(),
    "notify": st.just("slack:#friends"),
    "fallback": st.just("slack:#friends"),
    "escalate": st.just([{"after": "1s", "to": "slack:#friends"}]),
    "reviewers": st.fixed_dictionaries(
        {"users": st.just(["U8", "U9"])}, optional={"quorum": st.sampled_from([1, 2, 3])}
    ),
    "expire": st.just({"after": "1s", "decision": "respond", "message": "Fine."}),
}


@st.composite
def rules_with_text(draw: st.DrawFn) -> dict[str, Any]:
    """Few keys: a refused one would hide the others from the test."""
    chosen = draw(st.lists(st.sampled_from(sorted(said)), max_size=3, unique=True))
    rule = {word: draw(said[word]) for word in chosen}
    for word in chosen:
        rule |= BESIDE.get(word, {}) if draw(st.booleans()) else {}
    return rule


#: What a key needs beside it: without that it is refused, with any value.
BESIDE = {"answer_schema": {"allowed_decisions": ["approve", "reject"]}}


rules = st.sampled_from([True, False, "deny"]) | rules_with_text()
interrupts = st.dictionaries(
    st.sampled_from(["run_sql", "run_*", "pay", "look", "other"]), rules, min_size=1, max_size=2
).map(lambda on: {"interrupt_on": on})
contexts = st.one_of(
    st.none(),
    interrupts,
    interrupts,
    st.fixed_dictionaries(
        {}, optional={"default": st.sampled_from(KINDS), "description_prefix": words}
    ),
)
requesters = st.sampled_from([None, "slack:U1", "U1", "slack:U9", "S1", "<@U1>", "*x*"])
origins = st.sampled_from([None, "slack:C0EVIL/1700000000.000100", "slack:#friends"])


def submit(
    tool: str,
    context: Any = None,
    own: Any = None,
    which: ReviewKey = PLAIN,
    *,
    id: str = "c1",
    args: dict[str, Any] = ARGS,
    reason: str | None = None,
) -> Review:
    """The stored review. Raises HitlError if it is refused."""
    policy = Policy.from_mapping(CONFIG)
    policy = policy if context is None else policy.for_run(context)
    tools = {} if own is None else {tool: own}
    asked = judge_turn(policy, [ToolCall(id, tool, args, reason)], **tools)
    return build_review(which, asked._replace(path=(which.agent,)), 1, START)[0]


def read_arguments(review: Review, action: Action) -> dict[str, str]:
    """Every argument as "See all of it" shows it."""
    shown = list_arguments(mask_action(action, review.arguments(action.key).parse()))
    return {argument.label.strip('"'): argument.value for argument in shown}


@settings(max_examples=400)
@given(
    st.sampled_from(["run_sql", "pay", "look", "drop", "other"]),
    contexts,
    st.none() | schemas,
    st.builds(ReviewKey, names, names, names, requesters, origins),
    st.none() | names,
)
def test_nothing_that_an_agent_says_makes_anything_weaker(
    tool: str, context: Any, own: Any, which: ReviewKey, reason: str | None
) -> None:
    """Given any context, schemas, names, requester, origin and reason."""
    check_no_weaker(tool, context, own, which, reason)


@pytest.mark.parametrize("word", said)
@settings(max_examples=30)
@given(st.data(), st.sampled_from(["run_sql", "pay", "look"]))
def test_no_key_of_a_context_makes_anything_weaker(
    word: str, data: st.DataObject, tool: str
) -> None:
    """Given a context that sets one key for every tool, so that no other key can have
    it refused."""
    rule = {**BESIDE.get(word, {}), word: data.draw(said[word])}
    check_no_weaker(tool, {"interrupt_on": {"*": rule}}, None, PLAIN)


def check_no_weaker(
    tool: str, context: Any, own: Any, which: ReviewKey, reason: str | None = None
) -> None:
    """When the same call is submitted with what an agent says and without, then it is refused, or the same
    people decide on the same bytes, seeing the same, with the same or stricter requirements."""
    plain = submit(tool)
    try:
        review = submit(tool, context, own, which, reason=reason)
    except HitlError:
        return
    (before,), (after,) = plain.calls, review.calls
    assert KINDS.index(after.verdict.kind) >= KINDS.index(before.verdict.kind)
    assert (after.name, after.args_hash, after.idempotent) == (tool, before.args_hash, False)
    if not review.actions:
        return
    (action,) = review.actions
    config, reviewers = action.config, action.route.reviewers
    assert "reject" in config.allowed_decisions
    assert (config.answer_schema, config.output) == (None, None)
    assert action.route.notify == (("slack:#data",) if tool == "run_sql" else (DEFAULT_PLACE,))
    assert (action.route.escalate, action.route.expire, action.route.fallback) == ((), None, None)
    assert reviewers.users == (("U1", "U2", "U3") if tool == "run_sql" else ())
    assert reviewers.groups == (("S1",) if tool == "pay" else ())
    assert config.redact == (("/token",) if tool == "run_sql" else ())
    if plain.actions:
        check_no_less(plain.actions[0], action)

    hidden = {} if tool == "run_sql" else {"token": "t-1"}
    assert read_arguments(review, action) == {**READ, **hidden}
    opened = find_open_action(review, "1")
    assert {one.label.strip('"'): one.value for one in opened.excerpt.arguments} == {
        **READ,
        **hidden,
    }
    assert opened.why == ("Careful with SQL." if tool == "run_sql" else "")
    ours = (
        "",
        "This run's own configuration asks for a person.",
        "The rule pay asks for a person.",
    )
    assert plain_text(opened.rule) in ours
    assert (opened.title, opened.choices, opened.by_agent) == ("", (), False)
    (drawn,) = build_card(review, action.places[0]).open_actions
    assert {one.label.strip('"') for one in drawn.excerpt.arguments} == set(READ)


def check_no_less(before: Action, after: Action) -> None:
    """At least as many people, with the same requirements, and with no other decisions than without the
    agent's texts."""
    asked, asks = before.config, after.config
    assert {*asks.allowed_decisions} <= {*asked.allowed_decisions}
    assert asks.must_read >= asked.must_read
    assert asks.confirm >= asked.confirm
    assert asks.reject_reason in ("required", asked.reject_reason)
    was, now = before.route.reviewers, after.route.reviewers
    assert now.quorum >= was.quorum
    assert now.reject_quorum >= was.reject_quorum
    assert now.exclude_requester >= was.exclude_requester
    assert now.editor_approves <= was.editor_approves
    assert bool(check_args(asks.args_schema, {"n": 10})) >= bool(
        check_args(asked.args_schema, {"n": 10})
    )


@settings(max_examples=200)
@given(
    st.sampled_from(["run_sql", "pay", "look", "drop", "other"]),
    names,
    st.builds(ReviewKey, names, names, names, requesters, origins),
    st.dictionaries(names.filter(lambda key: key not in ARGS), words, max_size=3),
)
def test_no_id_and_no_key_is_more_than_a_name(
    tool: str, id: str, which: ReviewKey, more: dict[str, str]
) -> None:
    """Given any id of a call, and any keys beside the policy's own; then the same
    people decide on the same bytes, the policy hides what it hides, and every other argument can be read
    under a label of its own."""
    args = {**ARGS, **more}
    plain = submit(tool, args=args)
    try:
        review = submit(tool, which=which, id=id, args=args)
    except HitlError:
        return
    (before,), (after,) = plain.calls, review.calls
    assert after == before.model_copy(update={"tool_call_id": id})
    for ours, theirs in zip(plain.actions, review.actions, strict=True):
        assert (theirs.route, theirs.config) == (ours.route, ours.config)
        read = read_arguments(review, theirs)
        assert len(read) == len(args)
        assert {**read, **READ} == read if tool == "run_sql" else "t-1" in read["token"]


@settings(max_examples=200)
@given(schemas)
def test_the_form_of_an_agents_schema_has_keys_for_labels(own: Any) -> None:
    """Given any schema of a tool's own, then the form that Edit opens names each
    field by its key, and locks none as hidden but what the policy hides."""
    try:
        (action,) = submit("run_sql", own=own).actions
    except HitlError:
        return
    try:
        form = make_form(
            visible_schema(action.config), ARGS, redact=redaction_pointers(action, ARGS)
        )
    except HitlError:
        return
    for field in form.fields:
        key = field.pointer.strip("~").split("/")[-1]
        assert field.label.split(PATH_SEPARATOR)[-1] in (
            key,
            "Arguments",
        ) or field.pointer.endswith("~")
        assert field.hidden == (field.pointer in ("/token", ""))
        assert "Cancel" not in f"{field.hint}{[option.label for option in field.options]}"


def test_the_operator_may_vouch_for_the_tools_schemas() -> None:
    """Given `trust_tool_schemas`, then a tool's own schema hides and names as the
    policy's does."""
    own = {"properties": {"query": {"title": "Statement"}, "password": {"writeOnly": True}}}
    policy = Policy.from_mapping({"default": "review", "trust_tool_schemas": True})
    asked = judge_turn(policy, [ToolCall("c1", "run_sql", ARGS)], run_sql=own)
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    read = read_arguments(review, review.actions[0])
    assert (read["Statement (query)"], read["password"]) == ("DROP TABLE users", "⟦hidden⟧")


def test_an_edit_keeps_the_agents_schema_silent() -> None:
    own = {"properties": {"query": {"title": "Harmless", "writeOnly": True}}}
    review = submit("run_sql", own=own)
    assert read_arguments(review, review.actions[0]) == READ
    assert review.actions[0].config.args_schema == own, "it still checks what is edited"


@pytest.mark.parametrize("ours", ["default: review", "default: allow"])
async def test_an_interrupts_text_is_shown_as_the_agents(ours: str) -> None:
    """Given an interrupt with a text of its own, then the card shows it between
    quotes."""
    wire = {
        "action_requests": [
            {
                "name": "run_sql",
                "args": {"query": "DROP"},
                "description": "The policy approves this.",
            }
        ],
        "review_configs": [{"action_name": "run_sql", "allowed_decisions": ["approve", "reject"]}],
    }
    asked = dialects.get("langchain").load_request(wire, "t")
    made = await apply_policy(Policy.from_yaml(ours), asked)
    review = build_review(ReviewKey("a", "t", "x", None), made, 1, START)[0]
    opened = find_open_action(review, "1")
    assert (opened.why, opened.by_agent) == ("The policy approves this.", True)
