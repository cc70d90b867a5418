"""The YAML of a policy: what is refused before any rule is read, and values that YAML doesn't
read as text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.policy.reader.report import Report
from hitl_core.policy.reader.yaml_document import parse_yaml

QUOTES = "A name that begins with `*` needs quotes in YAML."

NOT_READ = [
    ("", "p.yaml: The policy is empty. Add at least `default: review`."),
    ("# only a comment\n", "p.yaml: The policy is empty. Add at least `default: review`."),
    (
        "default: review\n---\ndefault: allow\n",
        "p.yaml:2: A policy is one YAML document, but a second one begins here: remove it.",
    ),
    (
        "default: review\ndefault: allow\n",
        "p.yaml:2: default: This key appears twice: it is also on line 1.",
    ),
    (
        "default: review\ninterrupt_on:\n  a: deny\n  'a': false\n",
        "p.yaml:4: interrupt_on.a: This key appears twice: it is also on line 3.",
    ),
    (
        "default: &a review\n",
        "p.yaml:1: default: The anchor `&a` is not allowed: repeat the value, or put text in quotes.",
    ),
    (
        "a: &a [1]\nb: *a\n",
        "p.yaml:1: a: The anchor `&a` is not allowed: repeat the value, or put text in quotes.",
    ),
    (
        "default: review\ninterrupt_on:\n  *_x: true\n",
        f"p.yaml:3: interrupt_on: The alias `*_x` is not allowed here. {QUOTES}",
    ),
    (
        "default: review\ninterrupt_on:\n  *: true\n",
        (
            "p.yaml:3: This is not YAML: expected alphabetic or numeric character, but found ':'."
            f" {QUOTES}"
        ),
    ),
    (
        "default: !!python/name:os.system x\n",
        (
            "p.yaml:1: default: The tag `tag:yaml.org,2002:python/name:os.system` is not allowed:"
            " put text in quotes."
        ),
    ),
    (
        "default: [review\n",
        "p.yaml:2: This is not YAML: expected ',' or ']', but got '<stream end>'.",
    ),
    (
        "\tdefault: review\n",
        "p.yaml:1: This is not YAML: found character '\\t' that cannot start any token.",
    ),
    ("default: \x07\n", "p.yaml: This is not YAML: special characters are not allowed."),
    ("[a]: b\n", "p.yaml:1: A key must be text."),
    (
        "default: review\nx: " + "[" * 40 + "]" * 40,
        "p.yaml:2: This is nested deeper than 32 levels.",
    ),
    ("x: " + "[" * 100_000, "p.yaml:1: This is nested deeper than 32 levels."),
    ("#" * 1024 * 1024 + "\n", "p.yaml: The policy is larger than 1 MiB."),
]


@pytest.mark.parametrize(("text", "message"), NOT_READ)
def test_text_that_is_not_read(text: str, message: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_yaml(text, name="p.yaml")
    assert str(caught.value) == message
    assert caught.value.__context__ is None  # a traceback shows nothing of PyYAML


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "9" * 5000])
def test_a_number_that_python_can_not_hold(number: str) -> None:
    text = f"default: review\ninterrupt_on:\n  a: {{args_schema: {{maximum: {number}}}}}\n"
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_yaml(text, name="p.yaml")
    assert (
        str(caught.value.problems[0])
        == "p.yaml:3: interrupt_on.a.args_schema.maximum: This number is too large."
    )


SCALARS = [
    *((text, True) for text in ("true", "True", "TRUE")),
    *((text, False) for text in ("false", "False", "FALSE")),
    *((text, None) for text in ("null", "~", "")),
    *((text, text) for text in ("yes", "no", "on", "off", "y", "N", "010", "0x1F", "1_000")),
    *((text, text) for text in ("1:30", "2026-01-01", ".inf", ".nan", "+1", "<<", "=")),
    *((f"'{text}'", text) for text in ("true", "null", "7")),
    ("7", 7),
    ("-7", -7),
    ("1.5e3", 1500.0),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_the_scalars_are_those_of_json_and_all_else_is_text(text: str, value: object) -> None:
    found = parse_yaml(f"key: {text}", Report("p"))
    assert found == {"key": value}
    assert isinstance(found, dict)
    assert type(found["key"]) is type(value)


@pytest.mark.parametrize("key", ["no", "true", "7", "null", "2026-01-01"])
def test_keys_are_always_text(key: str) -> None:
    assert parse_yaml(f"{key}: 1", Report("p")) == {key: 1}


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + chr(ord(name) - 1)] * 9)}]\n" for name in "bcdefghi"
    )
    with pytest.raises(InvalidPolicy, match="The anchor `&a` is not allowed"):
        Policy.from_yaml(bomb)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(tmp_path / "none.yaml")
    assert str(caught.value) == f"{tmp_path}/none.yaml: The file does not exist."


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: This is a directory; a policy is a YAML file."


def test_a_path_that_the_system_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("default: review")
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(tmp_path / "file" / "policy.yaml")
    assert str(caught.value).endswith(": The file can't be read: Not a directory.")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"default: \xff\n", "The file is not UTF-8 text."),
        (b"", "The policy is empty. Add at least `default: review`."),
        (b"#" * (1024 * 1024 + 1), "The policy is larger than 1 MiB."),
    ],
)
def test_a_file_that_holds_no_policy(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(data)
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(str(path))
    assert str(caught.value) == f"{path}: {text}"


def test_a_byte_order_mark_is_no_part_of_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(b"\xef\xbb\xbfdefault: deny\n")
    assert Policy.load(path).default.kind == "deny"


@pytest.mark.parametrize("sign", ["\r", "\x85", "\u2028", "\u2029", "\u202e", "\u2067"])
def test_nothing_reads_like_a_comment_and_is_a_rule(sign: str) -> None:
    """Given a character that ends a comment in YAML 1.1 but not in an editor, or that reorders a line; then
    the policy is refused, with its line and a way to write the character in a text."""
    with pytest.raises(InvalidPolicy) as refused:
        Policy.from_yaml(f"default: review\n# Not yet:{sign}interrupt_on: {{pay: false}}\n")
    assert str(refused.value).startswith(
        f"policy:2: The character U+{ord(sign):04X} is not allowed"
    )
    escaped = f'"a\\u{ord(sign):04x}b"'
    Policy.from_yaml(f"default: review\r\ninterrupt_on: {{pay: {{description: {escaped}}}}}\r\n")


@pytest.mark.parametrize("path", [None, 7, ["policy.yaml"]])
def test_what_is_no_path_is_one_sentence(path: Any) -> None:
    """`open` would read an open file of this process, and close it."""
    with pytest.raises(TypeError, match="PathLike"):
        Policy.load(path)
