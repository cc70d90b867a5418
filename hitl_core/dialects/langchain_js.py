"""LangChain for JavaScript, `humanInTheLoopMiddleware`; and XpertAI, whose middleware is derived from it.

https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop
https://github.com/xpert-ai/xpert
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hitl_core.dialects.parts import (
    CAMEL,
    Batch,
    ConfigFormat,
    Json,
    ensure_sendable,
)
from hitl_core.model import DecisionType, Review

JAVASCRIPT_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject")


@dataclass(frozen=True, slots=True)
class JavaScriptBatch(Batch):
    def dump_request(self, review: Review) -> Json:
        return ensure_sendable(Batch.dump_request(self, review), self.name)

    def dump_decisions(self, review: Review) -> Json:
        return ensure_sendable(Batch.dump_decisions(self, review), self.name)


_CONFIG = ConfigFormat(
    dialect="langchain_js",
    rules="interruptOn",
    prefix="descriptionPrefix",
    allowed="allowedDecisions",
    schema="argsSchema",
    override="allowOverride",
    known=JAVASCRIPT_DECISIONS,
    everything=JAVASCRIPT_DECISIONS,
)
dialect = JavaScriptBatch(_CONFIG, CAMEL)
#: XpertAI's editor writes `description: ''` for no description. The context of a run can't change the prefix.
xpertai = JavaScriptBatch(
    replace(_CONFIG, dialect="xpertai", empty_text=False, context_prefix=False), CAMEL
)
