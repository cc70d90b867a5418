"""Keeps the questions of a task that have their answers, until the task ends.

A node may ask several questions, one after the other. LangGraph runs it again after each answer, with all
answers so far, but saves only its last question. So with each question that a task asks, its earlier ones are
saved here, as writes of the same checkpoint. LangGraph itself never reads them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Interrupt

from hitl_core.integrations.langgraph.driver.wrapped_saver import Saver, WrappedSaver
from hitl_core.integrations.langgraph.guard import Questions

#: The name of such a write. Its task is the id of the question, so it belongs to no task of LangGraph.
CHANNEL = "hitl_answered_question"


def keep_answered_questions(saver: Saver, questions: Questions) -> Saver:
    """The same saver, which also saves the answered ones of these questions, and adds to the known ones those
    that were saved before.
    """
    return cast(Saver, _QuestionSaver(saver, questions))


class _QuestionSaver(WrappedSaver):
    def __init__(self, saver: Saver, questions: Questions) -> None:
        super().__init__(saver)
        self._questions = questions

    def wrap(self, saver: Saver) -> _QuestionSaver:
        return _QuestionSaver(saver, self._questions)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._read(await self._saver.aget_tuple(config))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._read(self._saver.get_tuple(config))

    @property
    def aput_writes(self) -> Callable[..., Any]:
        put = self._saver.aput_writes

        @functools.wraps(put)  # LangGraph reads the signature: not every saver takes `task_path`
        async def put_all(
            config: RunnableConfig, writes: Any, task_id: str, *path: str, **more: str
        ) -> None:
            for question in self._answered(writes, task_id):
                await put(config, [(CHANNEL, question)], question.id)
            await put(config, writes, task_id, *path, **more)

        return put_all

    @property
    def put_writes(self) -> Callable[..., Any]:
        put = self._saver.put_writes

        @functools.wraps(put)
        def put_all(
            config: RunnableConfig, writes: Any, task_id: str, *path: str, **more: str
        ) -> None:
            for question in self._answered(writes, task_id):
                put(config, [(CHANNEL, question)], question.id)
            put(config, writes, task_id, *path, **more)

        return put_all

    def _answered(self, writes: Sequence[tuple[str, Any]], task_id: str) -> Iterator[Interrupt]:
        """The earlier questions of a task that asks another one."""
        if any(channel == INTERRUPT for channel, _ in writes):
            yield from self._questions.answered.get(task_id, ())

    def _read(self, saved: CheckpointTuple | None) -> CheckpointTuple | None:
        if saved is None:
            return None
        writes = saved.pending_writes or []
        kept = [question for _, channel, question in writes if channel == CHANNEL]
        self._questions.known.update({question.id: question for question in kept})
        others = [write for write in writes if write[1] != CHANNEL]
        return saved._replace(pending_writes=others) if kept else saved
