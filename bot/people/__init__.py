"""Who people are: who may decide, and who gets a card at a place. Look-ups go through the channel and a
cache.

Public face: `directory.Directory`, `recipients.Recipients`, `cache.Cache`.
"""
