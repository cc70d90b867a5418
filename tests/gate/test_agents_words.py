"""An agent makes things stricter, nothing else (security H1): whatever it says beside its calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.card import arguments_of, card, open_of
from bot.card.arguments import WITHIN
from hitl_core import dialects
from hitl_core.dialects.interrupted import under_policy
from hitl_core.errors import HitlError
from hitl_core.forms import make_form
from hitl_core.gate import request
from hitl_core.gate.request import Turn
from hitl_core.model import DEFAULT_PLACE, Action, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.redaction import redacted, schema_shown
from tests.support.builders import START, asked_by

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
        "look": False,
        "drop": "deny",
    },
}
KINDS = ("allow", "review", "deny")

words = st.sampled_from(["Cancel, do not run this", "query", "⟦hidden⟧", "*x* <@U1>", ""])
names = st.text(min_size=1, max_size=12).filter(str.isprintable)
refs = st.sampled_from(
    ["#/$defs/A", "#/$defs/B", "#/properties/n/const", "#/x/y", "#", "#a", "#/properties/query"]
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
        "x": st.just({"y": {"writeOnly": True, "title": "No"}}),
    },
)
shapes = st.one_of(
    st.just({}),
    refs.map(lambda ref: {"$ref": ref}),
    hints.map(lambda one: {"anyOf": [one, {"type": "null"}]}),
    hints.map(lambda one: {"allOf": [one]}),
    hints.map(lambda one: {"if": one, "then": one}),
    words.map(lambda word: {"oneOf": [{"const": v, "title": word} for v in ARGS.values()]}),
    st.just({"const": {"writeOnly": True, "title": "No"}}),
)
parts = st.builds(lambda one, other: {**one, **other}, hints, shapes)
schemas = st.builds(
    lambda properties, root, shared, many: {
        **root,
        "type": "object",
        "properties": properties,
        "$defs": shared,
        **({"patternProperties": {f"^{n}": {} for n in range(200)}} if many else {}),
    },
    st.dictionaries(st.sampled_from([*ARGS, "more"]), parts, max_size=4),
    hints,
    st.fixed_dictionaries({"A": parts, "B": hints}),
    st.booleans(),
)
rules = st.sampled_from([True, False, "deny"]) | st.fixed_dictionaries(
    {},
    optional={
        "allowed_decisions": st.lists(
            st.sampled_from(["approve", "edit", "reject", "respond"]), min_size=1, unique=True
        ),
        "description": words,
        "redact": st.just(["/query"]),
        "answer_schema": st.just({"enum": ["Cancel, do not run this"]}),
        "args_schema": schemas,
        "when": st.sampled_from([{"required": ["n"]}, {"required": ["zzz"]}]),
        "must_read": st.booleans(),
        "confirm": st.booleans(),
        "idempotent": st.booleans(),
        "notify": st.just("slack:#friends"),
        "reviewers": st.fixed_dictionaries(
            {"users": st.just(["U8", "U9"])}, optional={"quorum": st.sampled_from([1, 2, 3])}
        ),
        "expire": st.just({"after": "1s", "decision": "respond", "message": "Fine."}),
    },
)
contexts = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "default": st.sampled_from(KINDS),
        "description_prefix": words,
        "interrupt_on": st.dictionaries(st.sampled_from(["run_sql", "run_*", "look"]), rules),
    },
)


def submitted(
    tool: str, context: Any = None, own: Any = None, who: tuple[str, ...] = ("a", "t", "p")
) -> Review:
    """What is stored. Raises HitlError where it is refused."""
    policy = Policy.from_mapping(CONFIG)
    policy = policy if context is None else policy.for_run(context)
    agent, thread, path = who
    tools = {} if own is None else {tool: own}
    asked = asked_by(policy, [ToolCall("c1", tool, ARGS)], **tools)
    return request.build_from(
        Turn(agent, thread, "turn", None), asked._replace(path=(path,)), 1, START
    )[0]


def read_in(review: Review, action: Action) -> dict[str, str]:
    """Every argument as "See all of it" shows it."""
    args = review.arguments(action.key).parse()
    shown = arguments_of(args, schema_shown(action.config), redacted(action, args))
    return {argument.label: argument.value for argument in shown}


@settings(max_examples=300)
@given(
    st.sampled_from(["run_sql", "look", "drop", "other"]),
    contexts,
    st.none() | schemas,
    st.tuples(names, names, names),
)
def test_security_h1_nothing_that_an_agent_says_makes_anything_weaker(
    tool: str, context: Any, own: Any, who: tuple[str, ...]
) -> None:
    """Given any context, schemas and names, when the same call is submitted with them and without, then it is
    refused, or the same people decide on the same bytes, seeing the same, with no less asked of them."""
    plain = submitted(tool)
    try:
        review = submitted(tool, context, own, who)
    except HitlError:
        return
    (before,), (after,) = plain.calls, review.calls
    assert KINDS.index(after.verdict.kind) >= KINDS.index(before.verdict.kind)
    assert (after.name, after.digest, after.idempotent) == (tool, before.digest, False)
    if not review.actions:
        return
    (action,) = review.actions
    config, reviewers = action.config, action.route.reviewers
    assert "reject" in config.allowed_decisions
    assert (config.answer_schema, config.output) == (None, None)
    assert action.route.notify == (("slack:#data",) if tool == "run_sql" else (DEFAULT_PLACE,))
    assert (action.route.escalate, action.route.expire, action.route.fallback) == ((), None, None)
    assert reviewers.users == (("U1", "U2", "U3") if tool == "run_sql" else ())
    assert (reviewers.groups, reviewers.quorum >= 1) == ((), True)

    hidden = {} if tool == "run_sql" else {"token": "t-1"}
    assert read_in(review, action) == {**READ, **hidden}
    opened = open_of(review, "1")
    assert {one.label: one.value for one in opened.shown.arguments} == {**READ, **hidden}
    assert opened.why == ("Careful with SQL." if tool == "run_sql" else "")
    ours = ("", "This run's own configuration asks for a person.")
    assert opened.rule in ours
    assert (opened.title, opened.choices, opened.by_agent) == ("", (), False)
    (drawn,) = card(review, action.places[0]).open
    assert {one.label for one in drawn.shown.arguments} == set(READ)


@settings(max_examples=200)
@given(schemas)
def test_security_h1_the_form_of_an_agents_schema_has_keys_for_labels(own: Any) -> None:
    """Given any schema of a tool's own, then the form that Edit opens names each field by its key, and locks
    none as hidden but what the policy hides."""
    try:
        (action,) = submitted("run_sql", own=own).actions
    except HitlError:
        return
    try:
        form = make_form(schema_shown(action.config), ARGS, redact=redacted(action, ARGS))
    except HitlError:
        return
    for field in form.fields:
        key = field.pointer.strip("~").split("/")[-1]
        assert field.label.split(WITHIN)[-1] in (key, "Arguments") or field.pointer.endswith("~")
        assert field.hidden == (field.pointer in ("/token", ""))
        assert "Cancel" not in f"{field.hint}{[option.label for option in field.options]}"


def test_security_h1_the_operator_may_vouch_for_the_tools_schemas() -> None:
    """Given `trust_tool_schemas`, then a tool's own schema hides and names as the policy's does."""
    own = {"properties": {"query": {"title": "Statement"}, "password": {"writeOnly": True}}}
    policy = Policy.from_mapping({"default": "review", "trust_tool_schemas": True})
    asked = asked_by(policy, [ToolCall("c1", "run_sql", ARGS)], run_sql=own)
    review = request.build_from(Turn("a", "t", "x", None), asked, 1, START)[0]
    read = read_in(review, review.actions[0])
    assert (read["Statement (query)"], read["password"]) == ("DROP TABLE users", "⟦hidden⟧")


def test_security_h1_an_edit_keeps_the_agents_schema_silent() -> None:
    own = {"properties": {"query": {"title": "Harmless", "writeOnly": True}}}
    review = submitted("run_sql", own=own)
    assert read_in(review, review.actions[0]) == READ
    assert review.actions[0].config.args_schema == own, "it still checks what is edited"


@pytest.mark.parametrize("ours", ["default: review", "default: allow"])
async def test_security_h1_an_interrupts_words_stand_as_the_agents(ours: str) -> None:
    """Given an interrupt with a text of its own, then the card shows it between quotes."""
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
    made = await under_policy(Policy.from_yaml(ours), asked)
    review = request.build_from(Turn("a", "t", "x", None), made, 1, START)[0]
    opened = open_of(review, "1")
    assert (opened.why, opened.by_agent) == ("The policy approves this.", True)
