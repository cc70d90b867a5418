"""Errors of arguments, schemas and patterns."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.errors import HitlError


@dataclass(frozen=True)
class ArgError:
    """An error of the value at `pointer`. `message` follows the value's name: "must be at most 500"."""

    pointer: str
    message: str


class SchemaError(HitlError):
    """The schema can't be used: it is invalid or too big, or has a remote $ref or an unusable pattern."""


class PatternError(SchemaError):
    """The regular expression is invalid, or can't be matched in a short time."""
