"""Forms for editing arguments: `make_form` makes a form, and `Form.read` turns the answers into new
arguments.

Pure, and independent of the chat system: a channel only draws the fields.
"""

from hitl_core.forms.choices import list_options
from hitl_core.forms.edit_args import (
    find_changed_fixed,
    find_lost_hidden,
    find_removed,
    name_removed,
)
from hitl_core.forms.field import Field, FormErrors, JointError, Kind, Option, utf16_length
from hitl_core.forms.form import Answers, Form, make_form
from hitl_core.forms.strip_texts import keep_types, number_options, strip_texts
from hitl_core.forms.text_values import read_json

__all__ = [
    "Answers",
    "Field",
    "Form",
    "FormErrors",
    "JointError",
    "Kind",
    "Option",
    "find_changed_fixed",
    "find_lost_hidden",
    "find_removed",
    "keep_types",
    "list_options",
    "make_form",
    "name_removed",
    "number_options",
    "read_json",
    "strip_texts",
    "utf16_length",
]
