"""A lane: the jobs of one conversation, done in order. One that fails is tried again, set aside or given up.

Start with `Lane`.
"""

from .aside_jobs import AsideJobs
from .lane import LANE_LEASE, LATE_WINDOW, Gather, Lane

__all__ = ["LANE_LEASE", "LATE_WINDOW", "AsideJobs", "Gather", "Lane"]
