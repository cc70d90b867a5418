"""`make walks`: how many of our files each path of the data goes through, and how often it moves between
them. Each path is measured with one review of one call, twice; the second time counts, so that caches are
warm.
"""

from benchmarks.walks.fixture import Fixture
from benchmarks.walks.recorder import Walk
from benchmarks.walks.trips import TRIPS

__all__ = ["TRIPS", "Fixture", "Walk"]
