"""Each command has help with examples, and docs/cli.md contains the same text."""

from __future__ import annotations

import importlib.metadata

import pytest

from hitl_core.cli import main
from tests.cli.help_pages import PAGE, SECTION, helps


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_the_docs_say_what_the_commands_say() -> None:
    """`python -m tests.cli.help_pages` writes it again. By words, because Pythons break lines differently."""
    written = {name: text for _, name, text in SECTION.findall(PAGE.read_text("utf-8"))}
    texts = helps()
    assert "hitl serve" in texts, (
        "an old install: .venv/bin/pip install -c constraints.txt -e '.[demo,dev]'"
    )
    assert list(written) == list(texts)
    for name, text in texts.items():
        assert written[name].split() == text.split(), name


@pytest.mark.parametrize("command", helps())
def test_help_has_an_example_and_fits(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*command.split()[1:], "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert f"$ {command} " in out
    assert max(map(len, out.splitlines())) <= 80


def test_every_exit_code_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.partition("Exit codes:\n")[2].splitlines()] == [*"0123"]


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"7 of {name}")
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == "hitl 7 of hitl-core\n"


def test_an_unknown_option_is_refused_with_the_usage_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["reviews", "list", "--colour", "red"])
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: hitl reviews list ")
    assert "hitl reviews list: error: unrecognized arguments: --colour red" in err


def test_without_a_command_it_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert (out, "Exit codes:" in err) == ("", True)
