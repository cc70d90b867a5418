"""A page of a form as a modal, and how the person's input is read from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, assert_never, cast

from hitl_core.forms import Field

from ....card import Button, Emphasis, Strong, Text
from ....forms import Entries, FormPage, PageField
from ....text import clip
from ..ids import ModalMeta, ReviewPage
from ..render import (
    Block,
    Element,
    actions,
    button,
    button_blocks,
    context_lines,
    plain_text,
    plain_texts,
    pre,
    rich_text,
    section,
    sections,
)
from .limits import MAX_CHECKBOXES, MAX_HINT, MAX_LABEL, MAX_OPTIONS, MODAL_LIMITS
from .modal import View, modal

#: The action id of "Back".
BACK = "form_back"
#: The action id of every input.
ACTION_ID = "value"
#: The id of the block with a problem of the whole form, the longest text of an alert, and of any problem.
_PROBLEM, MAX_ALERT, MAX_PROBLEM = "wrong", 200, 3_000


def form_view(page: FormPage, review: ReviewPage | None = None) -> View:
    """`review`: the Review modal below it."""
    blocks: list[Block] = []
    if page.problem:
        blocks.append(problem_block(page.problem, "warning" if page.ref.confirming else "error"))
    if page.count > 1:
        blocks += context_lines("page", [(Text(page.where),)])
    if page.about:
        *calls, asker = page.about
        if calls:
            blocks.append(rich_text("calls", *sections(calls)))
        blocks += context_lines("asker", [asker])
    name = [Strong(f"{page.name}   ")] if page.name else []
    blocks.append(rich_text("told", section([*name, Text(page.effect)])))
    if page.question:
        blocks.append(rich_text("why", section([Emphasis(page.question)])))
    blocks += field_blocks(page.fields)
    if page.file:
        blocks += _file_button(page)
    if page.back:
        blocks.append(actions("back", [button(BACK, page.back, str(page.ref.page - 1), page.back)]))
    meta = ModalMeta(page.ref, review)
    return modal(page.ref.kind, page.title, blocks, meta, submit=page.submit)


def read_entries(view: Mapping[str, Any]) -> Entries:
    """What the person entered, from the state of a view's inputs."""
    answers: dict[str, str | None] = {}
    unsent: set[str] = set()
    for block_id, inputs in view["state"]["values"].items():
        is_sent, answer = read_answer(inputs)
        if is_sent:
            answers[block_id] = answer
        else:
            unsent.add(block_id)
    return Entries(answers, frozenset(unsent))


def problem_block(problem: str, level: str) -> Block:
    """A problem of the whole form, at its top: Slack shows errors only beside inputs."""
    if len(problem) <= MAX_ALERT:
        text = plain_text(problem, MAX_ALERT)
        return {"type": "alert", "block_id": _PROBLEM, "level": level, "text": text}
    return rich_text(_PROBLEM, section([Strong(f"⚠ {clip(problem, MAX_PROBLEM)}")]))


def _file_button(page: FormPage) -> list[Block]:
    target = page.ref.target
    about = (target.review_id, target.action, target.revision)
    return button_blocks("file", [Button("file", page.file, page.file_spoken, *about)])


def field_blocks(fields: Sequence[PageField]) -> list[Block]:
    """Each input or locked value, below the warnings about it."""
    inputs = iter(_input_blocks([one for one in fields if one.field.locked is None]))
    blocks: list[Block] = []
    for at, one in enumerate(fields):
        if one.warnings:
            blocks.append(rich_text(f"odd:{at}", *sections(one.warnings)))
        blocks.append(next(inputs) if one.field.locked is None else _locked_block(one))
    return blocks


def _locked_block(one: PageField) -> Block:
    field, why = one.field, " ".join(filter(None, (one.field.locked, one.help)))
    head = section([Strong(field.label), Emphasis(f"  {why}")])
    return rich_text(one.id, head, *([pre(field.initial)] if field.initial else []))


def _input_blocks(several: Sequence[PageField]) -> list[Block]:
    labels = plain_texts([one.field.label for one in several], MAX_LABEL)
    hints = plain_texts([one.field.hint or "" for one in several], MAX_HINT)
    return [
        {
            "type": "input",
            "block_id": one.id,
            "label": label,
            "optional": not one.field.required,
            "element": _element(one.field),
            **({"dispatch_action": True} if one.field.redraws else {}),  # sends each change at once
            **({"hint": hint} if one.field.hint else {}),
        }
        for one, label, hint in zip(several, labels, hints, strict=True)
    ]


