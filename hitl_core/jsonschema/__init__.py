"""Checks arguments by JSON Schema with limited work: a schema from an agent can't make a process hang.

Start with `schema.check_schema` (is this schema usable?), `validate.check_args` (are these arguments valid?)
and `hidden.find_hidden` (which values does it hide?). Pure; it fetches nothing.
"""
