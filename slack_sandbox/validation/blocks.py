"""Strict validation of the blocks of messages and views, as Slack's Web API does it.

Supported: header, section, divider, image, context, actions, input, rich_text; alert only in modals, table
everywhere else. Slack's other blocks (card, ...) are rejected as unknown: being stricter than Slack is safe.
Limits: https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

import secrets
import string as letters
from collections.abc import Iterator
from html import escape
from typing import Literal

from ..json_checks import (
    Check,
    Json,
    array,
    boolean,
    by_type,
    check_then,
    choice,
    fields,
    integer,
    is_list,
    is_object,
    objects_in,
    plain,
    problem,
    string,
    text,
    url_string,
)
from .elements import (
    BUTTON,
    DATETIME,
    FILE_INPUT,
    ID,
    IMAGE,
    MENUS,
    OVERFLOW,
    RICH_TEXT_INPUT,
    with_defaults,
)
from .rich_text import RICH_TEXT
from .table import TABLE, table_problems
from .typed_inputs import TYPED_INPUTS

Surface = Literal["message", "modal", "home"]
MAX_BLOCKS: dict[Surface, int] = {"message": 50, "modal": 100, "home": 100}

_IN_ACTIONS: dict[str, Check] = {
    "button": BUTTON,
    "overflow": OVERFLOW,
    **MENUS,
    **DATETIME,
    **RICH_TEXT_INPUT,
}
_IN_SECTION: dict[str, Check] = {"button": BUTTON, "overflow": OVERFLOW, "image": IMAGE, **MENUS}
_INPUTS = {**TYPED_INPUTS, **MENUS, **DATETIME, **RICH_TEXT_INPUT}
_IN_INPUT: dict[Surface, dict[str, Check]] = {
    "message": _INPUTS,
    "modal": {**_INPUTS, **FILE_INPUT},
    "home": _INPUTS,
}
_IN_CONTEXT: dict[str, Check] = {"image": IMAGE, "plain_text": plain(3000), "mrkdwn": text(3000)}


def _text_problems(block: Json, at: str) -> Iterator[str]:
    if "text" not in block and "fields" not in block:
        yield problem("must define either `text` or `fields`", at)


def _action_id_problems(block: Json, at: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, element in enumerate(objects_in(block["elements"])):
        if isinstance(name := element.get("action_id"), str):
            if name in seen:
                yield problem(f"`action_id` {name} already exists", f"{at}/elements/{index}")
            seen.add(name)


def _block(required: dict[str, Check], **optional: Check) -> Check:
    return fields(required, {"block_id": ID, **optional})


#: docs.slack.dev/reference/block-kit/blocks/alert-block
_ONLY_IN_MODALS = {
    "alert": _block(
        {"text": text(200)}, level=choice("default", "info", "warning", "error", "success")
    )
}


def _blocks_of(surface: Surface) -> dict[str, Check]:
    return {
        "header": _block({"text": plain(150)}, level=integer(1, 4)),
        "section": check_then(
            _block(
                {},
                text=text(3000),
                fields=array(text(2000), 1, 10),
                accessory=by_type(_IN_SECTION),
                expand=boolean,
            ),
            _text_problems,
        ),
        "divider": _block({}),
        "image": _block(
            {"image_url": url_string(3000), "alt_text": string(2000)}, title=plain(2000)
        ),
        "context": _block({"elements": array(by_type(_IN_CONTEXT), 1, 10)}),
        "actions": check_then(
            _block({"elements": array(by_type(_IN_ACTIONS), 1, 25)}), _action_id_problems
        ),
        "input": _block(
            {"label": plain(2000), "element": by_type(_IN_INPUT[surface])},
            hint=plain(2000),
            optional=boolean,
            dispatch_action=boolean,
        ),
        "rich_text": RICH_TEXT,
        **(_ONLY_IN_MODALS if surface == "modal" else {"table": TABLE}),
    }


_CHECKS: dict[Surface, Check] = {
    surface: array(by_type(_blocks_of(surface)), 0, most) for surface, most in MAX_BLOCKS.items()
}


def problems(blocks: object, surface: Surface, at: str = "/blocks") -> list[str]:
    """Everything that Slack would reject in these blocks: lines that end with a JSON pointer."""
    errors = [*_CHECKS[surface](blocks, at), *table_problems(objects_in(blocks), at)]
    seen: set[str] = set()
    focused = 0
    for index, block in enumerate(objects_in(blocks)):
        if isinstance(name := block.get("block_id"), str):
            if name in seen:
                errors.append(
                    problem(f"`block_id` {name} already exists", f"{at}/{index}/block_id")
                )
            seen.add(name)
        focused += sum(1 for element in elements_of(block) if element.get("focus_on_load"))
    if focused > 1:
        errors.append(problem("only one element may have `focus_on_load`", at))
    return errors


def elements_of(block: Json) -> list[Json]:
    """The interactive elements of a block, in any of its fields."""
    match block.get("type"):
        case "actions":
            return objects_in(block.get("elements"))
        case "section":
            return objects_in([block.get("accessory")])
        case "input":
            return objects_in([block.get("element")])
        case _:
            return []


def _random_id() -> str:
    return "".join(secrets.choice(letters.ascii_letters + letters.digits) for _ in range(5))


def complete_blocks(blocks: list[Json]) -> list[Json]:
    """The blocks as Slack stores them: missing ids become random ones, text objects get defaults."""
    result: list[Json] = []
    for block in blocks:
        complete = with_defaults(block)
        complete["block_id"] = complete.get("block_id") or _random_id()
        for element in elements_of(complete):
            if element.get("type") != "image":
                element.setdefault("action_id", _random_id())
        result.append(complete)
    return result


def text_length(value: object) -> int:
    """How many characters of text these blocks hold, with `&`, `<` and `>` written as entities."""
    if is_list(value):
        return sum(text_length(one) for one in value)
    if is_object(value):
        return sum(
            len(escape(one, quote=False))
            if key == "text" and isinstance(one, str)
            else text_length(one)
            for key, one in value.items()
        )
    return 0