def _element(field: Field) -> Element:
    match field.kind:
        case "text" | "long_text" | "lines" | "json":
            return _without_none(
                type="plain_text_input",
                action_id=ACTION_ID,
                multiline=field.kind != "text",
                initial_value=field.initial or None,
                min_length=field.min_length,
                max_length=max(1, field.max_length or MODAL_LIMITS.text),
            )
        case "email" | "uri":
            kind = "email_text_input" if field.kind == "email" else "url_text_input"
            return _without_none(
                type=kind, action_id=ACTION_ID, initial_value=field.initial or None
            )
        case "integer" | "number":
            low, high = field.minimum, field.maximum
            if low is not None and high is not None and Decimal(low) > Decimal(high):
                low = high = (
                    None  # Slack would refuse the view; the check of the answers reports it instead
                )
            return _without_none(
                type="number_input",
                action_id=ACTION_ID,
                is_decimal_allowed=field.kind == "number",
                initial_value=field.initial or None,
                min_value=low,
                max_value=high,
            )
        case "date":
            return _picker("datepicker", initial_date=field.initial)
        case "time":
            return _picker("timepicker", initial_time=field.initial)
        case "datetime":
            at = None if field.initial is None else int(field.initial)
            return _picker("datetimepicker", initial_date_time=at)
        case "boolean" | "choice":
            return _single_select(field)
        case "choices":
            return _multi_select(field)
    assert_never(field.kind)


def _picker(kind: str, **initial: Any) -> Element:
    return _without_none(type=kind, action_id=ACTION_ID, **initial)


def _single_select(field: Field) -> Element:
    options = _options(field)
    selected = None if not field.initial else options[int(field.initial)]
    short = len(options) <= 5 and field.required and not field.redraws
    return _without_none(
        type="radio_buttons" if short else "static_select",
        action_id=ACTION_ID,
        initial_option=selected,
        **_group_options(options),
    )


def _multi_select(field: Field) -> Element:
    options = _options(field)
    selected = [options[int(at)] for at in field.initial.split(",")] if field.initial else None
    if len(options) <= MAX_CHECKBOXES:
        return _without_none(
            type="checkboxes", action_id=ACTION_ID, options=options, initial_options=selected
        )
    return _without_none(
        type="multi_static_select",
        action_id=ACTION_ID,
        initial_options=selected,
        max_selected_items=field.max_items,
        **_group_options(options),
    )


def _options(field: Field) -> list[Element]:
    """The options. The value of each is its index."""
    texts = plain_texts([one.label for one in field.options], MODAL_LIMITS.option_label)
    return [{"text": text, "value": str(at)} for at, text in enumerate(texts)]


def _group_options(options: list[Element]) -> dict[str, Any]:
    """The options, in groups if there are many: Slack accepts 100 options, or 100 groups."""
    if len(options) <= MAX_OPTIONS:
        return {"options": options}
    starts = range(0, len(options), MAX_OPTIONS)
    return {
        "option_groups": [
            {
                "label": plain_text(f"{at + 1} to {min(at + MAX_OPTIONS, len(options))}"),
                "options": options[at : at + MAX_OPTIONS],
            }
            for at in starts
        ]
    }


def _without_none(**parts: Any) -> Element:
    return {key: value for key, value in parts.items() if value is not None}


def read_answer(inputs: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Whether the client sent an answer, and the answer, from the state of one block; None for an empty input
    (docs.slack.dev/reference/interaction-payloads/view-interactions-payload).
    """
    match cast(Any, inputs.get(ACTION_ID)):
        case {"selected_option": chosen}:
            return True, None if chosen is None else str(chosen["value"])
        case {"selected_options": chosen}:
            return True, ",".join(str(one["value"]) for one in chosen or ())
        case {"selected_date": str() | None as date}:
            return True, date
        case {"selected_time": str() | None as time}:
            return True, time
        case {"selected_date_time": at}:
            return True, None if at is None else str(at)
        case {"value": typed}:
            return True, None if typed is None else str(typed)
        case _:
            return False, None
