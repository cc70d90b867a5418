"""Digests: where too many first cards wait in one lane, the reviews of one agent share one message. It is
only a shortcut for plain pending reviews. In any doubt each gets a card of its own, with all its checks,
problems and fallbacks.
"""

from .maker import DigestMaker
from .sync import DigestSync

__all__ = ["DigestMaker", "DigestSync"]
