"""Shows reviews: queued changes → posted and updated cards; also timers and open Homes. The bot's background
half.

Public face: `workers.Workers`, `outbox.Outbox`, `delivery.Delivery`, `escalator.Escalator`,
`home_refresher.HomeRefresher`.
"""
