"""Hidden values: people approve them but never see them. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hitl_core.jsonschema import find_hidden, mask_args

#: Shown instead of a hidden value. No text can forge it: ⟦ and ⟧ in a text become marks themselves.
HIDDEN = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can contain. `text.to_visible` turns it into _MARK.
_PLACEHOLDER = "\ud800"
_MARK = "⟦U+D800⟧"


def hide(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> dict[str, Any]:
    """The arguments with placeholders for the values that the policy hides, and that the schema calls
    write-only or a password; `args` itself if there are none. `mark_hidden` turns the placeholders into
    HIDDEN.
    """
    hidden = find_hidden(schema, args, redact)
    return mask_args(args, hidden, _PLACEHOLDER) if hidden else args


def mark_hidden(visible: str) -> str:
    """Visible text with HIDDEN for each placeholder."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN).replace(_MARK, HIDDEN)


def drop_hidden(raw: str) -> str:
    return raw.replace(_PLACEHOLDER, "")
