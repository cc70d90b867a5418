"""`display`: how values of the arguments are shown."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import Policy, ToolCall
from hitl_core.model import DisplayHint
from hitl_core.policy import InvalidPolicy
from hitl_core.policy.kept_policy import dump_kept_policy, parse_kept_policy


def policy(display: Any) -> Policy:
    return Policy.from_mapping({"default": "review", "interrupt_on": {"pay": {"display": display}}})


def test_each_style_is_read_and_kept_in_the_review() -> None:
    rules = policy(
        {
            "/body": "email",
            "/note": "text",
            "/page": "link",
            "/readme": "markdown-source",
            "/patch": "diff",
            "/raw": "code",
            "/query": {"code": "sql"},
            "/amount": {"money": {"currency": "/currency"}},
            "/fee": {"money": {"currency": "EUR"}},
        }
    )
    hints = rules.judge(ToolCall("c", "pay", {})).display
    assert [(hint.pointer, hint.style) for hint in hints] == [
        ("/body", "email"),
        ("/note", "text"),
        ("/page", "link"),
        ("/readme", "markdown-source"),
        ("/patch", "diff"),
        ("/raw", "code"),
        ("/query", "code"),
        ("/amount", "money"),
        ("/fee", "money"),
    ]
    assert hints[6] == DisplayHint(pointer="/query", style="code", language="sql")
    assert hints[7] == DisplayHint(pointer="/amount", style="money", currency="/currency")
    kept = parse_kept_policy(dump_kept_policy(rules, ["pay"]))
    assert kept.judge(ToolCall("c", "pay", {})).display == hints


@pytest.mark.parametrize(
    ("display", "problem"),
    [
        ([], "display: This must be a mapping, not a list."),
        ({"body": "email"}, "`body` is not a JSON pointer: write one such as `/token`"),
        ({"/body": "mail"}, "not `mail`. Did you mean `email`?"),
        ({"/body": {"mail": "x"}}, "`mail` is not a style. Use `text`"),
        ({"/body": {"email": "x"}}, "`email` takes no value: write `/body: email`."),
        ({"/body": {"code": "s q l"}}, "`s q l` is not a language: write one such as `sql`."),
        ({"/body": {"code": "sql", "text": "x"}}, "one style such as `code: sql`, not 2"),
        ({"/amount": "money"}, "Say where its currency is"),
        ({"/amount": {"money": {}}}, "`currency` is missing"),
        ({"/amount": {"money": {"currency": "euro"}}}, "`euro` is not a currency"),
        ({"/amount": 1}, "This must be a mapping, not 1."),
    ],
)
def test_a_mistake_has_one_sentence(display: Any, problem: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        policy(display)
    assert problem in str(caught.value)
