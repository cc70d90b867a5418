"""LangChain for Python, `HumanInTheLoopMiddleware` in its default mode: one interrupt for each turn.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

from hitl_core.dialects.parts import CONFIG_FORMAT, SNAKE, Batch

dialect = Batch(CONFIG_FORMAT, SNAKE)
