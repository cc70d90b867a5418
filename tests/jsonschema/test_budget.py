"""No schema, pattern or value from outside takes long, in any of their uses."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hitl_core import Policy, ToolCall
from hitl_core.errors import InvalidToolCall, PolicyError
from hitl_core.forms import FormErrors, make_form
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.jsonschema import SchemaError, check_args, check_pattern, check_schema, find_hidden
from hitl_core.jsonschema.checks.problem import CheckState
from hitl_core.jsonschema.limits import REQUEST_STEPS, SCHEMA_STEPS, Budget, TooMuchWork
from hitl_core.jsonschema.validate import compile_schema
from tests.forms.reading import read_answers
from tests.support.cpu_time import cpu_limit

Json = dict[str, Any]
#: Ten times the aim of 50 ms, in CPU seconds, for machines that are slow or busy.
LIMIT = 0.5
MANIFEST = Path(__file__).parents[1] / "data" / "slack-manifest-2.0.0.json"
DICE = random.Random(20)
NUMBERS = list(range(40_000))


def nest(value: Any, levels: int, key: str = "a") -> Any:
    for _ in range(levels):
        value = {key: value}
    return value


def fan_out(keyword: str) -> Json:
    levels = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 40)}
    return {"$defs": {"d0": {"type": "string"}, **levels}, "$ref": "#/$defs/d39"}


def on_a(**schema: Any) -> Json:
    return {"properties": {"a": schema}}


def letters(count: int) -> str:
    return "".join(DICE.choices("ab", k=count))


DEPENDENT = {
    f"k{n}": {"dependentSchemas": {f"k{m}": {"$ref": "#"} for m in range(6)}} for n in range(6)
}
IF = {
    f"d{n}": {"if": {"$ref": f"#/$defs/d{n - 1}"}, "then": {"$ref": f"#/$defs/d{n - 1}"}}
    for n in range(1, 40)
}
BIG = {"properties": {f"q{n}": {"type": "string"} for n in range(700)}}
WIDE = "[\u0100-\uffdc]x" * 50
CHOICES = "abcdefghijklmnopqrst"

HOSTILE: dict[str, tuple[Json, Json]] = {
    "H2: unevaluatedProperties": (
        {"patternProperties": {"^a*a*a*a*b$": {}}, "unevaluatedProperties": False},
        {"a" * 3_000: 1},
    ),
    "H2: dependentSchemas": (
        {"dependentSchemas": DEPENDENT, "unevaluatedProperties": False},
        {f"k{n}": 1 for n in range(6)},
    ),
    "H2: anchors": (
        {
            "$defs": {f"x{n}": {"$anchor": f"a{n}"} for n in range(500)},
            **on_a(items={"$ref": "#a499"}),
        },
        {"a": [1] * 60_000},
    ),
    "H2: 150 patterns": (
        {"patternProperties": {f"(?:{'|'.join(CHOICES)})*" * 9 + str(n): {} for n in range(150)}},
        {"a" * 200: 1},
    ),
    "patterns slow to compile": (
        {"patternProperties": {f"(?i){WIDE}{n}": {} for n in range(100)}},
        {"a": 1},
    ),
    "anyOf": (fan_out("anyOf"), {"a": 1}),
    "allOf": (fan_out("allOf"), {"a": 1}),
    "oneOf": (fan_out("oneOf"), {"a": 1}),
    "if": ({"$defs": {"d0": {}, **IF}, "$ref": "#/$defs/d39"}, {}),
    "unevaluated over anyOf": ({**fan_out("anyOf"), "unevaluatedProperties": False}, {"a": 1}),
    "a list in a list": (
        {"properties": {"c": {"items": {"$ref": "#"}}}},
        {"c": [{"c": [{"c": []}] * 200}] * 100},
    ),
    "deep arguments": ({"additionalProperties": {"$ref": "#"}}, nest(1, 800)),
    "a circle": ({"allOf": [{"$ref": "#"}]}, {}),
    "a chain": (
        {
            "$defs": {**{f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(900)}, "d900": {}},
            "$ref": "#/$defs/d0",
        },
        {},
    ),
    "a huge enum": (
        on_a(items={"enum": [[n] for n in range(5_000)]}),
        {"a": [[n] for n in range(20_000)]},
    ),
    "a deep const": (on_a(const=nest(1, 80)), {"a": nest([1] * 30_000, 80)}),
    "many consts": ({"anyOf": [{"const": n} for n in range(2_000)]}, {"a": NUMBERS}),
    "unique numbers": (on_a(uniqueItems=True), {"a": NUMBERS}),
    "unique objects": (on_a(uniqueItems=True), {"a": [{"x": n, "y": [n]} for n in range(10_000)]}),
    "fine multiples": (on_a(items={"multipleOf": 1e-300}), {"a": [1e308] * 20_000}),
    "many digits": (on_a(items={"multipleOf": 7}), {"a": [10**2_400] * 100}),
    "huge limits": (on_a(maxLength=10**4_000, minItems=10**4_000, minimum=1e308), {"a": "x"}),
    "propertyNames": (
        {"propertyNames": {"pattern": "^(a|b)*a(a|b){200}$"}},
        {letters(300): 1 for _ in range(300)},
    ),
    "minContains": (
        on_a(contains={"anyOf": [{"const": n} for n in range(300)]}, minContains=50_000),
        {"a": NUMBERS},
    ),
    "dates": (on_a(items={"format": "date-time"}), {"a": ["2026-01-01T" + "0" * 9_000] * 25}),
    "addresses": (on_a(items={"format": "email"}), {"a": ["1.a@" + "a." * 4_000] * 25}),
    "IPv6": (on_a(items={"format": "ipv6"}), {"a": [":" * 9_000] * 25}),
    "a long name": (
        {"patternProperties": {"a.*b.*c.*d": {}}, "additionalProperties": False},
        {"a" * 200_000: 1},
    ),
    "names and patterns": (
        {"patternProperties": {f"^.*{n}.*x$": {} for n in range(100)}},
        {"a" * 400 + str(n): 1 for n in range(300)},
    ),
    "lookarounds": (on_a(pattern="(?=(a+)+$)(?<!b)(a*)*c"), {"a": "a" * 100_000}),
    "many states": (on_a(pattern="(a|b)*a(a|b){400}c"), {"a": letters(100_000)}),
    "Unicode": (
        on_a(pattern=r"(?i)^[\w\W\d\s]*[^\w]$"),
        {"a": "".join(map(chr, range(0x100, 0xD7FF)))},
    ),
    "dependencies": (
        {"dependencies": {f"k{n}": [f"k{m}" for m in range(60)] for n in range(60)}},
        {f"k{n}": 1 for n in range(60)},
    ),
    "many addresses": (
        {"$defs": {f"d{n}": {"$id": f"http://a/{n}", "$ref": f"{n + 1}"} for n in range(1_000)}},
        {},
    ),
    "long pointers": (
        {"$defs": nest({}, 80), "allOf": [{"$ref": "#/$defs" + "/a" * 80}] * 350},
        {"a": 1},
    ),
    "wide objects": (
        on_a(items={"properties": {f"p{n}": {} for n in range(4_000)}}),
        {"a": [{}] * 60_000},
    ),
    "unevaluatedItems": (
        on_a(
            anyOf=[{"prefixItems": [{}] * n} for n in range(1, 60)],
            unevaluatedItems={"type": "null"},
        ),
        {"a": NUMBERS},
    ),
    "parts put together": (
        {
            "$defs": {"big": BIG},
            "properties": {
                f"p{n}": {"$ref": "#/$defs/big", "properties": {"q1": {"maxLength": 3}}}
                for n in range(300)
            },
        },
        {f"p{n}": {"q1": "x"} for n in range(300)},
    ),
    "marks": (
        json.loads(
            json.dumps(fan_out("anyOf")).replace(
                '"type": "string"', '"writeOnly": true, "readOnly": true'
            )
        ),
        nest({"a": 1}, 50),
    ),
    "a deep default": (on_a(default=nest([0] * 5_000, 90)), {"a": 1}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_no_schema_takes_long(name: str) -> None:
    """T63: Security H2. Whatever can't be done in the budget is an error that says so."""
    schema, args = HOSTILE[name]
    uses = (
        lambda: check_schema(schema),
        lambda: check_args(schema, args),
        lambda: make_form(schema, args),
        lambda: read_answers(schema, args, {}),
        lambda: find_hidden([schema], args),
        lambda: _judge(schema, args),
    )
    for use in uses:
        with cpu_limit(LIMIT), suppress(SchemaError, FormErrors, PolicyError):
            use()


