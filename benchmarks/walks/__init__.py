"""`make walks`: how many of our files each trip of the data goes through, and how often it moves between
them. One review with one call. Each trip is made twice, and the second one counts, so caches are warm.
"""

from benchmarks.walks.fixture import Fixture
from benchmarks.walks.recorder import Walk
from benchmarks.walks.trips import TRIPS

__all__ = ["TRIPS", "Fixture", "Walk"]
