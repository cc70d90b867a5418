"""One page that shows all pictures."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tests.gallery.pictures import LOOKS
from tests.gallery.showing import Scene
from tests.gallery.teams.showing import Scene as TeamsScene

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 24px; background: #888; }
section { background: #fff; padding: 12px 20px 20px; margin: 0 0 24px; border-radius: 8px; }
h2 small { font-weight: 400; color: #555; }
div { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
img { max-width: 100%; border: 1px solid #bbb; }
"""


def page(scenes: Iterable[Scene | TeamsScene]) -> str:
    shown = "\n".join(_section(scene) for scene in scenes)
    return (
        "<!doctype html>\n<html lang=en><meta charset=utf-8><title>Gallery</title>"
        f"<style>{_STYLE}</style>\n{shown}\n</html>\n"
    )


def _section(scene: Scene | TeamsScene) -> str:
    name, text = escape(scene.name), escape(scene.text)
    pictures = "".join(
        f'<img loading=lazy src="{name}{look}.png" alt="{text}{look.replace(".", ", ")}">'
        for look in LOOKS
    )
    return (
        f"<section id={name}><h2>{name} <small>{text}</small></h2><div>{pictures}</div></section>"
    )
