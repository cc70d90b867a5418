"""Changes in the workspace, with their events: people, groups, channels, App Home."""

from .channels import Channels
from .home import HomeTabs
from .usergroups import SCOPE, UserGroups, group_object
from .users import Users, user_object

__all__ = ["SCOPE", "Channels", "HomeTabs", "UserGroups", "Users", "group_object", "user_object"]
