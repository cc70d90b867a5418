"""Texts about a call that may quote what nobody is to see of its arguments. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, cast
from urllib.parse import quote

from hitl_core.forms import value_at
from hitl_core.jsonschema import find_hidden
from hitl_core.model import Action, Call, Review
from hitl_core.review.redaction import redaction_pointers

#: What is shorter can't be told from any other word or number.
SHORTEST = 4
#: Of longer values this many characters in a row are a quote.
RUN = 16
_STEP = 4  # so that a quote of RUN + _STEP - 1 characters is always found
#: A text that is longer than so many characters is not looked through: it counts as one that quotes.
MOST = 100_000
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[\s.,_'\u2019]+(?=[0-9])")


class Quoting:
    """What is hidden of the arguments of one call, in the ways in which a text may write it: as it is, as
    JSON or Python escape it, in an address, in HTML, and numbers with or without separators.
    """

    def __init__(self, hidden: Iterable[Any], *, unknown: bool = False) -> None:
        """`unknown`: something may be hidden, and the arguments are not here to look it up."""
        self._forms, self._digits, self._tokens = set[str](), set[str](), set[str]()
        self._unknown = unknown
        #: Something is hidden that is too short to be looked for.
        self._short = False
        for value in hidden:
            for leaf in _leaves(value):
                self._add(leaf)

    @classmethod
    def of(cls, review: Review, action: Action | None) -> Quoting:
        """Of the arguments that were asked for and of those that would run."""
        if action is None:
            return cls(())
        if f"{action.key}:1" not in review.args:  # the outline of a review has no arguments
            configs = [action.config, *(terms.config for terms in action.earlier)]
            return cls((), unknown=any(each.redact or each.policy_schema for each in configs))
        each = [review.arguments(action.key, n).parse() for n in {1, action.revision}]
        return cls(
            value_at(args, way) if way else args
            for args in each
            for way in find_hidden(None, args, redaction_pointers(action, args))
        )

    def may_be_in(self, said: str) -> bool:
        """Whether a text may quote some of it; also where nobody can tell."""
        return bool(said.strip()) and (self._unknown or self._short or self.is_in(said))

    def is_in(self, said: str) -> bool:
        """Whether a text quotes some of it that is long enough to be sure."""
        if len(said) > MOST:
            return bool(self._forms or self._digits)
        said = said.casefold()
        digits = _BETWEEN_DIGITS.sub("", said)
        if any(form in said for form in self._forms) or any(n in digits for n in self._digits):
            return True
        runs = {said[start : start + RUN] for start in range(len(said) - RUN + 1)}
        return any(
            form[start : start + RUN] in runs
            for form in self._forms
            for start in range(0, len(form) - RUN + 1, _STEP)
        )

    def without(self, said: str) -> str:
        """A text without what it quotes of it word for word; of what is short only numbers and their like."""
        if self._unknown and said.strip():
            return "…"
        folded = said.casefold()
        present = [form for form in self._forms if form in folded]
        for form in sorted(present, key=len, reverse=True):
            said = re.sub(re.escape(form), "…", said, flags=re.IGNORECASE)
        present = [number for number in self._digits | self._tokens if number in said]
        for number in sorted(present, key=len, reverse=True):
            said = re.sub(rf"(?<!\w){re.escape(number)}(?!\w)", "…", said)
        return said

    def _add(self, leaf: str | int | float) -> None:
        if isinstance(leaf, bool):
            self._short = True
        elif isinstance(leaf, str):
            self._add_text(leaf.strip())
        else:
            number = f"{Decimal(str(leaf)):f}"
            digits = re.sub(r"\D", "", number.rstrip("0") if "." in number else number).lstrip("0")
            if len(digits) < SHORTEST:
                self._short = True
                self._tokens.add(str(leaf))
            else:
                self._digits.add(digits)

    def _add_text(self, text: str) -> None:
        if 0 < len(text) < SHORTEST:
            self._short = True
            if re.search("[0-9]", text):
                self._tokens.add(text)
            return
        whole = {
            text,
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
            repr(text)[1:-1],
            quote(text, safe=""),
            html.escape(text),
        }
        lines = (line.strip() for line in text.splitlines())
        short = (
            line for line in lines if len(line) < RUN + _STEP
        )  # a longer one is found by its runs
        self._forms |= {form.casefold() for form in (*whole, *short) if len(form) >= SHORTEST}


def description_of(action: Action, quoting: Quoting) -> str | None:
    """As people may read it: None for one of the agent that may quote what is hidden. What the policy's file
    says stays as it is, or an agent could cut a warning by sending its words as a hidden value.
    """
    asked = action.request
    if asked.by_agent:
        return None if quoting.may_be_in(asked.description) else asked.description
    return quoting.without(asked.description) if asked.computed else asked.description


def title_of(action: Action, quoting: Quoting) -> str | None:
    """What the agent's own system calls it; None also where that may quote what is hidden."""
    title = action.request.title
    return None if title and quoting.may_be_in(title) else title


def reason_of(call: Call, action: Action | None, quoting: Quoting) -> str:
    """Why the policy rules so, as people may read it."""
    reason = call.verdict.reason
    return quoting.without(reason) if action and action.request.computed else reason


def _leaves(value: object) -> Iterator[str | int | float]:
    """The texts and numbers in it. A name counts where it is long, as no name of a field is."""
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        yield from (name for name in named if len(name) > 2 * RUN)
        value = [*named.values()]
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _leaves(item)
    elif isinstance(value, str | int | float):
        yield value
