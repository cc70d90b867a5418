"""Everything that can be wrong in a policy, with its error text."""

from __future__ import annotations

import pytest

from hitl_core.errors import PolicyError
from hitl_core.policy import InvalidPolicy, Policy


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_yaml(text, name="p.yaml")
    return [str(problem) for problem in caught.value.problems]


NAME = (
    "This is not a valid tool name: a name has 1 to 128 of A-Z a-z 0-9 _ . : / -, and a glob also `*`"
    " and `?`."
)
TOP = [
    ("interrupt_on: {}", "p.yaml: `default` is missing."),
    ("- default: review", "p.yaml: This must be a mapping, not a list."),
    ("review", "p.yaml: This must be a mapping, not `review`."),
    ("null", "p.yaml: This must be a mapping, not empty."),
    (
        "default: ask",
        "p.yaml:1: default: This must be `allow`, `review` or `deny`, not `ask`.",
    ),
    (
        "default: Review",
        (
            "p.yaml:1: default: This must be `allow`, `review` or `deny`, not `Review`."
            " Did you mean `review`?"
        ),
    ),
    (
        "default: true",
        "p.yaml:1: default: This must be `allow`, `review` or `deny`, not true.",
    ),
    (
        "default: deny\ndescription_prefix: 7",
        "p.yaml:2: description_prefix: This must be text, not 7.",
    ),
    (
        "default: deny\ninterrupt_on:",
        "p.yaml:2: interrupt_on: This must be a mapping, not empty.",
    ),
    (
        "default: deny\ninterupt_on: {}",
        ("p.yaml:2: interupt_on: `interupt_on` is not allowed here. Did you mean `interrupt_on`?"),
    ),
    (
        "default: deny\nxyz: {}",
        (
            "p.yaml:2: xyz: `xyz` is not allowed here. Allowed: `default`, `description_prefix`,"
            " `interrupt_on`, `allow_override`, `trust_tool_schemas`, `edit_notice`, `hide_when_decided`,"
            " `reviewers`, `notify`, `escalate`, `remind`, `clock`, `fallback` or `expire`."
        ),
    ),
    (
        "default: deny\ninterruptOn: {}",
        (
            "p.yaml:2: interruptOn: `interruptOn` is the spelling of another system; write"
            " `interrupt_on`."
        ),
    ),
    (
        "default: deny\nmust_read: true",
        (
            "p.yaml:2: must_read: `must_read` is not allowed here. Allowed: `default`,"
            " `description_prefix`, `interrupt_on`, `allow_override`, `trust_tool_schemas`, `edit_notice`,"
            " `hide_when_decided`, `reviewers`, `notify`, `escalate`, `remind`, `clock`, `fallback` or"
            " `expire`."
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), TOP)
def test_the_top_of_a_policy(text: str, message: str) -> None:
    assert problems(text) == [message]


RULES = [
    ("run: yes", ": A rule must be true, false, `deny` or a mapping, not `yes`."),
    ("run: [approve]", ": A rule must be true, false, `deny` or a mapping, not a list."),
    ("run:", ": A rule must be true, false, `deny` or a mapping, not empty."),
    (
        "run: allow",
        ": A rule must be true, false, `deny` or a mapping, not `allow`. To allow it, write false.",
    ),
    (
        "run: review",
        ": A rule must be true, false, `deny` or a mapping, not `review`. To review it, write true.",
    ),
    (
        "run: {allowedDecisions: [approve]}",
        (
            ".allowedDecisions: `allowedDecisions` is the spelling of another system; write"
            " `allowed_decisions`."
        ),
    ),
    (
        "run: {rejectReason: required}",
        ".rejectReason: `rejectReason` is the spelling of another system; write `reject_reason`.",
    ),
    (
        "run: {descripton: x}",
        ".descripton: `descripton` is not allowed here. Did you mean `description`?",
    ),
    (
        "run: {allowed_decisions: []}",
        (
            ".allowed_decisions: This list is empty, so nobody could decide. Add at least one"
            " decision."
        ),
    ),
    (
        "run: {allowed_decisions: approve}",
        ".allowed_decisions: This must be a list such as [approve, reject], not `approve`.",
    ),
    (
        "run: {allowed_decisions: [approve, aprove]}",
        (
            ".allowed_decisions[1]: `aprove` is not a decision. Use `approve`, `edit`, `reject`, `respond` or"
            " `ignore`. Did you mean `approve`?"
        ),
    ),
    (
        "run: {allowed_decisions: [accept]}",
        (
            ".allowed_decisions[0]: `accept` is not a decision. Use `approve`, `edit`, `reject`, `respond` or"
            " `ignore`. Did you mean `approve`?"
        ),
    ),
    (
        "run: {allowed_decisions: [no]}",
        (
            ".allowed_decisions[0]: `no` is not a decision. Use `approve`, `edit`, `reject`, `respond` or"
            " `ignore`."
        ),
    ),
    (
        "run: {allowed_decisions: [edit, edit]}",
        ".allowed_decisions[1]: `edit` appears twice: remove one.",
    ),
    ("run: {description: [a]}", ".description: This must be text, not a list."),
    (
        "run: {reject_reason: requried}",
        (
            ".reject_reason: This must be `optional` or `required`, not `requried`."
            " Did you mean `required`?"
        ),
    ),
    (
        r'run: {description: "\ud800"}',
        ".description: This contains half a surrogate pair, which is not valid text.",
    ),
    (
        "run: {answer_schema: {type: string}}",
        (
            ".answer_schema: An `answer_schema` needs `allowed_decisions: [respond]` (the answer replaces the"
            " tool's result), or `[approve, reject]` (the tool runs with the answer)."
        ),
    ),
    (
        "run: {output: {key: k, into: state}}",
        ".output: An `output` is for a person's answer, so it needs an `answer_schema`.",
    ),
    (
        "run: {allowed_decisions: [respond], answer_schema: {}, output: {key: k, into: input}}",
        ".output.into: The tool never runs here: `into: input` needs `approve` in `allowed_decisions`.",
    ),
    (
        "run: {allowed_decisions: [approve], answer_schema: {}, output: {key: k, into: inputs}}",
        ".output.into: This must be `state` or `input`, not `inputs`. Did you mean `input`?",
    ),
    (
        "run: {allowed_decisions: [approve], answer_schema: {}, output: {into: state}}",
        ".output: `key` is missing.",
    ),
    ("run: {idempotent: 1}", ".idempotent: This must be true or false, not 1."),
    ("run: {idempotent: 'yes'}", ".idempotent: This must be true or false, not `yes`."),
    (
        "run: {idempotent: 'true'}",
        ".idempotent: This must be true or false, not `true`. Remove the quotes.",
    ),
    (
        "run: {when: true}",
        ".when: This must be a JSON Schema, which is a mapping, not true.",
    ),
    ("run: {when: {}}", ".when: An empty `when` always matches: remove it."),
    (
        "run: {args_schema: {type: string}}",
        (
            ".args_schema: No arguments can satisfy this: they are an object, so `type` must be"
            " `object`."
        ),
    ),
    (
        "run: {when: {type: [array, 'null']}}",
        ".when: No arguments can satisfy this: they are an object, so `type` must be `object`.",
    ),
]


@pytest.mark.parametrize(("rule", "reason"), RULES)
def test_a_rule(rule: str, reason: str) -> None:
    text = f"default: review\ninterrupt_on:\n  {rule}"
    assert problems(text) == [f"p.yaml:3: interrupt_on.run{reason}"]


SCHEMAS = [
    "{type: objekt}",
    "{properties: 7}",
    "{properties: {a: {pattern: '('}}}",
    "{properties: {a: {pattern: '(a)\\1'}}}",
    "{properties: {a: {$ref: 'http://127.0.0.1/x.json'}}}",
    "{properties: {a: {$ref: 'file:///etc/passwd'}}}",
    "{properties: {a: {$ref: '#/$defs/none'}}}",
]


@pytest.mark.parametrize("key", ["when", "args_schema"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_schema_that_is_wrong_or_could_do_harm_is_refused_at_load(key: str, schema: str) -> None:
    (text,) = problems(f"default: review\ninterrupt_on:\n  run: {{{key}: {schema}}}")
    assert text.startswith(f"p.yaml:3: interrupt_on.run.{key}: ")
    assert text.endswith(".")


TOOL_NAMES = [
    ("'run sql'", '["run sql"]', NAME),
    ("'löschen'", '["löschen"]', NAME),
    ('"delete\\u200b"', '["delete\u200b"]', NAME),
    ("''", '[""]', NAME),
    ("a" * 129, "." + "a" * 129, NAME),
    ("a" * 129 + "*", "." + "a" * 129 + "*", NAME),
    ("run_**", ".run_**", "`**` means the same as `*` here: write `*`."),
    (
        "run_[ab]",
        '["run_[ab]"]',
        "A glob has only the wildcards `*` and `?`: `[` and `]` are not allowed.",
    ),
]


@pytest.mark.parametrize(("name", "path", "output"), TOOL_NAMES)
def test_the_name_of_a_rule(name: str, path: str, output: str) -> None:
    text = f"default: review\ninterrupt_on:\n  {name}: true"
    assert problems(text) == [f"p.yaml:3: interrupt_on{path}: {output}"]


def test_a_policy_may_have_thousands_of_globs() -> None:
    """Each is only compared with those that begin like it: it took minutes."""
    rules = {f"team_{number}_*": True for number in range(5000)}
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
    assert len(policy.rules) == 5000


SHADOWED = [
    *(("a*", "abc*"), ("'*'", "abc*"), ("a?*", "a*?"), ("'?*'", "'*a'")),
    *(("'*_x'", "a*_x"), ("a*x", "ab*cx"), ("a?c*", "abc?")),
]


@pytest.mark.parametrize(("first", "second"), SHADOWED)
def test_a_rule_that_can_never_match(first: str, second: str) -> None:
    (said,) = problems(f"default: review\ninterrupt_on:\n  {first}: true\n  {second}: false")
    bare = first.strip("'")
    assert said.startswith("p.yaml:4: ")
    assert said.endswith(
        f"This rule can never match: `{bare}` on line 3 comes first and matches the same tools."
        " Put this rule before it, or remove it."
    )


@pytest.mark.parametrize(
    "rules",
    [
        "a*: {when: {required: [x]}}\n  abc*: true",  # where x is missing, the second speaks
        "abc*: true\n  a*: true",
        "a*: true\n  abc: true",  # the exact name beats the glob
        "abc: true\n  abc*: true",
        "a?: true\n  a*: true",
    ],
)
def test_rules_that_overlap_but_can_match(rules: str) -> None:
    assert len(Policy.from_yaml(f"default: review\ninterrupt_on:\n  {rules}").rules) == 2


def test_all_problems_are_found_at_once_in_the_order_of_the_file() -> None:
    text = "default: ask\ninterrupt_on:\n  a: yes\n  b: {idempotent: 1, when: 2}\nexpire: 4h\n"
    assert [said.split(": ")[0] for said in problems(text)] == [
        "p.yaml:1",
        "p.yaml:3",
        "p.yaml:4",
        "p.yaml:4",
        "p.yaml:5",
    ]


def test_problems_below_the_rules_are_found_with_the_others() -> None:
    found = problems("default: alow\nedit_notice: [x]\nallow_override: maybe\n")
    assert [line.split(": ")[1] for line in found] == ["default", "edit_notice", "allow_override"]


def test_the_text_of_the_error_is_its_first_problem_and_the_number_of_the_others() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml("default: review\ninterrupt_on: {a: yes, b: no, c: on}", name="p.yaml")
    assert str(caught.value) == (
        "p.yaml:2: interrupt_on.a: A rule must be true, false, `deny` or a mapping, not `yes`."
        " (and 2 more; see `hitl policy check p.yaml`)"
    )


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{propertes: {a: {minimum: 5}}}", "did you mean properties"),
        ("{properties: {a: {minimun: 5}}}", "did you mean minimum"),
        (
            "{properties: {a: {items: {}, additionalItems: false}}}",
            "a keyword of draft 4 to 2019-09",
        ),
        ("{properties: {a: {id: x}}}", "a keyword of draft 4"),
        ("{reviewers: 5}", "must begin with x-"),
        ("{$schema: 'http://json-schema.org/draft-03/schema#'}", "older than draft 4"),
        (
            "{$schema: 'http://json-schema.org/draft-07/schema#', $ref: '#', required: [b]}",
            "ignores required beside",
        ),
    ],
)
@pytest.mark.parametrize("key", ["when", "args_schema"])
def test_what_would_be_ignored_in_a_schema_is_refused(key: str, schema: str, words: str) -> None:
    """A typo must not switch a check off."""
    (said,) = problems(f"default: review\ninterrupt_on:\n  run: {{{key}: {schema}}}")
    assert words in said
