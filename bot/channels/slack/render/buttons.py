"""Buttons as Block Kit elements. Their ids say what was pressed: they are written and read here. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ....card import Button
from ....inbox import ActionRef
from ..ids import Body
from .block_kit import Block, Element, plain_text, shorten

#: In the place of an action's key: the whole review.
WHOLE_REVIEW = "0"
_STYLES = {"positive": "primary", "destructive": "danger"}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; none without buttons. `pages_of` is the prefix
    of the ids of the buttons to other pages.
    """
    elements: list[Element] = []
    options: list[tuple[str, str]] = []
    for one in buttons:
        action_id, value = button_ids(one, pages_of)
        if one.is_rare:
            options.append((one.label, f"{action_id}.{value}"))
        else:
            elements.append(_element(one, action_id, value))
    if options:
        elements.append(overflow("more", options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, action_id: str, value: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(action_id, one.label, value, one.spoken, style=style)
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label)


def button(
    action_id: str, text: str, value: str, label: str, *, style: str | None = None
) -> Element:
    """`label` is the text for screen readers."""
    element: Element = {
        "type": "button",
        "action_id": action_id,
        "text": plain_text(text, 75),
        "value": value,
        "accessibility_label": shorten(label, 75),
    }
    return {**element, "style": style} if style else element


def with_confirm(element: Element, title: str, text: str, confirm_label: str) -> Element:
    """The button with a confirmation dialog."""
    dialog = {"title": plain_text(title, 100), "text": plain_text(text, 300), "style": "primary"}
    return {
        **element,
        "confirm": {
            **dialog,
            "confirm": plain_text(confirm_label, 30),
            "deny": plain_text("Cancel", 30),
        },
    }


def overflow(action_id: str, options: list[tuple[str, str]]) -> Element:
    """`options` are pairs of label and value."""
    menu_options = [{"text": plain_text(text, 75), "value": value} for text, value in options]
    return {"type": "overflow", "action_id": action_id, "options": menu_options}


def actions(block_id: str, elements: list[Element]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": elements}


def button_ids(one: Button, pages_of: str = "") -> tuple[str, str]:
    """The action id of a button, by which Slack says what was pressed, and its value, as the functions of
    this file read it. `pages_of`: whose page the button turns, such as `turn`.
    """
    return _action_id(one, pages_of), _button_value(one)


def _action_id(button: Button, pages_of: str) -> str:
    match button.verb:
        case "answer":
            return f"answer:{button.number}"
        case "ran" | "rerun" | "skip":
            return f"doubt_{button.verb}"
        case "back":
            return f"{pages_of}:back"
        case "next":
            return f"{pages_of}:on"
        case verb:
            return verb


def _button_value(button: Button) -> str:
    if button.verb == "approve_all":
        several = ",".join(f"{key}:{revision}" for key, revision in button.revisions)
        return f"{button.review_id}.{several}.{button.seal}"
    if not button.review_id:
        return str(button.number)
    about = (button.action or WHOLE_REVIEW, button.revision, button.seal, button.number)
    return ".".join([button.review_id, *(str(part) for part in about if part is not None)])


def button_value(body: Body) -> str:
    """The value of the clicked button; "" without one, which matches no review."""
    return str(body["actions"][0].get("value") or "")


def option_value(body: Body) -> str:
    """The value of the chosen menu option; "" without one."""
    option = cast(Body, body["actions"][0].get("selected_option") or {})
    return str(option.get("value", ""))


def review_id_of(body: Body) -> str:
    """The review id of the clicked button: the first part of its value, in a menu the second."""
    action = body["actions"][0]
    option = action.get("selected_option")
    value = str(option["value"]).partition(".")[2] if option else str(action["value"])
    return value.partition(".")[0]


def parse_action_ref(value: str) -> ActionRef:
    """`REVIEW.ACTION.REVISION.SEAL`. A missing part becomes "" or 0, which matches nothing: the person
    gets the usual refusal.
    """
    review_id, action, revision, seal, *_ = [*value.split("."), "", "", "", ""]
    return ActionRef(review_id, action, _parse_number(revision), seal)


def parse_last_number(value: str) -> int:
    """The number after the last dot: a page, or the number of an answer."""
    return _parse_number(value.rpartition(".")[2])


def parse_revisions(value: str) -> tuple[str, dict[str, int], str]:
    """The review, the revision of each action, and the seal of all of them: `R.1:1,2:3.SEAL`."""
    review_id, several, seal, *_ = [*value.split("."), "", "", ""]
    pairs = (pair.partition(":") for pair in several.split(",") if pair)
    return review_id, {key: _parse_number(revision) for key, _, revision in pairs}, seal


def _parse_number(text: str) -> int:
    """0 for anything that is not a number of at most 9 digits."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0
