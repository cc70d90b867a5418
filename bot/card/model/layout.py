"""How a card shows its actions, and which of them it does not show in full. Pure."""

from __future__ import annotations

from typing import Literal

from .card import Card

#: All actions in full, all in a table, or the first ones with a line each.
Layout = Literal["full", "table", "lines"]


def shows_list(card: Card, *, fits: bool) -> bool:
    """Whether a card has one line for each waiting action, in place of all actions in full. `fits`: in full,
    the actions are within the channel's limits.
    """
    return bool(card.waiting) and not (fits and len(card.open_actions) == len(card.waiting))


def incomplete_actions(card: Card, layout: Layout) -> frozenset[str]:
    """The keys of the pending actions that the card does not show in full: they are cut, or their row of the
    table is not whole.
    """
    if layout == "full":
        return frozenset(action.key for action in card.open_actions if action.excerpt.missing)
    if layout == "table" and card.table is not None:
        return card.table.cut
    return frozenset(action.key for action in card.waiting)


def shows_all(card: Card, layout: Layout) -> bool:
    """Whether this card shows everything that must be read before an approval."""
    incomplete = incomplete_actions(card, layout)
    return not any(one.reads_all and one.key in incomplete for one in card.waiting)
