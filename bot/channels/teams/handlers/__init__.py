"""What people do in Teams → calls to the inbox → answers: buttons, forms, messages, installs.

Start with `Activities`; `TeamsHome` also updates the Homes that people opened.
"""

from .activities import Activities
from .home import TeamsHome

__all__ = ["Activities", "TeamsHome"]