def _judge(schema: Json, args: Json) -> None:
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": {"t": {"when": schema}}})
    policy.judge(ToolCall("1", "t", args))


def test_a_check_that_takes_too_long_counts_as_met() -> None:
    """Security H2: a `when` that could not be asked counts as met, whatever came before it."""
    slow, args = on_a(pattern="(a|b)*a(a|b){400}c"), {"a": letters(50_000), "amount": 5}
    rules = {"t": {"when": slow}, "t*": {"when": {"properties": {"amount": {"minimum": 9}}}}}
    ruling = Policy.from_mapping({"default": "allow", "interrupt_on": rules}).judge(
        ToolCall("1", "t", args)
    )
    assert (ruling.verdict.kind, ruling.verdict.rule) == ("review", "t")


def test_all_schemas_of_one_request_share_one_budget() -> None:
    """Security H2: each alone is within the budget."""
    budget = Budget(REQUEST_STEPS)
    schemas = [on_a(pattern=f"(?:a{{0,30}}){{0,25}}{n}") for n in range(400)]
    check_schema(schemas[0], budget=budget)
    with suppress(SchemaError):
        for schema in schemas:
            check_schema(schema, budget=budget)
    with cpu_limit(0.01), pytest.raises(SchemaError, match="together too large"):
        check_schema(
            on_a(pattern="(?:a{0,30}){0,26}b"), budget=budget
        )  # which is not read any more


