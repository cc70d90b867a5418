"""Card → Block Kit. Pure.

Public face: `card_message` (cards and thread lines), `home_blocks` (App Home), `block_kit` (elements),
`mentions`.
"""
