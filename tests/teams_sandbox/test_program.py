"""`python -m teams_sandbox`: the local Teams as a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.servers
def test_the_program_prints_what_a_bot_needs_and_ends_when_it_is_told():
    program = subprocess.Popen(
        [sys.executable, "-m", "teams_sandbox", "--port=0", "--client-secret=s3cret"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None
        words = program.stdout.readline().split()
        settings = dict(word.split("=", 1) for word in words if "=" in word)
        tenant, url = settings["TEAMS_TENANT_ID"], settings["TEAMS_CLOUD_URL"]
        form = {
            "grant_type": "client_credentials",
            "client_id": settings["TEAMS_CLIENT_ID"],
            "client_secret": "s3cret",
            "scope": "https://api.botframework.com/.default",
        }
        login = f"{url}/login.microsoftonline.com/{tenant}/oauth2/v2.0/token"
        assert httpx.post(login, data=form).json()["token_type"] == "Bearer"
    finally:
        program.terminate()
        output, _ = program.communicate(timeout=30)
    assert (program.returncode, output) == (0, "")
