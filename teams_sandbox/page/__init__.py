"""The web page of the local Teams, and its API."""

from .page_api import PageApi
from .single_item import single_item_url

__all__ = ["PageApi", "single_item_url"]
