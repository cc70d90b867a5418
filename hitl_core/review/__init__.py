"""What may happen to a review: decisions, votes, edits, escalation, deadlines, claims.

`decisions`, `escalation`, `timers` and `cancellation` (people and time) and `claims` (the agent) are pure
functions: `(review, …, now) → Transition`. `service.Reviews` loads a review, applies one of them and stores
the result. Nothing else writes reviews.
"""
