"""What the measurements share: programs, a Redis, a Slack or Teams with waiting reviews,
requests, amounts.
"""
