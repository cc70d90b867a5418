"""Forms: a JSON Schema and arguments become inputs, and answers become arguments again.

Pure: no chat words, no input or output. The values are in `form.py`.
"""

from hitl_core.forms.build import make_form
from hitl_core.forms.change import removed
from hitl_core.forms.fixed import change_of_fixed, fixed_paths, loss_of_hidden
from hitl_core.forms.form import (
    ArgError,
    Field,
    Form,
    FormErrors,
    Kind,
    Option,
    PatternError,
    SchemaError,
)
from hitl_core.forms.patterns import check_pattern
from hitl_core.forms.read import read_answers
from hitl_core.forms.schema import check_schema
from hitl_core.forms.secrets import hidden_in, masked_args, unclear
from hitl_core.forms.unsaid import unsaid
from hitl_core.forms.validate import check_args

__all__ = [
    "ArgError",
    "Field",
    "Form",
    "FormErrors",
    "Kind",
    "Option",
    "PatternError",
    "SchemaError",
    "change_of_fixed",
    "check_args",
    "check_pattern",
    "check_schema",
    "fixed_paths",
    "hidden_in",
    "loss_of_hidden",
    "make_form",
    "masked_args",
    "read_answers",
    "removed",
    "unclear",
    "unsaid",
]
