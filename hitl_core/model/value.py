"""The base of all stored values: frozen, and strict about what it doesn't know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """To change one, make another: `value.model_copy(update={...})`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
