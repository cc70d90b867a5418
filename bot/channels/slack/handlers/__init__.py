"""What people do in Slack → calls to the inbox → answers: buttons, modals, App Home, commands, events.

`Listeners`, `HomeTab` and `Events` each have a `register(app)` for Bolt.
"""

from .events import Events
from .home import HomeTab
from .listeners import Listeners

__all__ = ["Events", "HomeTab", "Listeners"]
