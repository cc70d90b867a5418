"""Forms for editing arguments: `make_form` makes one, and `Form.read` reads the answers as new arguments.

Pure, and independent of the chat system: a channel only draws the fields.
"""

from hitl_core.forms.edit_args import find_removed
from hitl_core.forms.field import Field, FormErrors, Kind, Option
from hitl_core.forms.fields import list_options, read_json
from hitl_core.forms.fixed_values import find_changed_fixed, find_lost_hidden
from hitl_core.forms.form import Answers, Form, make_form
from hitl_core.forms.unset_values import strip_texts

__all__ = [
    "Answers",
    "Field",
    "Form",
    "FormErrors",
    "Kind",
    "Option",
    "find_changed_fixed",
    "find_lost_hidden",
    "find_removed",
    "list_options",
    "make_form",
    "read_json",
    "strip_texts",
]
