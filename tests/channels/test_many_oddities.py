"""A card names the first odd arguments, and looks at no more of them than that takes."""

from __future__ import annotations

import pytest

from bot.card.arguments import mask
from bot.card.suspicious_text import MAX_WARNINGS, argument_warnings


@pytest.mark.parametrize("count", [0, 1, MAX_WARNINGS, MAX_WARNINGS + 1])
def test_a_few_odd_arguments_are_each_named(count: int) -> None:
    assert len(argument_warnings(mask({f"k{n}": "\u202e" for n in range(count)}, None))) == count


def test_of_many_odd_arguments_the_first_are_named() -> None:
    args = {f"k{n}": "\u202e" for n in range(14_000)}
    *first, last = argument_warnings(mask(args, None), texts=[("Its title", "\u202e")])
    assert [words.split()[0] for words in first] == ["Its", "k0", "k1", "k2", "k3"]
    assert last == "More arguments have warnings too."
