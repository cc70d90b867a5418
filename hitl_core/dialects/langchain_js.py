"""LangChain for JavaScript, `humanInTheLoopMiddleware`.

https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop
"""

from __future__ import annotations

from hitl_core.dialects.parts.batch import CAMEL
from hitl_core.dialects.parts.config import ConfigFormat
from hitl_core.dialects.parts.javascript import ALL, JavaScriptBatch

dialect = JavaScriptBatch(
    ConfigFormat(
        dialect="langchain_js",
        rules="interruptOn",
        prefix="descriptionPrefix",
        allowed="allowedDecisions",
        schema="argsSchema",
        override="allowOverride",
        known=ALL,
        everything=ALL,
    ),
    CAMEL,
)
