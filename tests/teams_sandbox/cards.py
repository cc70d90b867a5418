"""Short ways to write cards."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def card(*body: Json, **more: Any) -> Json:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}


def text(text: str) -> Json:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]}


def button(title: str = "Approve", **more: Any) -> Json:
    return {"type": "Action.Execute", "title": title, "data": {"hitl": "press"}, **more}


def buttons(*actions: Json) -> Json:
    return {"type": "ActionSet", "actions": list(actions)}


def field(kind: str, id: str = "f_1", **more: Any) -> Json:
    named = {"title": "Express"} if kind == "Toggle" else {"label": "Amount"}
    return {"type": f"Input.{kind}", "id": id, **named, **more}


def choices(*values: str, **more: Any) -> Json:
    options = [{"title": value, "value": value} for value in values]
    return field("ChoiceSet", choices=options, **more)


def mention(name: str = "Ann", id: str = "29:1a") -> Json:
    return {"type": "mention", "text": f"<at>{name}</at>", "mentioned": {"id": id, "name": name}}
