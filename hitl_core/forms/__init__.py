"""Forms: a JSON Schema and arguments become inputs, and answers become arguments again.

Pure: no chat words, no input or output. The values are in `form.py`.
"""

from hitl_core.forms.build import make_form
from hitl_core.forms.change import find_removed
from hitl_core.forms.fixed import find_changed_fixed, find_fixed, find_lost_hidden
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
from hitl_core.forms.secrets import find_hidden, is_hiding_unclear, mask_args
from hitl_core.forms.unsaid import strip_texts
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
