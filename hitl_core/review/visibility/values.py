"""Which values of the arguments are hidden from people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hitl_core.jsonschema import Budget, find_hidden, is_hiding_unclear, mask_args, to_pointer
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
    schemas: Iterable[dict[str, Any] | None], args: dict[str, Any], budget: Budget | None = None
) -> str | None:
    """Why these arguments can't be shown to people; None if they can. If it is unclear what a schema hides, a
    card would hide everything. `schemas` are the ones that the policy trusts. Raises TooMuchWork if the
    `budget` is not enough.
    """
    if not is_hiding_unclear(schemas, args, budget):
        return None
    return (
        "it is unclear which of these arguments the schema hides: they are too large, or it has a “$ref”"
        " that does not begin with “#/”, or a part with its own “$id”. Make the arguments smaller, or write"
        " references as “#/$defs/…”, without “$id”"
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
