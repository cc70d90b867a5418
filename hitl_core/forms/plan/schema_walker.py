"""Walks through a schema and its arguments and collects the fields of the form, in the schema's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hitl_core.forms.fast_replace import fast_replace
from hitl_core.forms.field import Field
from hitl_core.forms.fields import (
    InputLimits,
    choose_input,
    description_text,
    json_slot,
    list_options,
    make_hint,
)
from hitl_core.forms.plan.branch_field import branch_slot, read_branch_choice
from hitl_core.forms.plan.branches import (
    Branch,
    find_branches,
    match_branch,
    simplify,
    switch_branch,
)
from hitl_core.forms.plan.location import (
    INFERRED,
    Location,
    infer_schema,
    keep_annotations,
    make_slot,
    with_title,
)
from hitl_core.forms.plan.members import member_schema
from hitl_core.forms.slot import ABSENT, OnClear, Slot, utf16_length
from hitl_core.jsonschema import (
    Budget,
    CannotFlatten,
    Path,
    ProtectedPaths,
    Schema,
    SchemaFlattener,
    is_fixed,
    is_secret,
    mask_value,
)

MAX_FIELDS = 400
_BRANCH_KEYS = {"anyOf", "oneOf"}
_VALUE_KEYS = {"anyOf", "oneOf", "not", "if", "enum", "const"}
_HIDDEN = "This value is hidden and stays unchanged."
_HOLDS_HIDDEN = "A part of this is hidden, so it can't be changed here."
_TOO_LONG = "This is longer than {:,} characters and can't be changed here."
_ONE_VALUE = "This has only one value."


class TooManyFields(Exception):
    """The form would have more than `MAX_FIELDS` fields."""


class SchemaWalker:
    """Collects `slots`. `answers` are used to choose branches. Objects are flattened `depth` levels deep."""

    def __init__(
        self,
        root: Mapping[str, Any],
        protected: ProtectedPaths,
        answers: Mapping[str, str | None],
        limits: InputLimits,
        depth: int,
        budget: Budget,
    ) -> None:
        self.slots: list[Slot] = []
        self._flattener, self._protected, self._answers = (
            SchemaFlattener(root, budget),
            protected,
            answers,
        )
        self._limits, self._depth = limits, depth

    def walk_value(self, location: Location, declared: object, value: Any) -> Any:
        """Add the fields of one value. Returns the value, switched to the chosen branches."""
        if declared is INFERRED:
            declared = infer_schema(value)
        branches: tuple[Branch, ...] | None = None
        try:
            schema, nullable = self._flattener.flatten(declared)
            schema, branches = self._find_branches(schema)
        except CannotFlatten:
            schema, nullable = keep_annotations(declared), False
        location = with_title(
            location, declared, schema, fixed=self._is_fixed(location.path, schema)
        )
        slot = make_slot(location, schema, nullable, value)
        if self._is_hidden(location.path, schema):
            return self._add_hidden(slot, schema)
        if branches:
            return self._walk_branches(location, slot, schema, branches)
        if branches is not None and self._is_flat(location, schema, slot):
            return self._walk_object(location, schema, slot.on_clear, value)
        if branches is None or not location.path:
            return self._add(json_slot(slot, self._limits.max_text), schema)
        return self._add(choose_input(slot, schema, self._flattener, self._limits), schema)

    def add_whole(self, args: dict[str, Any]) -> None:
        """Add one JSON field for all arguments."""
        slot = make_slot(Location(), {}, False, args)
        self._add(json_slot(slot, self._limits.max_text), {})

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
        if len(self.slots) + len(names) > MAX_FIELDS:
            raise TooManyFields
        after = held
        for name in names:
            old = held.get(name, ABSENT)
            if name in properties:
                declared = properties[name]
            else:  # if it is not allowed, it must be shown all the same
                declared = member_schema(schema, name, self._flattener.budget) or INFERRED
            if name == skip or (declared is False and old is ABSENT):
                continue
            required = name in schema.get("required", ())
            new = self.walk_value(location.child(name, required, blank, properties), declared, old)
            if new is not old:
                after = {n: item for n, item in {**after, name: new}.items() if item is not ABSENT}
        return cast(object, value) if after is held else after

    def _walk_branches(
        self, location: Location, slot: Slot, schema: Schema, branches: tuple[Branch, ...]
    ) -> Any:
        current = (
            None if slot.is_empty else match_branch(branches, slot.value, self._flattener.budget)
        )
        deep = len(location.path) > self._depth and any(branch.properties for branch in branches)
        has_hidden_discriminator = any(
            b.discriminator and self._protected.is_hidden_path((*location.path, b.discriminator))
            for b in branches
        )
        if deep or has_hidden_discriminator or (current is None and not slot.is_empty):
            return self._add(json_slot(slot, self._limits.max_text), schema)
        choice = branch_slot(slot, branches, current)
        self._add(choice, schema)
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
        if "const" in branch.schema:
            return value
        schema, inner = (
            branch.schema,
            with_title(
                fast_replace(location, required=True),
                {},
                branch.schema,
                fixed=self._is_fixed(location.path, branch.schema),
            ),
        )
        if schema.get("type", "object") == "object" and branch.properties:
            return self._walk_object(inner, schema, slot.on_clear, value, skip=branch.discriminator)
        own = make_slot(
            fast_replace(inner, labels=(*location.labels, branch.label)), schema, False, value
        )
        if slot.on_clear in ("leave", "null"):
            own = fast_replace(own, on_clear=slot.on_clear)
        if self._is_hidden(location.path, schema):
            return self._add_hidden(own, schema)
        return self._add(choose_input(own, schema, self._flattener, self._limits), schema)

    def _find_branches(self, schema: Schema) -> tuple[Schema, tuple[Branch, ...]]:
        """The simplified schema, and its branches. Raises CannotFlatten."""
        if not (_BRANCH_KEYS & schema.keys() or isinstance(schema.get("type"), list)):
            return schema, ()
        schema = simplify(schema)
        return schema, () if list_options(schema) else find_branches(self._flattener, schema)

    def _is_fixed(self, path: Path, schema: Schema) -> bool:
        protected = self._protected
        return protected.has_fixed_parts and (is_fixed(schema) or protected.is_fixed_path(path))

    def _is_hidden(self, path: Path, schema: Schema) -> bool:
        protected = self._protected
        return protected.has_hidden_parts and (is_secret(schema) or protected.is_hidden_path(path))

    def _add_hidden(self, slot: Slot, schema: Schema) -> Any:
        pointer, label = slot.field.pointer, slot.field.label
        field = Field(pointer, "text", label, description_text(schema), locked=_HIDDEN, hidden=True)
        self.slots.append(fast_replace(slot, field=field))
        return slot.value

    def _add(self, slot: Slot, schema: Schema) -> Any:
        value, protected = slot.value, self._protected
        kept, hidden = (), list[Path]()
        if not slot.is_branch_choice and protected.has_fixed_parts:
            kept = protected.find_fixed_below(slot.path, value)
        if not slot.is_branch_choice and protected.has_hidden_parts:
            hidden = protected.find_hidden_below(slot.path, value)
        if hidden:
            slot = json_slot(slot, self._limits.max_text, masked_value=mask_value(value, hidden))
        field = slot.field
        changes: dict[str, Any] = {"hint": make_hint(schema, field)}
        if hidden:
            changes["locked"] = _HOLDS_HIDDEN
        elif field.locked is None and "const" in schema and slot.reads == "option":
            changes["locked"] = _ONE_VALUE if field.initial == "0" else None
        elif not slot.values and self._is_too_long(field.initial):
            reason = _TOO_LONG.format(self._limits.max_text)
            changes |= {"locked": field.locked or reason, "max_length": None}
        field = fast_replace(field, **changes)
        self.slots.append(fast_replace(slot, field=field, fixed_paths=kept))
        if len(self.slots) > MAX_FIELDS:
            raise TooManyFields
        return value

    def _is_too_long(self, text: str | None) -> bool:
        longest = self._limits.max_text
        return text is not None and 2 * len(text) > longest and utf16_length(text) > longest
