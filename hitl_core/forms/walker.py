"""Finds the values that get a field, by walking through a schema and its arguments. In the schema's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from hitl_core.forms.branches import Branch, branch_slot, find_branches, read_branch_choice
from hitl_core.forms.field import ABSENT, Field, Found, InputLimits, InputNeed, OnClear, Slot
from hitl_core.forms.hints import finish_slots
from hitl_core.forms.inputs import choose_inputs
from hitl_core.forms.value_schema import (
    INFERRED,
    infer_undeclared,
    keep_annotations,
    key_labels,
    match_branch,
    member_schema,
    switch_branch,
)
from hitl_core.jsonschema import (
    Budget,
    CannotFlatten,
    FlatSchema,
    ProtectedPaths,
    Schema,
    SchemaFlattener,
    child_pointers,
    is_fixed,
    is_secret,
)

MAX_FIELDS = 400
_BRANCH_KEYS = {"anyOf", "oneOf"}
_VALUE_KEYS = {"anyOf", "oneOf", "not", "if", "enum", "const"}
_READ_ONLY = "This can't be changed."
_INSIDE = " \u203a "  # between the label of an object and the label of a value in it


class TooManyFields(Exception):
    """The form would have more than `MAX_FIELDS` fields."""


class Location(NamedTuple):
    """The location of a value.

    - `pointer`: the path as a JSON pointer;
    - `labels`: the labels of the outer objects and of the value;
    - `required`: the value and all outer objects are required;
    - `parent_properties`: the ids of the outer `properties`, to recognize a recursive schema.
    """

    path: tuple[str, ...] = ()
    pointer: str = ""
    labels: tuple[str, ...] = ()
    required: bool = True
    parent_on_clear: tuple[OnClear, ...] = ()
    locked: str | None = None
    parent_properties: tuple[int, ...] = ()


class SchemaWalker:
    """Finds the values that get a field. `answers` choose branches. Objects are flattened `depth` levels."""

    def __init__(
        self,
        root: Mapping[str, Any],
        protected: ProtectedPaths,
        answers: Mapping[str, str | None],
        limits: InputLimits,
        depth: int,
        budget: Budget,
    ) -> None:
        self._found: list[Found] = []
        self._flattener, self._protected = SchemaFlattener(root, budget), protected
        self._answers, self._limits, self._depth = answers, limits, depth

    def walk(self, declared: object, args: dict[str, Any]) -> object:
        """Find the values in all arguments. Returns the arguments, switched to the chosen branches."""
        [flat] = self._flattener.flatten_each([declared])
        return self._walk_value(Location(), declared, flat, args)

    def add_whole(self, args: dict[str, Any]) -> None:
        """Add one JSON field for all arguments."""
        self._add(_make_slot(Location(), {}, False, args), {}, "json")

    def slots(self) -> tuple[Slot, ...]:
        """The slots of all values that were found. Raises TooMuchWork."""
        values = choose_inputs(self._found, self._flattener, self._limits)
        return finish_slots(values, self._protected, self._limits.max_text)

    def _walk_value(
        self, location: Location, declared: object, flat: FlatSchema | None, value: Any
    ) -> Any:
        """Find the values in one value. `flat`: the flattened schema; None if that is impossible."""
        branches: tuple[Branch, ...] | None = None
        try:
            schema, nullable, branches = self._split(flat)
            nullable = nullable and bool(location.path)  # all arguments together are never null
        except CannotFlatten:
            schema, nullable = keep_annotations(declared), False
        location = self._with_title(location, declared, schema)
        slot = _make_slot(location, schema, nullable, value)
        if self._is_hidden(location, schema):
            return self._add(slot, schema, "hiding")
        if branches:
            return self._walk_branches(location, slot, schema, branches)
        if branches is not None and self._is_flat(location, schema, slot):
            return self._walk_object(location, schema, slot.on_clear, value)
        if branches is None or not location.path:
            return self._add(slot, schema, "json")
        return self._add(slot, schema, "input")

    def _is_flat(self, location: Location, schema: Schema, slot: Slot) -> bool:
        properties = schema.get("properties")
        if not location.path:
            return bool(properties) or (bool(slot.value) and not _VALUE_KEYS & schema.keys())
        if not properties or schema.get("type", "object") != "object":
            return False
        deep = len(location.path) > self._depth or id(properties) in location.parent_properties
        return not deep and (slot.is_empty or isinstance(slot.value, dict))

    def _walk_object(
        self,
        location: Location,
        schema: Schema,
        blank: OnClear,
        value: Any,
        skip: str | None = None,
    ) -> Any:
        held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        properties = cast("dict[str, Any]", schema.get("properties", {}))
        names = [*properties, *(name for name in held if name not in properties)]
        if len(self._found) + len(names) > MAX_FIELDS:
            raise TooManyFields
        members: dict[str, object] = {}
        for name in names:
            is_known, budget = name in properties, self._flattener.budget
            declared = properties[name] if is_known else member_schema(schema, name, budget)
            if declared is INFERRED or (declared is False and not is_known):  # shown if it is there
                is_known = is_known or not properties
                declared = infer_undeclared(held.get(name, ABSENT), is_known=is_known)
            if name != skip and not (declared is False and name not in held):
                members[name] = declared
        flats = self._flattener.flatten_each(members.values())
        pointers = child_pointers(location.pointer, members)
        required_names, after = schema.get("required", ()), held
        blanks = (*location.parent_on_clear, blank)
        parents = (*location.parent_properties, id(properties))
        own_labels = key_labels(members)
        for name, flat, pointer, label in zip(members, flats, pointers, own_labels, strict=True):
            path, labels = (*location.path, name), (*location.labels, label)
            required = location.required and name in required_names
            inner = Location(path, pointer, labels, required, blanks, location.locked, parents)
            old = held.get(name, ABSENT)
            new = self._walk_value(inner, members[name], flat, old)
            if new is not old:
                after = {n: item for n, item in {**after, name: new}.items() if item is not ABSENT}
        return cast(object, value) if after is held else after

    def _walk_branches(
        self, location: Location, slot: Slot, schema: Schema, branches: tuple[Branch, ...]
    ) -> Any:
        current = match_branch(branches, slot, self._flattener.budget)
        deep = len(location.path) > self._depth and any(branch.properties for branch in branches)
        has_hidden_discriminator = any(
            b.discriminator and self._protected.is_hidden_path((*location.path, b.discriminator))
            for b in branches
        )
        if deep or has_hidden_discriminator or (current is None and not slot.is_empty):
            return self._add(slot, schema, "json")
        choice = branch_slot(slot, branches, current)
        self._add(choice, schema, "nothing")
        chosen = read_branch_choice(choice, self._answers)
        if chosen is None:
            return slot.value
        if chosen is ABSENT:
            return slot.value if slot.is_empty else None if slot.on_clear == "null" else ABSENT
        new, after = branches[cast(int, chosen)], cast(object, slot.value)
        if chosen != current:
            old = None if current is None else branches[current]
            after = switch_branch(self._flattener, old, new, after)
        return self._walk_branch(location, slot, new, after)

    def _walk_branch(self, location: Location, slot: Slot, branch: Branch, value: Any) -> Any:
        schema = branch.schema
        if "const" in schema:
            return value
        inner = self._with_title(location._replace(required=True), {}, schema)
        if schema.get("type", "object") == "object" and branch.properties:
            return self._walk_object(inner, schema, slot.on_clear, value, skip=branch.discriminator)
        inner = inner._replace(labels=(*location.labels, branch.label))
        blank = slot.on_clear if slot.on_clear in ("leave", "null") else None
        own = _make_slot(inner, schema, False, value, blank)
        return self._add(own, schema, "hiding" if self._is_hidden(location, schema) else "input")

    def _split(self, flat: FlatSchema | None) -> tuple[Schema, bool, tuple[Branch, ...]]:
        """The schema, whether null is allowed, and the branches. Raises CannotFlatten."""
        if flat is None:
            raise CannotFlatten
        schema, nullable = flat
        if not (_BRANCH_KEYS & schema.keys() or isinstance(schema.get("type"), list)):
            return schema, nullable, ()
        schema, branches = find_branches(self._flattener, schema)
        return schema, nullable, branches

    def _with_title(self, location: Location, declared: object, schema: Schema) -> Location:
        """The location, with the title of its own part of the schema, and locked if that part is `readOnly`.
        A title that comes from a reference is not used: it names the type, not the argument.
        """
        title = cast(Schema, declared).get("title") if isinstance(declared, dict) else None
        if isinstance(title, str) and title.strip() and location.path:
            location = location._replace(labels=(*location.labels[:-1], title.strip()))
        protected, path = self._protected, location.path
        fixed = protected.has_fixed_parts and (is_fixed(schema) or protected.is_fixed_path(path))
        return location._replace(locked=_READ_ONLY) if fixed else location

    def _is_hidden(self, location: Location, schema: Schema) -> bool:
        hides, path = self._protected.has_hidden_parts, location.path
        return hides and (is_secret(schema) or self._protected.is_hidden_path(path))

    def _add(self, slot: Slot, schema: Schema, needs: InputNeed) -> Any:
        """Add the slot. Returns its value."""
        self._found.append(Found(slot, schema, needs))
        if len(self._found) > MAX_FIELDS:
            raise TooManyFields
        return slot.value


def _make_slot(
    location: Location, schema: Schema, nullable: bool, value: Any, blank: OnClear | None = None
) -> Slot:
    """`blank` says what an empty input means; without it, the location and the schema decide."""
    if blank is None:
        blank = "refuse"
        if nullable:
            blank = "null"
        elif not location.required:
            blank = "leave"
        elif schema.get("type") in ("string", "array"):
            blank = "empty"
    label = _INSIDE.join(location.labels) or "Arguments"
    required = location.required and not nullable
    field = Field(location.pointer, "json", label, required=required, locked=location.locked)
    empty = value is ABSENT or (value is None and blank == "null")
    return Slot(field, location.path, blank, location.parent_on_clear, value=value, is_empty=empty)
