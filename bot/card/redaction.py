"""Values that people never see, though what they approve covers them. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hitl_core.forms import find_hidden, mask_args

#: What stands where such a value would. No text can forge it: ⟦ and ⟧ in a text become marks themselves.
HIDDEN = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can hold; `text.visible` makes a mark of it.
_PLACEHOLDER = "\ud800"
_MARK = "⟦U+D800⟧"


def hide(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> dict[str, Any]:
    """The same arguments with stand-ins, that `shown` knows, for what the policy hides, and what the schema
    calls write-only or a password.
    """
    return mask_args(args, find_hidden(schema, args, redact), _PLACEHOLDER)


def mark_hidden(visible: str) -> str:
    """Visible text with HIDDEN where a stand-in is."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN).replace(_MARK, HIDDEN)


def drop_hidden(raw: str) -> str:
    return raw.replace(_PLACEHOLDER, "")
