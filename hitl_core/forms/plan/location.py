"""The location of a value in the arguments, and the slot for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hitl_core.forms.fast_replace import fast_replace
from hitl_core.forms.field import Field
from hitl_core.forms.fields import are_numbers
from hitl_core.forms.slot import OnClear, Slot
from hitl_core.jsonschema import Schema, to_pointer

INFERRED: Any = object()  # in place of a schema: use the type of the value
_READ_ONLY = "This can't be changed."
_INSIDE = " \u203a "  # between the label of an object and the label of a value in it


@dataclass(frozen=True)
class Location:
    """The location of a value.

    - `labels`: of the outer objects and of the value;
    - `required`: the value and all outer objects are required;
    - `parent_properties`: the ids of the outer `properties`. With them a recursive schema is recognized.
    """

    path: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    required: bool = True
    parent_on_clear: tuple[OnClear, ...] = ()
    locked: str | None = None
    parent_properties: tuple[int, ...] = ()

    def child(self, name: str, required: bool, blank: OnClear, properties: object) -> Location:
        return Location(
            path=(*self.path, name),
            labels=(*self.labels, name),
            required=self.required and required,
            parent_on_clear=(*self.parent_on_clear, blank),
            locked=self.locked,
            parent_properties=(*self.parent_properties, id(properties)),
        )


def with_title(
    location: Location, declared: object, schema: Schema, *, fixed: bool = False
) -> Location:
    """The location with the title of its own schema part. A title that comes from a reference is not used: it
    names the type, not the argument.
    """
    title = cast(Schema, declared).get("title") if isinstance(declared, dict) else None
    if isinstance(title, str) and title.strip() and location.path:
        location = fast_replace(location, labels=(*location.labels[:-1], title.strip()))
    return fast_replace(location, locked=_READ_ONLY) if fixed and not location.locked else location


def make_slot(location: Location, schema: Schema, nullable: bool, value: Any) -> Slot:
    blank: OnClear = "refuse"
    if nullable:
        blank = "null"
    elif not location.required:
        blank = "leave"
    elif schema.get("type") in ("string", "array"):
        blank = "empty"
    label = _INSIDE.join(location.labels) or "Arguments"
    required = location.required and not nullable
    field = Field(
        to_pointer(location.path), "json", label, required=required, locked=location.locked
    )
    return Slot(field, location.path, blank, location.parent_on_clear, value=value)


def infer_schema(value: Any) -> Schema:
    """A schema for the type of the value, one level deep."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case dict() if value:
            names = list(cast("dict[str, Any]", value))
            return {
                "type": "object",
                "properties": dict.fromkeys(names, INFERRED),
                "required": names,
            }
        case list() if value and all(isinstance(item, str) for item in cast("list[Any]", value)):
            return {"type": "array", "items": {"type": "string"}}
        case list() if value and are_numbers(cast("list[Any]", value)):
            return {"type": "array", "items": {"type": "number"}}
        case _:
            return {}


def keep_annotations(declared: object) -> Schema:
    """The texts and the `readOnly` or hiding keywords of a schema that can't be flattened."""
    if not isinstance(declared, dict):
        return {}
    keys = ("title", "description", "default", "readOnly", "writeOnly", "format")
    return {key: value for key, value in cast(Schema, declared).items() if key in keys}
