"""Digests: if too many first cards wait in one lane, the reviews of one agent share one message. A digest is
only a shortcut for plain pending reviews. In any doubt, a review gets its own card, with all checks, problems
and fallbacks.
"""

from .maker import DigestMaker
from .sync import DigestSync

__all__ = ["DigestMaker", "DigestSync"]
