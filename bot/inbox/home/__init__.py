"""The Home of one person: the reviews that wait for them, that wait for others, and that they decided.

Start with `HomeLoader`: it finds candidates in the store's index, and checks each permission.
"""

from .home import Home, HomeLine, HomeTask, offload_home
from .loader import HomeLoader
from .views import KEEP_FOR, HomeView

__all__ = ["KEEP_FOR", "Home", "HomeLine", "HomeLoader", "HomeTask", "HomeView", "offload_home"]
