"""Arguments with marks in place of hidden values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from hitl_core.jsonschema import find_hidden, mask_args, schema_properties
from hitl_core.model import Action, DisplayHint
from hitl_core.review import declared_arguments, redaction_pointers, visible_schema

#: Shown in place of a hidden value. No text can forge it, because ⟦ and ⟧ in a text become marks themselves.
HIDDEN_MARK = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can contain. `text.to_visible` turns it into _MARK.
PLACEHOLDER = "\ud800"
_MARK = "⟦U+D800⟧"


class MaskedArgs(NamedTuple):
    """The arguments in the order for people, with placeholders for hidden values. `schemas`: what is shown of
    each argument's schema. `declared`: the arguments in the policy's schema. `hints`: the policy's hints by
    pointer.
    """

    items: tuple[tuple[str, Any], ...]
    schemas: Mapping[str, object]
    declared: Mapping[str, object]
    has_hidden: bool
    hints: dict[str, DisplayHint]


def mask(
    args: dict[str, Any],
    schema: dict[str, Any] | None,
    redact: Collection[str] = (),
    display: Iterable[DisplayHint] = (),
    declared: Mapping[str, object] | None = None,
) -> MaskedArgs:
    """Mask the arguments. What is hidden is found here, once for every use. `declared`: by default all
    arguments of the schema.
    """
    masked = hide(args, schema, redact)
    schemas = schema_properties(schema)
    items = ((key, masked[key]) for key in keys_in_order(masked, schemas))
    hints = {hint.pointer: hint for hint in display}
    known = schemas if declared is None else declared
    return MaskedArgs(tuple(items), schemas, known, masked is not args, hints)


def mask_action(action: Action, args: dict[str, Any]) -> MaskedArgs:
    """These arguments of an action, masked, with everything that its rules say about them."""
    config = action.config
    redact = redaction_pointers(action, args)
    return mask(args, visible_schema(config), redact, config.display, declared_arguments(config))


def hide(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> dict[str, Any]:
    """The arguments with placeholders for the values that the policy hides, and for those that the schema
    marks as write-only or as a password; `args` itself if there are none. `mark_hidden` turns the
    placeholders into HIDDEN_MARK.
    """
    hidden = find_hidden([schema], args, redact) if schema or redact else []
    return mask_args(args, hidden, PLACEHOLDER) if hidden else args


def mark_hidden(visible: str) -> str:
    """Visible text with HIDDEN_MARK for each placeholder."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN_MARK).replace(_MARK, HIDDEN_MARK)


def keys_in_order(args: Mapping[str, Any], schemas: Iterable[str]) -> list[str]:
    """The keys of `args` in the order of their schemas, then those without a schema."""
    return list(dict.fromkeys([k for k in schemas if k in args] + list(args)))
