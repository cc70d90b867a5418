"""LangChain for JavaScript, `humanInTheLoopMiddleware`.

https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop
"""

from __future__ import annotations

from hitl_core.dialects.parts import CAMEL, JAVASCRIPT_DECISIONS, ConfigFormat, JavaScriptBatch

dialect = JavaScriptBatch(
    ConfigFormat(
        dialect="langchain_js",
        rules="interruptOn",
        prefix="descriptionPrefix",
        allowed="allowedDecisions",
        schema="argsSchema",
        override="allowOverride",
        known=JAVASCRIPT_DECISIONS,
        everything=JAVASCRIPT_DECISIONS,
    ),
    CAMEL,
)
