"""What the bot relies on in Microsoft's SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.teams.tokens import (
    CLIENT_ID,
    ISSUER,
)


def test_the_import_of_the_sdk_changes_nothing(tmp_path: Any, monkeypatch: Any) -> None:
    """Given a file `.env` in the working directory; then the import of the SDK, in a new process, leaves our
    environment as it is."""
    (tmp_path / ".env").write_text("CLIENT_SECRET=planted\nHITL_POLICY=planted\n")
    code = (
        "import os; before = dict(os.environ)\n"
        "from bot.channels.teams.transport import sdk\n"
        f"sdk.token_validator({CLIENT_ID!r})\n"
        "assert dict(os.environ) == before, set(os.environ) - set(before)\n"
    )
    root = str(Path(__file__).parents[4])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path, env={"PYTHONPATH": root, "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_issuer_is_the_sdks() -> None:
    """Given the SDK's public cloud; then the guard compares with its issuer."""
    from bot.channels.teams.transport import sdk
    from bot.channels.teams.transport.requests import guard

    validator = sdk.token_validator(CLIENT_ID)(None)
    assert validator.options.valid_issuers == [guard.ISSUER] == [ISSUER]
