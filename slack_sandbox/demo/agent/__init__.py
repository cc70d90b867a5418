"""The demo's agent: a support desk for a small shop. Its tools really change things on this machine."""

from .script import Result, next_step
from .shop import Shop, ShopError

__all__ = ["Result", "Shop", "ShopError", "next_step"]
