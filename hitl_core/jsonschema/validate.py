"""Accepts or refuses a schema within a budget, and checks arguments by it. Compiled schemas are cached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from hitl_core.jsonschema.checks import MAX_PROBLEMS, Check, CheckState, Compiler, list_errors
from hitl_core.jsonschema.drafts import NEWEST, parse_draft
from hitl_core.jsonschema.errors import ArgError, PatternError, SchemaError
from hitl_core.jsonschema.limits import SCHEMA_STEPS, Budget, SizedCache, TooMuchWork
from hitl_core.jsonschema.resolve import SchemaDocument

MAX_SCHEMA = 64 * 1024  # bytes of JSON
_TOO_LARGE = "the schema is too large or too complex to be checked"
_TOO_LARGE_TOGETHER = "the schemas of this request are together too large to be checked"
Json = dict[str, Any]


class CompiledSchema(NamedTuple):
    """`root` is the schema as plain JSON values."""

    root: Json
    check: Check


class _Compilation(NamedTuple):
    """The result of reading a schema, and its cost in steps."""

    compiled: CompiledSchema | None
    flaw: SchemaError | None
    cost: int

    @property
    def weight(self) -> int:
        """The approximate memory, in units of 100 bytes."""
        return 100 + self.cost if self.compiled else 10


#: At most about 40 MB. Agents choose the number and the size of schemas, so the total must be limited.
_outcomes = SizedCache[bytes, _Compilation](400_000, lambda one: one.weight)
#: The cost and the error of reading a schema. They are small, so they stay in the cache longer than the
#: compiled check.
_flaws = SizedCache[bytes, tuple[int, SchemaError | None]](1024, lambda _: 1)


def check_schema(
    schema: Mapping[str, Any], *, strict: bool = False, budget: Budget | None = None
) -> None:
    """Raises SchemaError, with one sentence, if arguments can't be checked by this schema.

    `strict` also refuses keywords that its draft doesn't have, because they would be ignored. `budget` is
    shared by several schemas.
    """
    check_schema_text(write_schema(schema), strict=strict, budget=budget)


def check_schema_text(text: str, *, strict: bool = False, budget: Budget | None = None) -> None:
    """Like `check_schema`, for a text that `write_schema` made."""
    if budget is not None and budget.left < 0:
        raise SchemaError(_TOO_LARGE_TOGETHER)

    def read() -> tuple[int, SchemaError | None]:
        outcome = _compile(text, strict)
        return outcome.cost, outcome.flaw

    cost, flaw = _flaws.get(_key(text, strict), read)
    if budget is not None:
        budget.left -= cost
        if budget.left < 0:
            raise SchemaError(_TOO_LARGE_TOGETHER)
    if flaw is not None:
        raise type(flaw)(str(flaw))


def check_args(schema: Mapping[str, Any] | None, args: Mapping[str, Any]) -> list[ArgError]:
    """The errors of the arguments (plain JSON values); [] if they are valid.

    Raises SchemaError for a schema that `check_schema` refuses. Nothing is fetched, and the work is limited:
    if arguments need more work, that is an error at the top (pointer "").
    """
    if schema is None:
        return []
    check, run = compile_schema(schema).check, CheckState()
    try:
        problems = check(dict(args), run)
        errors = [error for problem in problems[:MAX_PROBLEMS] for error in list_errors(problem)]
    except TooMuchWork as error:
        return [ArgError("", str(error))]
    except RecursionError:
        return [ArgError("", "the arguments and their schema are nested too deeply to be checked")]
    if not errors and run.unsure is not None:
        return [ArgError("", f"one of the texts {run.unsure}")]
    return list(dict.fromkeys(errors))[:MAX_PROBLEMS]


def wrap_schema(schema: Mapping[str, Any], name: str) -> Json:
    """The schema of an object whose only property is a value of this schema. The definitions stay at the top,
    because references lead there.
    """
    top = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
    own = {key: value for key, value in schema.items() if key not in top}
    return {**top, "type": "object", "properties": {name: own}, "required": [name]}


def compile_schema(schema: Mapping[str, Any]) -> CompiledSchema:
    """The compiled schema, from the cache if possible. Raises SchemaError."""
    outcome = _compile(write_schema(schema), False)
    if outcome.compiled is None:
        raise SchemaError(str(outcome.flaw))
    return outcome.compiled


def write_schema(schema: Mapping[str, Any]) -> str:
    """The schema as text. Raises SchemaError for one that is not JSON, or too large."""
    try:
        text = json.dumps(dict(schema), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not plain JSON: {error}") from error
    if size > MAX_SCHEMA:
        raise SchemaError(f"the schema has {size:,} bytes; the limit is {MAX_SCHEMA:,}")
    return text


def _key(text: str, strict: bool) -> bytes:
    """A short key for the cache: the text may be long."""
    return blake2b(text.encode(), person=b"strict" if strict else b"").digest()


def _compile(text: str, strict: bool) -> _Compilation:
    return _outcomes.get(_key(text, strict), lambda: _read(text, strict))


def _read(text: str, strict: bool) -> _Compilation:
    budget, compiled, flaw = Budget(SCHEMA_STEPS), None, None
    try:
        budget.spend(len(text) // 16)
        schema: Json = json.loads(text)
        draft = parse_draft(schema["$schema"]) if "$schema" in schema else NEWEST
        document = SchemaDocument(schema, draft, budget, strict=strict)
        compiled = CompiledSchema(schema, Compiler(document, budget).compile_root())
    except (SchemaError, PatternError) as error:
        flaw = type(error)(str(error))  # a new one, without a traceback that keeps values alive
    except TooMuchWork:
        flaw, budget.left = SchemaError(_TOO_LARGE), 0
    except RecursionError:
        flaw = SchemaError("the schema is nested too deeply")
    return _Compilation(compiled, flaw, SCHEMA_STEPS - max(budget.left, 0))
