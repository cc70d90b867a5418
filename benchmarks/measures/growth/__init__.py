"""What many stored reviews cost: the same operations with few and with many reviews, alternating.

`recording` writes one review of each kind with the real code, and `copies` stores it many times. `bots` and
`commands` measure operations, and `measure` compares the sizes.
"""

from benchmarks.measures.growth.measure import measure

__all__ = ["measure"]
