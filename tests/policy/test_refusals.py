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
PLACE = "write one such as `slack:#team-ops` or `slack:C0123ABCD`."
CHANNEL = "is not a valid name of a Slack channel: it has at most 80 lowercase letters, digits, `-` and `_`."
TIMES = "write `90s`, `10m`, `1h30m` or `2d`"
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


SHADOWED = [("a*", "abc*"), ("'*'", "abc*"), ("a?*", "a*?"), ("'?*'", "'*a'")]


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


STEP = "{after: 10m, to: 'slack:#ops'}"
ROUTES = [
    ("notify: ops", f"notify: `ops` is not a place: {PLACE}"),
    ("notify: Mail:ops", f"notify: `Mail:ops` is not a place: {PLACE}"),
    ("notify: 'mail:'", f"notify: `mail:` is not a place: {PLACE}"),
    ("notify: mail:ops>jo", "notify: `mail:ops>jo` is one person's copy of a place."),
    ("notify: default", f"notify: `default` is not a place: {PLACE}"),
    ("notify: slack:ops", f"notify: `slack:ops` is not a place: {PLACE}"),
    ("notify: slack:C0123abcd", f"notify: `slack:C0123abcd` is not a place: {PLACE}"),
    ("notify: slack:B0123ABCD", f"notify: `slack:B0123ABCD` is not a place: {PLACE}"),
    ("notify: 'slack:#Ops'", f"notify: `#Ops` {CHANNEL}"),
    ("notify: 'slack:#team ops'", f"notify: `#team ops` {CHANNEL}"),
    ("notify: 'slack:#'", f"notify: `#` {CHANNEL}"),
    ("notify: 'slack:#" + "a" * 81 + "'", f"notify: `#{'a' * 38}…` {CHANNEL}"),
    ("notify: 5", f"notify: A place must be text, not 5: {PLACE}"),
    (
        "notify: #ops",
        (
            "notify: A place must be text, not empty (a `#` after a space begins a comment in YAML):"
            f" {PLACE}"
        ),
    ),
    (
        "notify: []",
        "notify: This list is empty: add at least one place, such as `slack:#team-ops`.",
    ),
    ("notify: ['slack:#a', 'slack:#a']", "notify: `slack:#a` appears twice: remove one."),
    ("notify: ['slack:#a', b]", f"notify[1]: `b` is not a place: {PLACE}"),
    (
        "escalate: slack:#ops",
        (
            "escalate: This must be a list such as [{after: 10m, to: slack:#team-ops}], not"
            " `slack:#ops`."
        ),
    ),
    ("escalate: [slack:#ops]", "escalate[0]: This must be a mapping, not `slack:#ops`."),
    ("escalate: [{after: 10m}]", "escalate[0]: `to` is missing."),
    ("escalate: [{to: 'slack:#a'}]", "escalate[0]: `after` is missing."),
    ("escalate: [{after: 1m, to: teams}]", f"escalate[0].to: `teams` is not a place: {PLACE}"),
    (
        "escalate: [{after: 1m, to: 'slack:#a', reviewers: {}}]",
        (
            "escalate[0].reviewers: This names nobody: add `users`, `groups` or"
            " `channel_members: true`."
        ),
    ),
    (
        f"escalate: [{STEP}, {{after: 5m, to: 'slack:#b'}}]",
        "escalate[1].after: Each step must come later than the one before it.",
    ),
    (
        f"escalate: [{STEP}, {{after: 10m, to: 'slack:#b'}}]",
        "escalate[1].after: Each step must come later than the one before it.",
    ),
    (
        f"escalate: [{STEP}, {{after: 1h, to: 'slack:#ops'}}]",
        "escalate: The review is already shown in `slack:#ops` before it escalates there.",
    ),
    ("expire: 4h", "expire: This must be a mapping, not `4h`."),
    ("expire: {decision: reject}", "expire: `after` is missing."),
    *(
        (
            f"expire: {{after: 4h, decision: {decision}}}",
            ("expire.decision: A deadline can't approve: use `reject`, `respond` or `ignore`."),
        )
        for decision in ("approve", "edit")
    ),
    (
        "expire: {after: 4h, decision: rejcet}",
        (
            "expire.decision: This must be `reject`, `respond` or `ignore`, not `rejcet`."
            " Did you mean `reject`?"
        ),
    ),
    (
        "expire: {after: 4h, decision: respond}",
        "expire: `decision: respond` needs a `message`, which the model will read.",
    ),
    (
        "expire: {after: 4h, decision: respond, message: ''}",
        "expire: `decision: respond` needs a `message`, which the model will read.",
    ),
    ("expire: {after: 4h, message: [a]}", "expire.message: This must be text, not a list."),
    (
        "expire: {after: 4h, clock: x}",
        ("expire.clock: `clock` is not allowed here. Allowed: `after`, `decision` or `message`."),
    ),
    ("expire: {after: 600}", f"expire.after: 600 has no unit: {TIMES}."),
    ("expire: {after: '10'}", f"expire.after: `10` has no unit: {TIMES}."),
    *(
        (
            f"expire: {{after: {text}}}",
            f"expire.after: `{text}` is not a duration: {TIMES}.",
        )
        for text in ("soon", "5 m", "1m1h", "-5m", "1.5h", "10M", "1w")
    ),
    (
        "expire: {after: null}",
        f"expire.after: empty is not a duration: {TIMES}.",
    ),
    ("expire: {after: 0s}", "expire.after: A duration must be from `1s` to `365d`, not `0s`."),
    (
        "expire: {after: 366d}",
        "expire.after: A duration must be from `1s` to `365d`, not `366d`.",
    ),
]


