"""The audit: entries chained by hash, anchors over ranges of entries, and the check that none was changed.

`Ledger` is the contract of its storage.
"""

from hitl_core.audit.entry import Anchor, PolicyChanged, link_entry, parse_position
from hitl_core.audit.export import (
    entries,
    entry_line,
    export_lines,
    find_start,
    follows_line,
    read_entry,
)
from hitl_core.audit.ledger import Entry, Ledger
from hitl_core.audit.sealer import Sealer, seal
from hitl_core.audit.verify import BrokenChain, Verifier

__all__ = [
    "Anchor",
    "BrokenChain",
    "Entry",
    "Ledger",
    "PolicyChanged",
    "Sealer",
    "Verifier",
    "entries",
    "entry_line",
    "export_lines",
    "find_start",
    "follows_line",
    "link_entry",
    "parse_position",
    "read_entry",
    "seal",
]
