"""What a person reads in Block Kit, as plain text; and all texts in it, grouped by how Slack formats them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot.card import CONTINUED, Argument, Card
from bot.card.arguments.value_text import LIST_FORM, MAX_INDENTED
from bot.channels.slack.ids import ModalMeta
from bot.channels.slack.modals.arguments_modal import arguments_view, split_arguments
from bot.channels.slack.modals.form_modal import form_view
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.channels.slack.modals.review_modal import review_page
from bot.channels.slack.render import Names
from bot.channels.slack.render.card_message import message
from bot.forms import EditForm, FormRef
from bot.inbox import ActionRef, Press, action_page, arguments_page
from bot.text import remove_marks
from hitl_core.json_text import indent_json
from hitl_core.model import Place, Review
from slack_sandbox.workspace.message import validate_blocks
from slack_sandbox.workspace.view_validation import validate_view
from tests.channels.scenes import name_of
from tests.support.slack_limits import assert_message, assert_view

Json = dict[str, Any]

_RUN = r"[\d,]+ (?:space|tab|line break)s?"
_PADDING = re.compile(rf"⟦({_RUN}(?:, {_RUN})*)⟧")
_ITEMS = re.compile(r'"(?:[^"\\]|\\.)*"|[^ ,]+')
#: Two spaces; a head has three.
_VALUE = re.compile(r"  (?! )")
_CHARS = {"space": " ", "tab": "\t", "line break": "\n"}


def check(message: Json) -> Json:
    """The message, if Slack would take it."""
    validate_blocks(message["blocks"])
    assert_message(message)
    return message


def check_view(view: Json) -> Json:
    assert_view(view)
    return validate_view(json.loads(json.dumps(view)), view["type"])


def edit_pages(review: Review, key: str = "1") -> list[Json]:
    """All pages of the Edit modal, as they open."""
    action = review.action(key)
    assert action is not None
    target = ActionRef(review.id, key, action.revision)
    form = EditForm(review, action, FormRef("edit", target), MODAL_LIMITS)
    return [
        form_view(form.at_page(page, draft="").page()) for page in range(form.session.page_count)
    ]


def incomplete_keys(card: Card) -> frozenset[str]:
    """The actions that no button of Slack's card approves, as it does not show them completely."""
    blocks = message(card, name_of)["blocks"]
    elements = [one for block in blocks if block["type"] == "actions" for one in block["elements"]]
    presses = [Press.parse(one["value"]) for one in elements if "value" in one]
    whole = {one.target.action for one in presses if one.verb == "approve"}
    whole |= {key for one in presses if one.verb == "approve_all" for key in one.revisions}
    return frozenset(one.key for one in card.waiting) - whole


def see_view(target: ActionRef, name: str, arguments: Sequence[Argument], number: int = 0) -> Json:
    """The modal with all arguments, at this page."""
    page = arguments_page(target, name, arguments, number, split_arguments)
    return check_view(arguments_view(ModalMeta(target), page))


def review_view(review: Review, place: Place, number: int, names: Names) -> Json:
    """The Review modal, at this place and page."""
    page = action_page(review, place, number)
    return check_view(review_page(page, ActionRef(review.id, "", 0), names))


def to_text(blocks: list[Json]) -> str:
    """A picture in text: *bold*, /italic/, ~old~, boxes with a bar, buttons in brackets."""
    return "\n".join(line.rstrip() for block in blocks for line in _block(block).split("\n")) + "\n"


def _block(block: Json) -> str:
    match block["type"]:
        case "header":
            return "# " + block["text"]["text"]
        case "alert":
            return "! " + block["text"]["text"]
        case "divider":
            return "-" * 40
        case "context":
            return "\n".join(f"  ({element['text']})" for element in block["elements"])
        case "actions":
            return " ".join(_control(element) for element in block["elements"])
        case "rich_text":
            return "\n".join(_part(part) for part in block["elements"])
        case "table":
            rows = [
                [" ".join(map(_part, cell["elements"])) for cell in row] for row in block["rows"]
            ]
            return "\n".join("  ¦ ".join(row) for row in rows)
        case other:
            raise AssertionError(other)


def _control(element: Json) -> str:
    if element["type"] == "overflow":
        return "[⋮ " + " | ".join(option["text"]["text"] for option in element["options"]) + "]"
    sign = {"primary": "+", "danger": "!"}.get(element.get("style", ""), "")
    text = f"[{sign}{element['text']['text']}]"
    if (confirm := element.get("confirm")) is None:
        return text
    return f"{text}(asks: {confirm['title']['text']} {confirm['text']['text']})"


