"""What each setting is: the docstrings below the fields of `Settings`, which Python does not keep."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Mapping
from dataclasses import fields

from .settings import Settings


def describe_settings() -> Mapping[str, str]:
    """By the field's name; "" for each where the source is not installed."""
    names = {field.name: "" for field in fields(Settings)}
    try:
        [definition] = ast.parse(inspect.getsource(Settings)).body
    except OSError:
        return names
    assert isinstance(definition, ast.ClassDef)
    return names | {
        field.target.id: text.value.value
        for field, text in itertools.pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
