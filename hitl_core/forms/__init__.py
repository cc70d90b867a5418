"""Forms for editing arguments: `make_form` makes one, and `read_answers` reads the answers as new arguments.

Pure, and independent of the chat system. A channel only draws the fields (`form.py`). The functions of the
bounded JSON Schema checks can be imported from here too.
"""

from hitl_core.forms.edit_args import find_removed
from hitl_core.forms.fixed_values import find_changed_fixed, find_fixed, find_lost_hidden
from hitl_core.forms.form import Field, Form, FormErrors, Kind, Option
from hitl_core.forms.form_answers import read_answers
from hitl_core.forms.plan.build import make_form
from hitl_core.forms.unset_values import strip_texts
from hitl_core.jsonschema.errors import ArgError, PatternError, SchemaError
from hitl_core.jsonschema.hidden import find_hidden, is_hiding_unclear, mask_args
from hitl_core.jsonschema.patterns.pattern import check_pattern
from hitl_core.jsonschema.schema import check_schema
from hitl_core.jsonschema.validate import check_args

__all__ = [
    "ArgError",
    "Field",
    "Form",
    "FormErrors",
    "Kind",
    "Option",
    "PatternError",
    "SchemaError",
    "check_args",
    "check_pattern",
    "check_schema",
    "find_changed_fixed",
    "find_fixed",
    "find_hidden",
    "find_lost_hidden",
    "find_removed",
    "is_hiding_unclear",
    "make_form",
    "mask_args",
    "read_answers",
    "strip_texts",
]
