"""Changes in the tenant, each with the activity that the bot gets: installs, people, teams, channels."""

from .installs import Installs
from .teams import Teams

__all__ = ["Installs", "Teams"]
