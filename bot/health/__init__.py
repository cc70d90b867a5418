"""What operators see: current problems, notices in the bot's channel, `/readyz`, `/metrics`, `check-policy`.

Public face: `health.Health`, `notices.Notices`, `readiness.make_probe`, `metrics.add_metrics`,
`place_check.PlaceCheck`, `policy_check.check_policy`.
"""
