"""The `msteams` part of a card, which is not in the official schema: mentions, and the full width."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..json_checks import Json, is_list, is_object
from .walk import elements_in

MENTIONS = 20
_AT_TAG = re.compile(r"<at>[^<>]*</at>")
_PERSON = re.compile(
    r"29:\S+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[^\s@]+@[^\s@]+\.[^\s@]+"
)


def mention_problems(card: Json) -> Iterator[str]:
    """Each `<at>` of a TextBlock has an entity, and each entity has an `<at>`: else Teams refuses the
    message, or shows the tag's text without a mention."""
    part = card.get("msteams", {})
    if not is_object(part):
        yield "/msteams: must be an object"
        return
    for key in part.keys() - {"width", "entities"}:
        yield f"/msteams/{key}: unknown"
    if part.get("width", "Full") != "Full":
        yield "/msteams/width: only Full is known"
    entities = part.get("entities", [])
    if not is_list(entities):
        yield "/msteams/entities: must be a list"
        return
    if len(entities) > MENTIONS:
        yield f"/msteams/entities: {len(entities)} mentions; {MENTIONS} are allowed"
    tags = {
        tag
        for _, element in elements_in(card)
        if element.get("type") == "TextBlock"
        for tag in _AT_TAG.findall(str(element.get("text")))
    }
    texts: set[str] = set()
    for n, entity in enumerate(entities):
        yield from _entity_problems(f"/msteams/entities/{n}", entity, tags)
        texts.add(str(entity.get("text")) if is_object(entity) else "")
    for tag in tags - texts:
        yield f"/msteams/entities: none for {tag}"


def _entity_problems(at: str, entity: object, tags: set[str]) -> Iterator[str]:
    match entity:
        case {
            "type": "mention",
            "text": str(text),
            "mentioned": {"id": str(who), "name": str(name)},
        }:
            if text not in tags:
                yield f"{at}/text: {text!r} is in no TextBlock"
            if not _PERSON.fullmatch(who):
                yield f"{at}/mentioned/id: {who!r} is no id of a person"
            if not name.strip():
                yield f"{at}/mentioned/name: must not be empty"
        case _:
            yield f"{at}: must be a mention with a text, and an id and a name of a person"
