"""XpertAI's human-in-the-loop middleware: like LangChain for JavaScript, but its editor writes
`description: ''` for no description, and the context of a run can't change the prefix.

https://github.com/xpert-ai/xpert
"""

from __future__ import annotations

from hitl_core.dialects.parts import CAMEL, JAVASCRIPT_DECISIONS, ConfigFormat, JavaScriptBatch

dialect = JavaScriptBatch(
    ConfigFormat(
        dialect="xpertai",
        rules="interruptOn",
        prefix="descriptionPrefix",
        allowed="allowedDecisions",
        schema="argsSchema",
        override="allowOverride",
        known=JAVASCRIPT_DECISIONS,
        everything=JAVASCRIPT_DECISIONS,
        empty_text=False,
        context_prefix=False,
    ),
    CAMEL,
)
