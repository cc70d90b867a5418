"""`hitl demo --check`: the whole flow without a browser."""

from .check import run

__all__ = ["run"]
