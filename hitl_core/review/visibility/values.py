"""Which values of the arguments are hidden from people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hitl_core.jsonschema import (
    Budget,
    find_hidden,
    find_other_form,
    format_path,
    is_hiding_unclear,
    mask_args,
    parse_pointer,
    read_index,
    to_pointer,
)
from hitl_core.model import Action, Call, Review


class Hiding(Protocol):
    """What hides values: a policy's ruling, or the config of an action."""

    @property
    def redact(self) -> tuple[str, ...]: ...
    @property
    def policy_schema(self) -> dict[str, Any] | None: ...
    @property
    def hiding_schema(self) -> dict[str, Any] | None: ...


def find_pointers(hiding: Hiding, args: Mapping[str, Any]) -> tuple[str, ...]:
    """JSON pointers (RFC 6901) to those of these arguments that are hidden."""
    paths = find_hidden((hiding.policy_schema, hiding.hiding_schema), args, hiding.redact)
    return tuple(sorted(map(to_pointer, paths)))


def redaction_pointers(owner: Action | Call, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers to the hidden values in the arguments of an action, or of a call that needs no person:
    those of `redact`, and those that a trusted schema hides. The rules that applied before an edit count too.
    """
    if isinstance(owner, Call):
        return owner.redact
    configs = [owner.config, *(terms.config for terms in owner.earlier)]
    pointers = (
        each for config in configs for each in (*config.redact, *find_pointers(config, args))
    )
    return tuple(dict.fromkeys(pointers))


def compared_pointers(action: Action, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers to what is hidden when an action is compared with the rejected call that it follows: what
    the rules of one or the other hide.
    """
    earlier = action.rejected_before
    return (*redaction_pointers(action, args), *(earlier.redact if earlier else ()))


def find_redaction_flaw(
    hidings: Iterable[Hiding], args: Mapping[str, Any], budget: Budget | None = None
) -> str | None:
    """Why these arguments can't be shown to people; None if they can. If it is unclear what `hidings` hide, a
    card would hide too much. Raises TooMuchWork if the `budget` is not enough.
    """
    hidings = tuple(hidings)
    for pointer in dict.fromkeys(pointer for each in hidings for pointer in each.redact):
        path = tuple(parse_pointer(pointer))
        if (other := find_other_form(args, path)) is not None:
            hidden, name = (format_path(to_pointer(each)) for each in (path, other))
            wanted = "an object" if read_index(path[len(other)]) is None else "a list"
            return f"the policy hides {hidden}, so {name} must be {wanted}"
    schemas = [schema for each in hidings for schema in (each.policy_schema, each.hiding_schema)]
    if not is_hiding_unclear(schemas, args, budget):
        return None
    return (
        "it is unclear which of these arguments the schema hides: they are too large, or a text, a number or"
        " a list is where the schema hides a part of an object (or an object where it hides a part of a"
        " list), or it has a “$ref” that does not begin with “#/”, or a part with its own “$id”. Make the"
        " arguments smaller, send objects as objects and lists as lists, or write references as"
        " “#/$defs/…”, without “$id”"
    )


def mask_hidden(owner: Action | Call, args: dict[str, Any]) -> dict[str, Any]:
    """These arguments with "(hidden)" for the values that `redaction_pointers` hides."""
    return mask_args(args, find_hidden((), args, redaction_pointers(owner, args)))


def visible_args(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" for hidden values; by default those of the newest revision. Revision
    0 has the arguments of the rejected call that this call follows.
    """
    action, args = review.action(call.key), review.arguments(call.key, revision).parse()
    if revision == 0 and action is not None:
        return mask_args(args, find_hidden((), args, compared_pointers(action, args)))
    return mask_hidden(action or call, args)
