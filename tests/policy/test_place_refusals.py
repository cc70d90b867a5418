"""Places, times and their combinations that a policy can't have."""

from __future__ import annotations

import pytest

from tests.policy.test_refusals import problems

PLACE = "write one such as `slack:#team-ops` or `slack:C0123ABCD`."


CHANNEL = "is not a valid name of a Slack channel: it has at most 80 lowercase letters, digits, `-` and `_`."


TIMES = "write `90s`, `10m`, `1h30m` or `2d`"


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
