"""Handles what people do in Slack: buttons, modals, App Home, commands and events become calls to the inbox,
and its replies become answers.

`Listeners`, `HomeTab` and `Events` each have a `register(app)` for Bolt.
"""

from .events import Events
from .home import HomeTab
from .listeners import Listeners

__all__ = ["Events", "HomeTab", "Listeners"]
