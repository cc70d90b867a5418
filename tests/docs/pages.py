"""The pages of the docs: their snippets, headings and links.

A comment before a snippet, which a rendered page doesn't show, says what its test needs:

    <!-- given: alice approves      the set-up: functions of `givens`, by name
         until: all is done         when to stop a snippet that runs without end: one of `givens.ENDS`
         then: assert ran == []     what must hold afterwards, in Python
         from: bot/card/spans.py    the file that has it: such a snippet is not run -->

Shell snippets run if a comment gives them something, even if it is only `nothing`. For others, each command
is checked. A snippet whose first line is `# name.yaml` is a file, and later snippets of its page find it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
#: What is shown as it would be seen, and not run.
SHOWN_ONLY = ("text",)

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_KEY = re.compile(r"^\s*(given|until|then|from):[ \t]*", re.MULTILINE)
_IMAGE = re.compile(r'<img src="([^"]+)"')
_FILE = re.compile(r"# ([\w-]+\.\w+)\n")


@dataclass(frozen=True)
class Snippet:
    """`text` as it is on the page, beginning in `line`."""

    page: Path
    line: int
    language: str
    text: str
    given: tuple[str, ...]
    until: str
    then: str
    source: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        """What it is called, where it is a file."""
        named = _FILE.match(self.text)
        return named[1] if named else None


@dataclass(frozen=True)
class Page:
    path: Path
    snippets: tuple[Snippet, ...]
    anchors: frozenset[str]
    links: tuple[tuple[int, str], ...]
    tags: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")


@cache
def pages() -> tuple[Page, ...]:
    """README.md and every page under docs."""
    return tuple(map(_page, [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]))


def page(name: str) -> Page:
    return next(page for page in pages() if page.path == ROOT / name)


def snippets(*languages: str) -> list[Snippet]:
    return [each for page in pages() for each in page.snippets if each.language in languages]


def files_before(snippet: Snippet) -> dict[str, str]:
    """The files that a reader of this page has made by then."""
    earlier = (each for each in page_of(snippet).snippets if each.line < snippet.line)
    return {each.file: each.text for each in earlier if each.file}


def page_of(snippet: Snippet) -> Page:
    return next(page for page in pages() if page.path == snippet.page)


def _page(path: Path) -> Page:
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text("utf-8"))
    return Page(
        path,
        tuple(_snippets(path, tokens)),
        frozenset(_anchors(tokens)),
        tuple(_links(tokens)),
        tuple(c.content for t in tokens for c in t.children or [] if c.type == "html_inline"),
    )


def _links(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """With the line of each, as a page's source is long."""
    for token in tokens:
        if token.type == "html_block":
            yield from ((line_of(token), link) for link in _IMAGE.findall(token.content))
        for child in token.children or []:
            if child.type in ("link_open", "image"):
                yield line_of(token), str(child.attrs.get("href") or child.attrs.get("src"))
            elif child.type == "html_inline":
                yield from ((line_of(token), link) for link in _IMAGE.findall(child.content))


def _snippets(path: Path, tokens: list[Token]) -> Iterator[Snippet]:
    comment = ""
    for token in tokens:
        if token.type in ("fence", "code_block"):
            directives = _read_comment(comment)
            yield Snippet(
                path,
                line_of(token) + 1,
                (token.info.split() or [""])[0],
                token.content,
                tuple(
                    part.strip() for part in directives.get("given", "").split(",") if part.strip()
                ),
                directives.get("until", ""),
                directives.get("then", ""),
                directives.get("from", ""),
            )
        comment = token.content if token.type == "html_block" else ""


def _read_comment(comment: str) -> dict[str, str]:
    found = _COMMENT.search(comment)
    other, *parts = _KEY.split(found[1] if found else "")
    assert not other.strip(), f"before a snippet is what no test understands: {other}"
    return {
        key: "\n".join(map(str.strip, texts.strip().split("\n")))
        for key, texts in zip(parts[::2], parts[1::2], strict=True)
    }


def _anchors(tokens: list[Token]) -> Iterator[str]:
    """As GitHub makes them; a heading that comes twice gets a number."""
    seen: dict[str, int] = {}
    for heading, title in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(
                c.content for c in title.children or [] if c.type in ("text", "code_inline")
            )
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            times = seen[slug] = seen.get(slug, -1) + 1
            yield f"{slug}-{times}" if times else slug


def line_of(token: Token) -> int:
    assert token.map is not None
    return token.map[0] + 1
