"""Adapters of agent frameworks, one module each. A framework is imported only by its own."""
