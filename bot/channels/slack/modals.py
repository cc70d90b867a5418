"""Modals: Edit from a Form, the reason of a rejection, an answer, everything that runs. Pure.

`private_metadata` holds ids only: whoever submits is checked again, and the review is read again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never, cast

from bot.card import Argument
from bot.channels.slack.rich import Block, Element, context, line, plain, pre, rich_text, words
from bot.inbox import Target
from hitl_core.forms import Field, Form

View = dict[str, Any]
ACTION_ID = "value"
#: What one page of "See all of it" shows. A view may have 250 kB of JSON and 100 blocks.
PAGE = 40_000
CHUNK = 2_800


def edit(target: Target, name: str, form: Form) -> View:
    """Submitting it approves what stands in it."""
    told = context("told", "What you send is what runs.")
    drawn = [told, *(_field(field, target.revision) for field in form.fields)]
    return _modal("edit", f"Edit {name}", drawn, target, submit="Approve edited")


def reason(target: Target, name: str, *, required: bool) -> View:
    element = {"type": "plain_text_input", "action_id": ACTION_ID, "multiline": True}
    block: Block = {
        "type": "input",
        "block_id": "message",
        "optional": not required,
        "label": plain("Why?"),
        "hint": plain("The agent is told, so that it can do better."),
        "element": {**element, "max_length": 1000},
    }
    return _modal("reject", f"Reject {name}", [block], target, submit="Reject")


def answer(target: Target, name: str) -> View:
    element = {"type": "plain_text_input", "action_id": ACTION_ID, "multiline": True}
    block: Block = {
        "type": "input",
        "block_id": "message",
        "label": plain(f"Your answer, in place of {name}"),
        "hint": plain("The tool does not run. The agent gets this text as its result."),
        "element": {**element, "max_length": 3000},
    }
    return _modal("respond", "Answer instead", [block], target, submit="Answer")


def loading(target: Target) -> View:
    return _modal("loading", "One moment", [context("told", "Reading the review…")], target)


def notice(text: str) -> View:
    """Takes a modal's place where its answer came too late."""
    block = rich_text("told", line(words(text)))
    return _modal("notice", "Not changed", [block], None, close="Close")


def see(target: Target, name: str, arguments: tuple[Argument, ...], page: int) -> View:
    """Everything that will run, page by page."""
    chunks: list[Element] = []
    for argument in arguments:
        chunks.append(line(words(argument.label, bold=True)))
        value = argument.value
        chunks += [pre(value[i : i + CHUNK]) for i in range(0, len(value), CHUNK)]
    pages = _paged(chunks)
    page = min(page, len(pages) - 1)
    drawn = [rich_text(f"part:{i}", *part) for i, part in enumerate(pages[page])]
    if not arguments:
        drawn = [context("told", "This call has no arguments.")]
    if len(pages) > 1:
        drawn.insert(0, context("page", f"Page {page + 1} of {len(pages)}"))
        drawn.append(_turn(target, page, len(pages)))
    return _modal("see", name, drawn, target, close="Close")


def read_answers(form: Form, revision: int, values: Mapping[str, Any]) -> dict[str, str | None]:
    """Slack's `state.values` → answers by pointer: text, or the index of what was chosen."""
    found: dict[str, str | None] = {}
    for field in form.fields:
        state = values.get(block_id(field.pointer, revision), {}).get(ACTION_ID)
        if state is None or field.locked:
            continue
        if "selected_option" in state:
            chosen = cast(dict[str, Any] | None, state["selected_option"])
            found[field.pointer] = str(chosen["value"]) if chosen else None
        else:
            found[field.pointer] = cast(str | None, state.get("value"))
    return found


def errors_by_block(
    form: Form, revision: int, errors: Mapping[str, str], top: list[str]
) -> dict[str, str]:
    """Slack shows errors only beside inputs of the view: what has no field stands at the first."""
    found = {block_id(p, revision): text[:150] for p, text in errors.items()}
    editable = [field for field in form.fields if not field.locked]
    if top and editable:
        first = block_id(editable[0].pointer, revision)
        found[first] = " ".join([found[first], *top] if first in found else top)[:300]
    return found


