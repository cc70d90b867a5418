"""The base class of all stored values: frozen, and unknown fields are an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """To change a value, make a copy: `value.model_copy(update={...})`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
