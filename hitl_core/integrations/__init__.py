"""Adapters for agent frameworks, each in a package of its own. Only that package imports the framework.

Public: `langgraph` for LangGraph and LangChain agents.
"""
