"""A figure with its floor and its aim; figures as a table and as a picture."""
