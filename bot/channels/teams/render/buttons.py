"""A button of a card as an action of an Adaptive Card. Pure."""

from __future__ import annotations

from ....card import Button
from ....text import clip
from .elements import BOLD, Json, rich_text, text_runs

MAX_TITLE = 75
#: Bots can post files only in a person's own chat.
SEND_FILE = "Send it as a file"
SEND_FILE_SPOKEN = f"{SEND_FILE}, in your own chat with this app"


def button_action(button: Button, data: dict[str, str]) -> Json:
    """`data`: what Teams sends back when the button is pressed. A button with a question opens the question
    below itself, with a button for yes.
    """
    if button.verb == "file":  # it needs no input of the form in which it is
        return {**execute(SEND_FILE, data, spoken=SEND_FILE_SPOKEN), "associatedInputs": "none"}
    press = execute(button.label, data, style=button.style, spoken=button.spoken)
    if button.is_rare:
        press["mode"] = "secondary"
    if (ask := button.confirmation) is None:
        return press
    question = {
        "type": "AdaptiveCard",
        "body": [rich_text(text_runs(ask.title, **BOLD)), rich_text(text_runs(ask.text))],
        "actions": [execute(ask.label, data, style=ask.style, spoken=button.spoken)],
    }
    asking = {key: part for key, part in press.items() if key not in ("verb", "data")}
    return {**asking, "type": "Action.ShowCard", "card": question}


def execute(
    title: str,
    data: dict[str, str],
    *,
    verb: str = "",
    style: str | None = None,
    spoken: str = "",
) -> Json:
    """An action that sends `data`. `verb`: by default the kind of the data. `spoken`: for screen readers."""
    action: Json = {
        "type": "Action.Execute",
        "title": clip(title, MAX_TITLE),
        "verb": verb or data["hitl"],
        "data": data,
    }
    if spoken and spoken != title:
        action["tooltip"] = spoken
    return {**action, "style": style} if style else action
