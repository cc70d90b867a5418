"""Which values of a call's arguments are hidden from people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hitl_core.jsonschema import find_hidden, is_hiding_unclear, mask_args, to_pointer
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
    """JSON pointers (RFC 6901) to the values that are hidden, all of which are there."""
    paths = {*find_hidden(hiding.policy_schema, args, hiding.redact)}
    paths.update(find_hidden(hiding.hiding_schema, args))
    return tuple(sorted(map(to_pointer, paths)))


def redaction_pointers(owner: Action | Call, args: dict[str, Any]) -> tuple[str, ...]:
    """JSON pointers to the hidden values of an action's arguments, or of a call that needs no person: those
    of `redact`, and those that a trusted schema hides. The rules that applied before an edit count too.
    """
    if isinstance(owner, Call):
        return owner.redact
    configs = [owner.config, *(terms.config for terms in owner.earlier)]
    pointers = (
        each for config in configs for each in (*config.redact, *find_pointers(config, args))
    )
    return tuple(dict.fromkeys(pointers))


def cut_at_hidden(pointer: str, hidden: Iterable[str]) -> str:
    """The pointer, up to the first hidden value on its way: the keys inside are hidden, too."""
    ways = (each for each in hidden if pointer.startswith(f"{each}/"))
    return min(ways, key=len, default=pointer)


def find_redaction_flaw(
    schemas: Iterable[dict[str, Any] | None], args: dict[str, Any]
) -> str | None:
    """Why these arguments can't be shown to people; None if they can. `schemas` are the ones that the policy
    trusts. If it is unclear what a schema hides, a card would hide everything.
    """
    if not any(is_hiding_unclear(schema, args) for schema in schemas):
        return None
    return (
        "it is unclear which of these arguments the schema hides: they are too large, or it has a `$ref`"
        " that does not begin with `#/`, or a part with its own `$id`. Make the arguments smaller, or write"
        " references as `#/$defs/…`, without `$id`"
    )


def mask_hidden(owner: Action | Call, args: dict[str, Any]) -> dict[str, Any]:
    """These arguments with "(hidden)" for the values that `redaction_pointers` hides."""
    return mask_args(args, find_hidden(None, args, redaction_pointers(owner, args)))


def visible_args(review: Review, call: Call, revision: int | None = None) -> dict[str, Any]:
    """A call's arguments with "(hidden)" for hidden values, by default of the newest revision."""
    args = review.arguments(call.key, revision).parse()
    return mask_hidden(review.action(call.key) or call, args)
