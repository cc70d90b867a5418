"""How people may answer a call, and how its arguments are shown to them."""

from __future__ import annotations

from typing import Any, Literal

from hitl_core.model.decision import DecisionType
from hitl_core.model.value import Value

DisplayStyle = Literal["text", "markdown-source", "email", "code", "money", "link", "diff"]


class DisplayHint(Value):
    """How the value at `pointer` (a JSON pointer into the arguments) is shown. A hint never hides a
    character; if the value does not fit the style, the hint is ignored.

    - `text`: prose, in a quote; `email`: the same, for the text of an e-mail;
    - `markdown-source`, `code`, `diff`: in a code block, unchanged; `language`: the language of the code;
    - `money`: a number, with `currency`: an ISO code, or a JSON pointer to it in the arguments;
    - `link`: an address, shown as text with its host first.
    """

    pointer: str
    style: DisplayStyle
    language: str | None = None
    currency: str | None = None


class Output(Value):
    """Where a person's answer is written: to `key` of the agent's state, or of the tool's arguments."""

    key: str
    into: Literal["state", "input"]


class ReviewConfig(Value):
    """How people may answer. The schemas are JSON Schemas; None means no schema.

    - `answer_schema`: for a person's own answer (a text, a choice); `answer_by_agent`: the agent wrote it;
    - `policy_schema`: the part of `args_schema` that the policy trusts. Only this part may hide arguments or
      give them titles; the rest of `args_schema` only checks them;
    - `hiding_schema`: only hides. It is the tool's own schema, if the policy trusts the tools and has a
      schema of its own;
    - `must_read`: only a person who has opened all of it may approve what the card cuts;
    - `confirm`: Approve asks "are you sure?";
    - `redact`: JSON pointers to values that people never see. The hash of the arguments covers these values;
    - `display`: how some values are shown;
    - `hide_when_decided`: a decided card shows no arguments.
    """

    action_name: str
    allowed_decisions: tuple[DecisionType, ...]
    args_schema: dict[str, Any] | None = None
    policy_schema: dict[str, Any] | None = None
    hiding_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    answer_schema: dict[str, Any] | None = None
    answer_by_agent: bool = False
    output: Output | None = None
    must_read: bool = True
    confirm: bool = False
    redact: tuple[str, ...] = ()
    display: tuple[DisplayHint, ...] = ()
    hide_when_decided: bool = False
