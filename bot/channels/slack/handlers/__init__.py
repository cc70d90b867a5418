"""Handles what people do in Slack: buttons, modals, App Home, commands and events become calls to the inbox,
and its replies become answers.

`Listeners`, `HomeTab`, `Commands` and `Events` each have a `register(app)` for Bolt.
"""

from .commands import Commands
from .events import Events
from .home import HomeTab
from .listeners import Listeners

__all__ = ["Commands", "Events", "HomeTab", "Listeners"]
