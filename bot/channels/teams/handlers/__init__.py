"""Handles what people do in Teams: buttons, forms, messages and installs become calls to the inbox, and its
replies become answers.

Start with `Activities`; `TeamsHome` also updates the Homes that people opened.
"""

from .activities import Activities
from .home import TeamsHome

__all__ = ["Activities", "TeamsHome"]
