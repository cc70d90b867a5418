"""Checks the shell commands in the docs that no test can run: their programs and options exist."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields
from unittest import mock

import yaml

from bot.settings import Settings
from hitl_core.cli.main import build_parser, main
from tests.docs.pages import ROOT

Words = list[str]
#: What ends a command, and what separates it from where its output goes.
_ENDS = ("\n", ";", "&&", "||", "|", "&")
_REDIRECTS = (">", ">>", "<")


def check_commands(text: str) -> None:
    """Fails for a command that nobody knows, or that would refuse its options."""
    for words in _commands(text):
        name, *rest = words
        assert name in _CHECKS, f"{name}: no check for this command, and nothing to run it with"
        _CHECKS[name](rest)


def _commands(text: str) -> Iterator[Words]:
    joined = text.replace("\\\n", " ")
    for line in joined.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: Words = []
        for word in [*lexer, ";"]:
            if word not in _ENDS:
                words.append(word)
                continue
            if command := _plain(words):
                yield command
            words = []


def _plain(words: Words) -> Words:
    """Without what is set before it, and without where its output goes."""
    while words and re.match(r"[A-Z_]+=", words[0]):
        _setting(words[0].partition("=")[0])
        words = words[1:]
    ends = [at for at, word in enumerate(words) if word in _REDIRECTS]
    return words[: ends[0]] if ends else words


def _hitl(words: Words) -> None:
    if words[0] == "serve":
        _serve(words)
    else:
        build_parser().parse_args(words)


def _python(words: Words) -> None:
    assert words[0] == "-m", "python runs modules here"
    assert importlib.util.find_spec(words[1]), f"no module {words[1]}"


def _serve(words: Words) -> None:
    """Accepted where only its settings are missing."""
    text = io.StringIO()
    with mock.patch.dict("os.environ", clear=True), contextlib.redirect_stderr(text):
        assert main(words) == 2
    assert "is not set" in text.getvalue() or "are not set" in text.getvalue()


def _instrument(words: Words) -> None:
    """OpenTelemetry's program, which runs another one."""
    name, *rest = words
    assert name in ("hitl", "python"), f"opentelemetry-instrument {name}"
    if name == "hitl":
        _hitl(rest)


def _make(words: Words) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for word in words:
        name, assigned, _ = word.partition("=")
        known = f"$({name})" in (ROOT / "Makefile").read_text() if assigned else name in targets
        assert known, f"make knows no {name}"


def _pip(words: Words) -> None:
    assert words[0] == "install"
    if "-c" in words:
        assert (ROOT / words[words.index("-c") + 1]).is_file()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    [ours] = [
        word for word in words[1:] if not word.startswith(("-", "opentelemetry-", "constraints"))
    ]
    named = re.fullmatch(r"(?:\.|hitl-core)(?:\[([a-z,]+)\])?", ours)
    assert named, f"pip install {ours}"
    assert set(filter(None, (named[1] or "").split(","))) <= extras.keys()


def _docker(words: Words) -> None:
    """Its own options are Docker's; ours are the services and what the image is told."""
    verb, *rest = words
    if verb == "compose":
        services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
        named = [w.partition("=")[0] for w in rest if "=" in w]
        assert set(named) <= services.keys()
    elif verb == "run":
        assert (ROOT / "Dockerfile").is_file()
        if "hitl-bot" in rest and (texts := rest[rest.index("hitl-bot") + 1 :]):
            _hitl(texts)
    else:
        assert verb == "build"


def _export(words: Words) -> None:
    for word in words:
        _setting(word.partition("=")[0])


def _setting(name: str) -> None:
    known = {field.name.upper() for field in fields(Settings)} | OTHER_SETTINGS
    assert name in known, f"{name} is no setting"


def _file(words: Words) -> None:
    assert words


#: What is no setting of the bot: read by the agents' examples, `hitl`, and an agent's own process.
OTHER_SETTINGS = {"HITL_CLI_DECIDE", "HITL_TOKEN", "OTEL_SERVICE_NAME"}

_CHECKS: dict[str, Callable[[Words], None]] = {
    "hitl": _hitl,
    "python": _python,
    "opentelemetry-instrument": _instrument,
    "make": _make,
    "pip": _pip,
    "docker": _docker,
    "export": _export,
    "cp": _file,
    "set": _file,
    ".": _file,
}
