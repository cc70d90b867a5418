"""The docs: every link works, and what the pages say agrees with the code."""

from __future__ import annotations

import re
from functools import cache

import pytest

from bot.channels.connection import Connection
from bot.channels.contract import Channel
from hitl_core.policy.reader.read_policy import KEYS as POLICY_KEYS
from hitl_core.policy.reader.read_rule import KEYS as RULE_KEYS
from tests.docs.pages import ROOT, Page, page, pages
from tests.docs.tables import renew

TOPS = ("hitl_core/", "bot/", "slack_sandbox/", "tests/", "tools/", "benchmarks/", "examples/")
each_page = pytest.mark.parametrize("page", pages(), ids=lambda p: p.path.name)


@each_page
def test_every_link_leads_somewhere(page: Page) -> None:
    """To a file that is there, and to a heading that it has. Other hosts are not asked."""
    anchors = {each.path: each.anchors for each in pages()}
    broken: list[str] = []
    for line, link in page.links:
        where, _, anchor = link.partition("#")
        if "://" in link:
            continue
        path = (page.path.parent / where).resolve() if where else page.path
        if not path.exists() or (anchor and anchor not in anchors.get(path, ())):
            broken.append(f"{page.path.name}:{line}: {link}")
    assert broken == []


@each_page
def test_nothing_in_angle_brackets_is_lost(page: Page) -> None:
    """Markdown takes `<agent>` for HTML, and shows nothing."""
    assert [tag for tag in page.tags if not tag.startswith("<img ")] == []


@cache
def _ends() -> frozenset[str]:
    """Each file and folder of the code, by every end of its path, with and without its suffix."""
    paths = [path.relative_to(ROOT) for top in TOPS for path in (ROOT / top).rglob("*")]
    parts = [one.parts for path in paths for one in (path, path.with_suffix(""))]
    return frozenset("/".join(one[at:]) for one in parts for at in range(len(one)))


@each_page
def test_every_file_that_is_named_exists(page: Page) -> None:
    """`gate/gate.py` is the end of the path of a file, `bot/inbox` is a package."""
    named = {name for name in re.findall(r"`([\w./-]+)`", page.text) if name[0] != "."}
    ours = {one for one in named if one.endswith((".py", ".lua")) or one.startswith(TOPS)}
    ours -= {"benchmarks/results.json"}  # a run of the benchmarks writes it
    assert sorted(ours - _ends()) == []


def test_the_guide_to_a_new_channel_names_every_part_of_it() -> None:
    text = page("docs/adding-a-channel.md").text
    parts = {*vars(Channel), *Channel.__annotations__, *vars(Connection)}
    assert [one for one in sorted(parts) if one[0] != "_" and f"`{one}`" not in text] == []


@each_page
def test_tables_are_as_the_code_has_it(page: Page) -> None:
    assert page.text == renew(page.text), "run: python -m tests.docs.tables"


def test_every_page_is_in_the_index() -> None:
    index = {(ROOT / "docs" / link).resolve() for _, link in page("docs/README.md").links}
    written = set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "README.md"}
    assert written <= index


def test_every_picture_is_shown() -> None:
    shown = {(p.path.parent / link).resolve() for p in pages() for _, link in p.links}
    assert set((ROOT / "docs").rglob("*.png")) <= shown


def test_every_key_of_a_policy_is_told() -> None:
    text = re.findall(r"^\| (.*?) \|", page("docs/policy.md").text, re.MULTILINE)
    keys = set(re.findall(r"`(\w+)`", "\n".join(text)))
    assert {*POLICY_KEYS, *RULE_KEYS} <= keys


def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:20])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "docs/review.png" in first_screen
