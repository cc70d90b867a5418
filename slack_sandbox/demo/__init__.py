"""`hitl demo`: Redis, a local Slack, the bot and an agent, each as a separate process."""

from .agent import Result, Shop, ShopError, next_step
from .embedded_redis import DURABLE_SETTINGS, EmbeddedRedis

__all__ = ["DURABLE_SETTINGS", "EmbeddedRedis", "Result", "Shop", "ShopError", "next_step"]
