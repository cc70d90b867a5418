"""Adapters of agent frameworks, one room each. A framework is imported only by its own."""
