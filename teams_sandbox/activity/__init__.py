"""Changes in the tenant, with the activities that tell the bot: installs, people, teams, channels."""

from .installs import Installs
from .teams import Teams

__all__ = ["Installs", "Teams"]