def message_of(values: Mapping[str, Any]) -> str | None:
    return cast(str | None, values.get("message", {}).get(ACTION_ID, {}).get("value"))


def block_id(pointer: str, revision: int) -> str:
    """A new revision has new ids, so Slack shows its values and not what was typed before."""
    return f"f:{pointer}#{revision}"[-255:]


def target_of(private_metadata: str) -> Target:
    ids = json.loads(private_metadata)
    return Target(str(ids["review"]), str(ids["action"]), int(ids["revision"]))


def _field(field: Field, revision: int) -> Block:
    block = block_id(field.pointer, revision)
    if field.locked is not None:
        head = line(words(field.label, bold=True), words(f"  {field.locked}", italic=True))
        shown = (field.initial or "")[:CHUNK]
        cut = len(field.initial or "") - len(shown)
        tail = [line(words(f"and {cut:,} more characters", italic=True))] if cut else []
        return rich_text(block, head, *([pre(shown)] if shown else []), *tail)
    drawn: Block = {
        "type": "input",
        "block_id": block,
        "label": plain(field.label, 150),
        "optional": not field.required,
        "element": _element(field),
    }
    return {**drawn, "hint": plain(field.hint, 300)} if field.hint else drawn


def _element(field: Field) -> Element:
    match field.kind:
        case "text" | "long_text" | "json":
            limits = {"min_length": field.min_length, "max_length": field.max_length}
            return _known(
                type="plain_text_input",
                action_id=ACTION_ID,
                multiline=field.kind != "text",
                initial_value=field.initial or None,
                **(limits if field.kind != "json" else {}),
            )
        case "integer" | "number":
            return _known(
                type="number_input",
                action_id=ACTION_ID,
                is_decimal_allowed=field.kind == "number",
                initial_value=field.initial or None,
                min_value=field.minimum,
                max_value=field.maximum,
            )
        case "boolean" | "choice":
            options = [
                {"text": plain(option.label, 75), "value": str(index)}
                for index, option in enumerate(field.options)
            ]
            short = len(options) <= 5 and field.required
            return _known(
                type="radio_buttons" if short else "static_select",
                action_id=ACTION_ID,
                options=options,
                initial_option=None if field.initial is None else options[int(field.initial)],
            )
    assert_never(field.kind)


def _known(**parts: Any) -> Element:
    return {key: value for key, value in parts.items() if value is not None}


def _paged(chunks: list[Element]) -> list[list[list[Element]]]:
    """Pages of blocks of elements: a block per 20 elements keeps every block small."""
    pages: list[list[list[Element]]] = [[]]
    size = 0
    for chunk in chunks:
        length = sum(len(part["text"]) for part in chunk["elements"])
        if size + length > PAGE and pages[-1]:
            pages.append([])
            size = 0
        if not pages[-1] or len(pages[-1][-1]) >= 2:
            pages[-1].append([])
        pages[-1][-1].append(chunk)
        size += length
        if len(pages[-1]) >= 90:
            pages.append([])
            size = 0
    return [page for page in pages if page] or [[]]


def _turn(target: Target, page: int, pages: int) -> Block:
    """Other pages, one button each way."""
    ways = [("see_page:back", "◀ Back", page - 1), ("see_page:on", "Next ▶", page + 1)]
    buttons = [
        {
            "type": "button",
            "action_id": action_id,
            "text": plain(text),
            "value": f"{target.review_id}.{target.action}.{target.revision}.{to}",
        }
        for action_id, text, to in ways
        if 0 <= to < pages
    ]
    return {"type": "actions", "block_id": f"turn:{page}", "elements": buttons}


def _modal(
    callback_id: str,
    title: str,
    blocks: list[Block],
    target: Target | None,
    *,
    submit: str | None = None,
    close: str = "Cancel",
) -> View:
    ids = (
        {"review": target.review_id, "action": target.action, "revision": target.revision}
        if target
        else {}
    )
    return _known(
        type="modal",
        callback_id=callback_id,
        title=plain(title, 24),
        submit=plain(submit, 24) if submit else None,
        close=plain(close, 24),
        private_metadata=json.dumps(ids),
        blocks=blocks,
    )
