"""The pages hang together, and say what the code says."""

from __future__ import annotations

import re

import pytest

from hitl_core.policy.reader.read_policy import KEYS as POLICY_KEYS
from hitl_core.policy.reader.read_rule import KEYS as RULE_KEYS
from tests.docs.pages import ROOT, Page, page, pages
from tests.docs.tables import renew

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
