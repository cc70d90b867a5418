"""A page of a form as a modal, and what people entered in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....forms import Entries, FormPage
from ..ids import ModalMeta
from ..render import Block, actions, button, context, line, mrkdwn, rich_text, shorten, text_element
from .inputs import input_block, read_answer
from .small_modals import View, modal

#: The action id of "Back".
BACK = "form_back"


def form_view(page: FormPage, meta: ModalMeta) -> View:
    """`meta` has what the form doesn't know: the Review modal below it."""
    blocks: list[Block] = []
    if page.problem:
        problem = text_element(f"⚠ {shorten(page.problem, 500)}", bold=True)
        blocks.append(rich_text("wrong", line(problem)))
    name = [text_element(f"{page.name}   ", bold=True)] if page.name else []
    blocks.append(rich_text("told", line(*name, text_element(page.effect))))
    if page.question:
        blocks.append(rich_text("why", line(text_element(page.question, italic=True))))
    blocks += [input_block(each.field, each.id) for each in page.fields]
    if page.file:
        blocks.append(_file_button(page))
    if page.count > 1:
        blocks.append(_page_buttons(page))
    meta = meta.with_form(page.ref)
    return modal(page.ref.kind, page.title, blocks, meta, submit=page.submit)


def read_entries(view: Mapping[str, Any]) -> Entries:
    """The state of a view's inputs."""
    answers: dict[str, str | None] = {}
    unsent: set[str] = set()
    for block_id, inputs in view["state"]["values"].items():
        is_sent, answer = read_answer(inputs)
        if is_sent:
            answers[block_id] = answer
        else:
            unsent.add(block_id)
    return Entries(answers, frozenset(unsent))


def _page_buttons(page: FormPage) -> Block:
    if not page.back:
        return context("page", mrkdwn(page.where))
    return actions("page", [button(BACK, page.back, str(page.ref.page - 1), page.back)])


def _file_button(page: FormPage) -> Block:
    target = page.ref.target
    value = f"{target.review_id}.{target.action}.{target.revision}"
    return actions("file", [button("file", page.file, value, page.file_spoken)])
