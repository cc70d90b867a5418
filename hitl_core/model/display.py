"""How a value of the arguments is shown to people."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.value import Value

DisplayStyle = Literal["text", "markdown-source", "email", "code", "money", "link", "diff"]


class DisplayHint(Value):
    """How the value at `pointer` (a JSON pointer into the arguments) is shown. It never hides a character,
    and a value that does not fit the style is shown as if there were no hint.

    - `text`: prose, in a quote; `email`: the same for the text of an e-mail;
    - `markdown-source`, `code`, `diff`: in a code block, unchanged; `language` is that of the code;
    - `money`: a number, with `currency`: an ISO code, or a JSON pointer to it in the arguments;
    - `link`: an address, as text with its host first.
    """

    pointer: str
    style: DisplayStyle
    language: str | None = None
    currency: str | None = None
