"""The way through a schema and its arguments that meets every field, in the schema's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hitl_core.forms.branches import Branch, branch_of, branches_of, simpler, switched
from hitl_core.forms.budget import Budget
from hitl_core.forms.changed import changed
from hitl_core.forms.choices import options_of
from hitl_core.forms.chooser import chooser, picked
from hitl_core.forms.form import Field
from hitl_core.forms.hints import about, hint
from hitl_core.forms.place import INFERRED, Place, entered, inferred, slot_at, told
from hitl_core.forms.scalars import Room, as_json, with_input
from hitl_core.forms.secrets import Marks, is_secret, masked
from hitl_core.forms.shape import Conflict, Schema, Shapes
from hitl_core.forms.slot import ABSENT, Blank, Slot, width

MAX_FIELDS = 400
_SHAPES = {"anyOf", "oneOf", "not", "if", "enum", "const"}
_HIDDEN = "This is hidden, and kept as it is."
_HOLDS_HIDDEN = "A part of this is hidden, so it can't be changed here."
_TOO_LONG = "This is longer than {:,} characters and can't be changed here."
_ONE_VALUE = "This has only one value."


class TooManyFields(Exception):
    """There would be more than `MAX_FIELDS`."""


class Walk:
    """Collects `slots`. `answers` matter where they choose a branch; objects are flattened `depth` levels."""

    def __init__(
        self,
        root: Mapping[str, Any],
        marks: Marks,
        answers: Mapping[str, str | None],
        room: Room,
        depth: int,
        budget: Budget,
    ) -> None:
        self.slots: list[Slot] = []
        self._shapes, self._marks, self._answers = Shapes(root, budget), marks, answers
        self._room, self._depth = room, depth

    def value(self, at: Place, declared: object, value: Any) -> Any:
        """Add the fields of one value. Returns it as the chosen branches make it, or as it is."""
        if declared is INFERRED:
            declared = inferred(value)
        branches: tuple[Branch, ...] | None = None
        try:
            schema, nullable = self._shapes.plain(declared)
            schema = simpler(schema)
            branches = () if options_of(schema) else branches_of(self._shapes, schema)
        except Conflict:
            schema, nullable = told(declared), False
        at = entered(at, declared, schema, fixed=self._marks.fixes(at.names))
        slot = slot_at(at, schema, nullable, value)
        if self._marks.hides(at.names) or is_secret(schema):
            return self._hidden(slot, schema)
        if branches:
            return self._branches(at, slot, schema, branches)
        if branches is not None and self._is_flat(at, schema, slot):
            return self._object(at, schema, slot.blank, value)
        if branches is None or not at.names:
            return self._add(as_json(slot, self._room.text), schema)
        return self._add(with_input(slot, schema, self._shapes, self._room), schema)

    def whole(self, args: dict[str, Any]) -> None:
        """All of it as one field."""
        slot = slot_at(Place(), {}, False, args)
        self._add(as_json(slot, self._room.text), {})

    def _is_flat(self, at: Place, schema: Schema, slot: Slot) -> bool:
        properties = schema.get("properties")
        if not at.names:
            return bool(properties) or (bool(slot.value) and not _SHAPES & schema.keys())
        if not properties or schema.get("type", "object") != "object":
            return False
        deep = len(at.names) > self._depth or id(properties) in at.around
        return not deep and (slot.empty or isinstance(slot.value, dict))

    def _object(
        self, at: Place, schema: Schema, blank: Blank, value: Any, skip: str | None = None
    ) -> Any:
        held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        properties = cast("dict[str, Any]", schema.get("properties", {}))
        names = [*properties, *(name for name in held if name not in properties)]
        if len(self.slots) + len(names) > MAX_FIELDS:
            raise TooManyFields
        extra: object = schema.get("additionalProperties")
        other = cast(object, extra) if isinstance(extra, dict) else INFERRED
        after = held
        for name in names:
            old = held.get(name, ABSENT)
            declared = properties.get(name, other)
            if name == skip or (declared is False and old is ABSENT):
                continue
            required = name in schema.get("required", ())
            new = self.value(at.inner(name, required, blank, properties), declared, old)
            if new is not old:
                after = {n: item for n, item in {**after, name: new}.items() if item is not ABSENT}
        return cast(object, value) if after is held else after

    def _branches(self, at: Place, slot: Slot, schema: Schema, branches: tuple[Branch, ...]) -> Any:
        now = None if slot.empty else branch_of(branches, slot.value)
        deep = len(at.names) > self._depth and any(branch.properties for branch in branches)
        telling = any(b.by and self._marks.hides((*at.names, b.by)) for b in branches)
        if deep or telling or (now is None and not slot.empty):
            return self._add(as_json(slot, self._room.text), schema)
        choice = chooser(slot, branches, now)
        self._add(choice, schema)
        chosen = picked(choice, self._answers)
        if chosen is None:
            return slot.value
        if chosen is ABSENT:
            return slot.value if slot.empty else None if slot.blank == "null" else ABSENT
        new, after = branches[cast(int, chosen)], cast(object, slot.value)
        if chosen != now:
            old = None if now is None else branches[now]
            after = switched(self._shapes, old, new, after)
        return self._branch(at, slot, new, after)

    def _branch(self, at: Place, slot: Slot, branch: Branch, value: Any) -> Any:
        if "const" in branch.schema:
            return value
        schema, inner = branch.schema, entered(changed(at, required=True), {}, branch.schema)
        if schema.get("type", "object") == "object" and branch.properties:
            return self._object(inner, schema, slot.blank, value, skip=branch.by)
        own = slot_at(changed(inner, labels=(*at.labels, branch.label)), schema, False, value)
        if slot.blank in ("leave", "null"):
            own = changed(own, blank=slot.blank)
        if is_secret(schema):
            return self._hidden(own, schema)
        return self._add(with_input(own, schema, self._shapes, self._room), schema)

    def _hidden(self, slot: Slot, schema: Schema) -> Any:
        pointer, label = slot.field.pointer, slot.field.label
        field = Field(pointer, "text", label, about(schema), locked=_HIDDEN, hidden=True)
        self.slots.append(changed(slot, field=field))
        return slot.value

    def _add(self, slot: Slot, schema: Schema) -> Any:
        hidden = [] if slot.branch else self._marks.hidden_in(slot.names, slot.value)
        if hidden:
            slot = as_json(slot, self._room.text, shown=masked(slot.value, hidden))
        field = changed(slot.field, hint=hint(schema, slot.field))
        if hidden:
            field = changed(field, locked=_HOLDS_HIDDEN)
        elif field.locked is None and "const" in schema and slot.reads == "option":
            field = changed(field, locked=_ONE_VALUE if field.initial == "0" else None)
        elif not slot.values and width(field.initial or "") > self._room.text:
            reason = _TOO_LONG.format(self._room.text)
            field = changed(field, locked=field.locked or reason, max_length=None)
        kept = () if slot.branch else self._marks.fixed_in(slot.names, slot.value)
        self.slots.append(changed(slot, field=field, kept=kept))
        if len(self.slots) > MAX_FIELDS:
            raise TooManyFields
        return slot.value