def _part(part: Json) -> str:
    bar = {"rich_text_preformatted": "  | ", "rich_text_quote": "  > "}.get(part["type"])
    if bar:
        language = [f"  | ({part['language']})"] if "language" in part else []
        lines = part["elements"][0]["text"].split("\n")
        return "\n".join([*language, *(bar + line for line in lines)])
    return "".join(map(_inline, part["elements"]))


def _inline(element: Json) -> str:
    if element["type"] in ("user", "usergroup"):
        return f"@{element.get('user_id') or element.get('usergroup_id')}"
    text, style = element["text"], element.get("style", {})
    for name, sign in (("bold", "*"), ("italic", "/"), ("strike", "~"), ("code", "`")):
        if style.get(name):
            start = len(text) - len(text.lstrip())
            text = text[:start] + sign + text[start:] + sign
    return text


def texts(value: Any, kind: str = "") -> Iterator[tuple[str, str]]:
    """Every text with what its channel makes of it: in Slack "mrkdwn", "plain_text", "text" (rich), in Teams
    "TextRun" (literal), "TextBlock" (Markdown), or a key's name.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            own = value.get("type", kind) if key == "text" else key
            yield from texts(part, own if isinstance(part, str) else kind)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part, kind)
    elif isinstance(value, str):
        yield kind, value


def arguments_in(block: Json) -> dict[str, Any]:
    """The arguments in a card's `call:` block, read back; nothing of them may be cut."""
    found: dict[str, Any] = {}
    label: str | None = None
    for part in block["elements"]:
        if part["elements"][0]["text"] == "⚠ ":
            continue  # a warning, which comes after the arguments
        for element in part["elements"]:
            style = element.get("style", {})
            if style.get("bold") or style.get("code"):
                label = element["text"]
            elif part["type"] != "rich_text_section":
                assert label is not None
                put_argument(found, label, element["text"])
                label = None
            elif label is not None and not style and _VALUE.match(element["text"]):
                put_argument(found, label, element["text"][2:].split("\n")[0])
                label = None
    return found


def arguments_on(views: list[Json]) -> dict[str, Any]:
    """The arguments on all pages of "See all of it", read back."""
    found: dict[str, str] = {}
    label, long_label = "", ""
    parts = [
        part
        for view in views
        for block in view["blocks"]
        if block["block_id"].startswith("part:")
        for part in block["elements"]
    ]
    for part in parts:
        head = part["elements"][0]["text"]
        if part["type"] != "rich_text_section":
            if label:
                found[label] += head
            else:
                long_label += head
        elif head == "An argument whose name is":
            label, long_label = "", ""
        elif head == "and whose value is":
            label = long_label
            found[label] = ""
        elif part["elements"][-1]["text"] == CONTINUED.text:
            label = head  # continued from the page before
        else:
            label = head
            found[label] = part["elements"][1]["text"][2:] if part["elements"][1:] else ""
    read: dict[str, Any] = {}
    for label, value in found.items():
        put_argument(read, label, value)
    return read


def put_argument(found: dict[str, Any], label: str, shown: str) -> None:
    """The value under its key, or under both of them where it is one of a small object's."""
    outer, _, inner = ("", "", "") if label.startswith('"') else label.partition(" › ")  # noqa: RUF001
    if inner:
        found.setdefault(key_of(outer), {})[key_of(inner)] = value_of(shown)
    else:
        found[key_of(label)] = value_of(shown)


def original(text: str) -> str:
    """What `bot.text.visible` was given."""
    padded = _PADDING.sub(lambda m: "".join(map(_run, m[1].split(", "))), text)
    signs = padded.replace("␠", " ").replace("⇥", "\t").replace("⏎", "\n")
    return remove_marks(signs.replace("␍\n", "\r\n"))


def key_of(label: str) -> str:
    return original(label[1:-1] if label.startswith('"') else label)


def value_of(shown: str) -> Any:
    text = original(shown)
    if LIST_FORM.fullmatch(text):
        return [_item(each) for each in _ITEMS.findall(text)]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    containers = isinstance(value, dict | list)
    written = json.dumps(value, ensure_ascii=False)
    if value and len(written) <= MAX_INDENTED:
        written = indent_json(value)
    return text if containers and written != text else value


def _item(shown: str) -> Any:
    try:
        return json.loads(shown)
    except ValueError:
        return shown


def _run(words: str) -> str:
    count, _, name = words.partition(" ")
    return _CHARS[name.removesuffix("s") if name not in _CHARS else name] * int(
        count.replace(",", "")
    )
