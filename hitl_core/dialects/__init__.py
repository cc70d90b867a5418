"""The formats of other systems (LangChain, Sagents, ArcGIS, …): their policies, interrupts and answers.

`get` a `Dialect` by name, `detect` the dialect of an interrupt or answer, `split` a combined interrupt.
"""

from hitl_core.dialects.answerable_decisions import limit_decisions
from hitl_core.dialects.apply_policy import answer_denial, apply_policy, deny_unless_allowed
from hitl_core.dialects.base import Dialect
from hitl_core.dialects.registry import detect, get, is_interrupt, split

__all__ = [
    "Dialect",
    "answer_denial",
    "apply_policy",
    "deny_unless_allowed",
    "detect",
    "get",
    "is_interrupt",
    "limit_decisions",
    "split",
]