@pytest.mark.parametrize(("line", "said"), ROUTES)
def test_places_and_times_at_the_top_and_in_a_rule(line: str, said: str) -> None:
    assert problems(f"default: review\n{line}") == [f"p.yaml:2: {said}"]
    inside = f"default: review\ninterrupt_on:\n  run:\n    {line}"
    assert problems(inside) == [f"p.yaml:4: interrupt_on.run.{said}"]


CLASHES = [
    (
        f"notify: 'slack:#ops'\nescalate: [{STEP}]",
        "p.yaml:3: escalate: The review is already shown in `slack:#ops` before it escalates there.",
    ),
    (
        f"escalate: [{STEP}]\ninterrupt_on:\n  run: {{notify: 'slack:#ops'}}",
        (
            "p.yaml:4: interrupt_on.run.notify: The review is already shown in `slack:#ops`"
            " before it escalates there."
        ),
    ),
    (
        f"escalate: [{STEP}]\nexpire: {{after: 5m}}",
        (
            "p.yaml:3: expire: The review expires at or before its last step of `escalate`: expire"
            " later, or escalate earlier."
        ),
    ),
    (
        f"expire: {{after: 10m}}\ninterrupt_on:\n  run: {{escalate: [{STEP}]}}",
        (
            "p.yaml:4: interrupt_on.run.escalate: The review expires at or before its last step"
            " of `escalate`: expire later, or escalate earlier."
        ),
    ),
]


@pytest.mark.parametrize(("text", "said"), CLASHES)
def test_places_and_times_that_do_not_go_together(text: str, said: str) -> None:
    """A rule inherits what it does not say itself, so the two may be in different places."""
    assert problems(f"default: review\n{text}") == [said]


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
    """Security Low: a typo must not switch a check off."""
    (said,) = problems(f"default: review\ninterrupt_on:\n  run: {{{key}: {schema}}}")
    assert words in said


@pytest.mark.parametrize(
    "schema", ["{x-note: 5, properties: {a: {x-unit: EUR, nullable: true, type: string}}}"]
)
def test_notes_of_ones_own_are_welcome_in_a_schema(schema: str) -> None:
    Policy.from_yaml(f"default: review\ninterrupt_on:\n  run: {{args_schema: {schema}}}")


def test_an_agent_s_own_schema_may_hold_any_note() -> None:
    """Security Low: it stops no submit; but `dependencies` counts, as in the drafts that have it."""
    from hitl_core.jsonschema import check_args

    schema = {"propertes": {}, "markdownDescription": "x", "dependencies": {"a": ["b"]}}
    assert [error.pointer for error in check_args(schema, {"a": 1})] == ["/b"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            "{type: string, format: password}",
            "People write the answer, so no part of it can be `format: password`.",
        ),
        (
            "{properties: {a: {type: integer, readOnly: true}}}",
            "People write the answer, so no part of it can be `readOnly: true`.",
        ),
        (
            "{anyOf: [{type: string, writeOnly: true}]}",
            "People write the answer, so no part of it can be `writeOnly: true`.",
        ),
        (
            '{type: array, items: {$ref: "#"}}',
            "In an answer's schema a `$ref` must begin with `#/$defs/`, not '#'.",
        ),
        (
            '{$id: "https://a.b/c", $ref: "#/$defs/x", $defs: {x: {}}}',
            "The schema refers to #/$defs/x, which does not exist in it.",
        ),
    ],
)
def test_an_answer_that_nobody_could_give_is_refused_at_load(schema: str, reason: str) -> None:
    """Each answer to such a question was refused, so its review waited without end."""
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    [problem] = problems(f"default: deny\ninterrupt_on:\n  {rule}")
    assert problem.endswith(f".answer_schema: {reason}")


@pytest.mark.parametrize(
    "schema",
    [
        "{enum: [{readOnly: true}, {$ref: x}]}",
        "{const: {format: password}}",
        "{type: object, default: {writeOnly: true}, examples: [{$ref: x}]}",
        '{items: {$ref: "#a"}, $defs: {a: {$anchor: a}}}',
        '{items: {$dynamicRef: "#a"}, $defs: {a: {$dynamicAnchor: a}}}',
    ],
)
def test_values_in_a_schema_are_no_keywords(schema: str) -> None:
    """Given values that look like keywords, or references to anchors; then people can answer."""
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    Policy.from_yaml(f"default: deny\ninterrupt_on:\n  {rule}")


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("{properties: {default: {writeOnly: true}}}", "`writeOnly: true`"),
        ("{properties: {enum: {readOnly: true}}}", "`readOnly: true`"),
        (
            '{$schema: "https://json-schema.org/draft/2019-09/schema", items: {$recursiveRef: "#"}}',
            "a `$recursiveRef` must begin with `#/$defs/`",
        ),
        ('{items: {$dynamicRef: "#/properties/a"}, properties: {a: {}}}', "a `$dynamicRef` must"),
    ],
)
def test_no_name_and_no_other_reference_hides_what_nobody_could_answer(
    schema: str, what: str
) -> None:
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    [problem] = problems(f"default: deny\ninterrupt_on:\n  {rule}")
    assert what in problem


def test_names_of_properties_are_no_keywords() -> None:
    properties = "{format: {$ref: '#/$defs/t'}, readOnly: {type: boolean}, $ref: {}}"
    schema = f"{{properties: {properties}, $defs: {{t: {{}}}}}}"
    rule = f"run: {{allowed_decisions: [respond], answer_schema: {schema}}}"
    Policy.from_yaml(f"default: deny\ninterrupt_on:\n  {rule}")
