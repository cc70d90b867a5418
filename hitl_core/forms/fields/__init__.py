"""The inputs of a form, one file for each kind. Start with `choose_input` and `parse_answer`."""

from hitl_core.forms.fields.answer import is_cleared, is_unchanged, parse_answer
from hitl_core.forms.fields.choices import NOT_SET, list_options
from hitl_core.forms.fields.hints import are_numbers, description_text, is_number, make_hint
from hitl_core.forms.fields.input_fields import InputLimits, choose_input, json_slot
from hitl_core.forms.fields.json_text import read_json

__all__ = [
    "NOT_SET",
    "InputLimits",
    "are_numbers",
    "choose_input",
    "description_text",
    "is_cleared",
    "is_number",
    "is_unchanged",
    "json_slot",
    "list_options",
    "make_hint",
    "parse_answer",
    "read_json",
]
