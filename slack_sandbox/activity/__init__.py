"""Changes in the workspace, with their events: people, groups, channels, App Home, the app itself."""

from .channels import Channels
from .home import HomeTabs
from .installation import Installation
from .usergroups import SCOPE, UserGroups, group_object
from .users import Users, user_object

__all__ = [
    "SCOPE",
    "Channels",
    "HomeTabs",
    "Installation",
    "UserGroups",
    "Users",
    "group_object",
    "user_object",
]
