"""The audit: entries chained by hash, anchors over ranges of entries, and the check that none was changed.

Public: `ledger` (the contract of its storage), `entry.link_entry`, `export.export_lines`, `verify.Verifier`
and `sealer.Sealer`.
"""
