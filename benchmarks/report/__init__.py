"""Figures with their floors and aims, as a table and as a picture."""