async def test_a_submit_with_costly_tools_lets_others_have_their_turn() -> None:
    """Security H2: what an edit may name is left out where there is no time to read its schema."""
    tools = {f"t{n}": on_a(pattern=f"(?:a{{0,30}}){{0,24}}{n}") for n in range(300)}
    policy, turns = Policy.from_mapping({"default": "review"}), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    with cpu_limit(5 * LIMIT):
        made = await judge_calls(policy, [ToolCall("1", "t0", {"a": "x"})], tools=tools)
    beside.cancel()
    assert turns >= 3
    assert "t0" in made.tools
    assert len(made.tools) < len(tools)


def test_a_run_s_context_has_one_budget_for_all_its_schemas() -> None:
    """Security H2: the HTTP API accepts a context of 256 KiB."""
    context = {f"t{n}": {"when": on_a(pattern=f"(?:a{{0,30}}){{0,23}}{n}")} for n in range(90)}
    policy = Policy.from_mapping({"default": "review"})
    with cpu_limit(LIMIT), pytest.raises(PolicyError, match="together too large"):
        policy.for_run({"interrupt_on": context})


async def test_a_tool_s_own_schema_that_can_not_be_read_stops_the_submit() -> None:
    tools = {"t": HOSTILE["H2: 150 patterns"][0]}
    policy = Policy.from_mapping({"default": "review"})
    with pytest.raises(InvalidToolCall, match="too large or too complex"):
        await judge_calls(policy, [ToolCall("1", "t", {})], tools=tools)


def test_unique_items_of_nine_thousand_objects_are_more_than_one_check_may_cost() -> None:
    """HTTP d: they took 67 ms and were within the budget."""
    run = CheckState()
    with pytest.raises(TooMuchWork):
        compile_schema(on_a(uniqueItems=True)).check({"a": [{"k": n} for n in range(9_000)]}, run)


def test_a_pattern_that_comes_many_times_is_paid_for_once() -> None:
    """Given a large honest schema in which each field has the same pattern; then it is read."""
    uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    check_schema(
        {"properties": {f"id{n}": {"type": "string", "pattern": uuid} for n in range(450)}}
    )


def test_the_largest_real_schema_takes_half_of_what_there_is() -> None:
    """Slack's own schema of an app's manifest, 29 kB."""
    budget = Budget(SCHEMA_STEPS // 2)
    check_schema(json.loads(MANIFEST.read_text()), budget=budget)
    assert budget.left > 0


def test_a_pattern_is_read_no_further_than_its_schema_s_budget_lasts() -> None:
    """Given a schema that has little left when its most costly pattern comes; then that is not read to its
    end: together they held the event loop for twice as long."""
    budget = Budget(1_000)
    with pytest.raises(TooMuchWork):
        check_pattern("(?:a{0,30}){0,23}never read before", budget)
    with pytest.raises(
        TooMuchWork
    ):  # nor is what was read of it taken for a refusal of the pattern
        check_pattern("(?:a{0,30}){0,23}never read before", Budget(1_000))
    check_pattern("(?:a{0,30}){0,23}never read before")
