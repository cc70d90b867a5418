"""What it costs that many reviews are stored: the same operations with few and with many, alternating.

`recording` writes one review of each kind by the real code, `copies` stores it many times, `operations` are
measured, and `measure` compares the sizes.
"""

from benchmarks.measures.growth.measure import measure

__all__ = ["measure"]
