"""A local Teams, as strict as Teams: its Connector, Graph, login, and signed activities."""
