"""Standard output that doesn't take everything: a full disk, an encoding without most characters, a stream
that is closed.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from typing import IO

import pytest

from tests.cli.desk import _HITL as HITL
from tests.cli.desk import Desk


def run(desk: Desk, stdout: int | IO[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HITL, "reviews", "list"],
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="latin-1",
        env={**desk.environment({}), **environment},
        check=False,
    )


def test_a_full_disk_is_one_sentence(desk: Desk) -> None:
    desk.submit()
    with open("/dev/full", "w") as full:
        ended = run(desk, full)
    said = "hitl: The output can't be written: No space left on device.\n"
    assert (ended.returncode, ended.stderr) == (2, said)


def test_characters_that_the_output_does_not_have_are_escaped(desk: Desk) -> None:
    """Given a terminal or a file in Latin-1: it was a traceback, and nothing was listed."""
    desk.submit(thread_id="für 支付")
    ended = run(desk, subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "für \\u652f\\u4ed8" in ended.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&- >&- <&-"])
def test_closed_streams_are_no_traceback(desk: Desk, closed: str) -> None:
    """Given a shell that closed standard output, or all streams, then the exit code is as always."""
    desk.submit()
    command = f"{shlex.join([*HITL, 'reviews', 'list'])} {closed}"
    environment = desk.environment({})
    ended = subprocess.run(
        command, shell=True, stderr=subprocess.PIPE, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "argv",
    [
        ("reviews", "decide", "0-00000000", "pay", "approve"),
        ("policy", "explain", "a-policy-with-a-name-longer-than-its-line.yaml", "pay"),
    ],
)
def test_a_long_error_on_a_terminal_is_wrapped_between_words(
    desk: Desk, argv: Sequence[str]
) -> None:
    """Given a sentence that is longer than a line of the terminal, then no word of it is broken; in a pipe it
    is one line."""
    [sentence] = (text := desk.hitl(*argv)).err.splitlines() or text.out.splitlines()

    lines = desk.on_terminal(*argv, columns=50).out.splitlines()

    assert 1 < len(lines) < len(sentence)
    assert " ".join(line.strip() for line in lines) == sentence
    assert max(map(len, lines)) <= 50
    assert all(line.startswith("  ") for line in lines[1:])
