"""Texts of a card that Teams would show in another way than they are written.

A TextBlock, a fact, the choices of an expanded set, the title of a toggle and an error message are Markdown.
A TextRun, a label and a button's title are not. In all texts that are drawn, `{{DATE(…)}}` and
`{{TIME(…)}}` are replaced: they are allowed in a run that has nothing else, so no other text brings them.
Sources: https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features, and the renderer's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..json_checks import Json, is_list

_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_AT_TAG = re.compile(r"<at>[^<>]*</at>")
_DATES = re.compile(r"(?: ?\{\{(?:DATE|TIME)\([0-9T:Z+-]{20,25}(?:, ?[A-Z]+)?\)\}\})+")
_MARKUP = re.compile(
    r"[\\*_\[\]`<>~&]"  # emphasis, links, images, code, HTML, entities
    r"|https?:|www\.|mailto:"  # may become a link by itself
    r"|^[ \t]*(?:#{1,6}\s|[-+]\s|\d+[.)]\s|={3,}|-{3,})",  # headings, lists, rules
    re.MULTILINE | re.IGNORECASE,
)


def text_problems(at: str, element: Json) -> Iterator[str]:
    """The parts of this element's own texts that Teams would show in another way than they are written."""
    for key, text in _markdown_texts(element):
        plain = _AT_TAG.sub("", text) if element.get("type") == "TextBlock" else text
        if markup := _MARKUP.search(_ESCAPED.sub("x", plain)):
            yield f"{at}/{key}: {markup.group()!r} is Markdown here: escape it or use a TextRun"
    for key, text in _drawn_texts(element):
        if "{{" in text and not (element.get("type") == "TextRun" and _DATES.fullmatch(text)):
            yield f"{at}/{key}: {{{{ may begin a date macro: break it"


def _markdown_texts(element: Json) -> Iterator[tuple[str, str]]:
    kind = element.get("type")
    keys = ["errorMessage"] if str(kind).startswith("Input.") else []
    if kind == "TextBlock":
        keys = ["text"]
    elif kind == "Input.Toggle":
        keys += ["title"]
    yield from _strings(element, keys)
    if kind == "FactSet":
        yield from _strings_of_each(element, "facts", ["title", "value"])
    if kind == "Input.ChoiceSet" and (
        element.get("style") == "expanded" or element.get("isMultiSelect")
    ):
        yield from _strings_of_each(element, "choices", ["title"])


def _drawn_texts(element: Json) -> Iterator[tuple[str, str]]:
    yield from _markdown_texts(element)
    if element.get("type") == "TextRun":
        yield from _strings(element, ["text"])
    if element.get("type") == "RichTextBlock" and is_list(runs := element.get("inlines")):
        yield from ((f"inlines/{n}", run) for n, run in enumerate(runs) if isinstance(run, str))
    yield from _strings(element, ["label"])


def _strings(element: Json, keys: list[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        if isinstance(text := element.get(key), str):
            yield key, text


def _strings_of_each(element: Json, key: str, keys: list[str]) -> Iterator[tuple[str, str]]:
    for n, one in enumerate(element[key]):
        yield from ((f"{key}/{n}/{name}", text) for name, text in _strings(one, keys))
