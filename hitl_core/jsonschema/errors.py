"""What can be wrong with arguments, a schema or a pattern."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.errors import HitlError


@dataclass(frozen=True)
class ArgError:
    """What is wrong with the value at `pointer`, to read after its name: "must be at most 500"."""

    pointer: str
    message: str


class SchemaError(HitlError):
    """A schema that can't be used: not valid, too big, a remote $ref, a pattern that can't be run."""


class PatternError(SchemaError):
    """A regular expression that is not valid, or that can't be checked in a short time."""
