"""A lane: the jobs of one conversation, done in order. A job that fails is tried again, set aside or
given up.

Start with `Lane`.
"""

from .aside_jobs import AsideJobs
from .failing_jobs import REPORT_AFTER
from .lane import LANE_LEASE, LATE_WINDOW, Gather, Lane

__all__ = ["LANE_LEASE", "LATE_WINDOW", "REPORT_AFTER", "AsideJobs", "Gather", "Lane"]
