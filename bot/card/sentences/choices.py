"""What the answers to a question stand for. Pure."""

from __future__ import annotations

import json

from ... import text
from ..arguments import format_value
from ..spans import Line, Quote, Text
from ..values import Choice

#: Characters of one value.
MAX_VALUE = 400


def choice_lines(choices: tuple[Choice, ...]) -> tuple[Line, ...]:
    """Each answer with its value, where its button does not show the value: the agent chose both."""
    return tuple(
        (Text("The answer "), Quote(one.label), Text(" stands for "), Quote(_value(one)))
        for one in choices
        if not one.is_own_label and one.label != _value(one)
    )


def _value(choice: Choice) -> str:
    answer = choice.answer
    raw = (
        format_value(answer) if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    )
    return text.truncate(text.one_line(raw), MAX_VALUE).text
