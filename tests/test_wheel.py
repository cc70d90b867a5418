"""The wheel, installed outside the checkout, has `hitl serve` and `hitl demo`."""

from __future__ import annotations

import re
import signal
import subprocess
import zipfile
from pathlib import Path

import pytest

from slack_sandbox.client.actor import Actor
from tests.support.processes.installation import Installation, build_wheel, copy_sources, install
from tests.support.processes.ports import find_free_port_before_another

pytestmark = [pytest.mark.redis, pytest.mark.servers, pytest.mark.slow]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return build_wheel(copy_sources(folder / "source"), folder)


#: Settings of a bot with Slack, and of one with Teams.
SLACK = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_SIGNING_SECRET": "s",
    "HITL_CHANNEL": "#agent-approvals",
}
TEAMS = {
    "TEAMS_CLIENT_ID": "8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11",
    "TEAMS_TENANT_ID": "1b2c3d4e-1c1f-4d1e-9a53-0d6f0f2f7b11",
    "TEAMS_CLIENT_SECRET": "s",
    "HITL_CHANNEL": "teams:Ops",
}


@pytest.fixture(scope="module")
def with_slack(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """`pip install "hitl-core[slack]"`"""
    return install(wheel, tmp_path_factory.mktemp("slack"), "slack")


@pytest.fixture(scope="module")
def with_both(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """`pip install "hitl-core[slack,teams]"`"""
    return install(wheel, tmp_path_factory.mktemp("both"), "slack", "teams")


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """`pip install hitl-core`"""
    return install(wheel, tmp_path_factory.mktemp("plain"))


def test_no_package_of_the_wheel_takes_a_common_name(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    (metadata,) = [name for name in names if name.endswith(".dist-info")]
    assert names == {"hitl_core", "hitl_bot", "hitl_slack_sandbox", "hitl_teams_sandbox", metadata}


def test_every_module_is_imported_under_its_installed_name(with_both: Installation) -> None:
    """Also none by the name that its folder has in the checkout, and none from there."""
    script = (
        "import importlib, importlib.util, pkgutil\n"
        "assert not any(map(importlib.util.find_spec, ('bot', 'slack_sandbox', 'examples', 'langgraph')))\n"
        "for name in ('hitl_bot', 'hitl_slack_sandbox', 'hitl_teams_sandbox'):\n"
        "    package = importlib.import_module(name)\n"
        "    assert 'site-packages' in package.__file__, package.__file__\n"
        "    for module in pkgutil.walk_packages(package.__path__, f'{name}.'):\n"
        "        if not module.name.endswith('__main__'):\n"
        "            importlib.import_module(module.name)\n"
    )
    done = with_both.run(with_both.python, "-c", script)
    assert done.returncode == 0, done.stderr


def test_the_check_of_the_demo_passes(with_slack: Installation) -> None:
    done = with_slack.run(with_slack.hitl, "demo", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 turn ran exactly as decided" in done.stdout


async def test_the_demo_shows_what_its_agent_asks(with_slack: Installation) -> None:
    """Given a question at its start; then its review is on the page, and Ctrl-C ends all of it."""
    port = find_free_port_before_another()
    demo = subprocess.Popen(
        [with_slack.hitl, "demo", f"--port={port}", "--data=shown", "--ask=refund order 1042"],
        cwd=with_slack.folder, env=with_slack.environment | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert demo.stdout
    try:
        text = ""
        while "Ctrl-C" not in text:
            line = demo.stdout.readline()
            assert line, f"the demo ended: {text}"
            text += line
        assert re.search(rf"Open +http://127.0.0.1:{port}/", text)
        async with Actor(f"http://127.0.0.1:{port}") as actor:
            await actor.wait_for(
                lambda state: [m for m in state["messages"]["C0APPROVE"] if m["bot"]], timeout=30
            )
        demo.send_signal(signal.SIGINT)
        assert demo.wait(30) == 0
    finally:
        demo.kill()
        demo.communicate()


def test_serve_has_its_help_and_names_missing_settings(with_slack: Installation) -> None:
    helped = with_slack.run(with_slack.hitl, "serve", "--help")
    assert (helped.returncode, "--only {http,workers}" in helped.stdout) == (0, True)

    done = with_slack.run(with_slack.hitl, "serve")
    assert done.returncode == 2
    assert "SLACK_BOT_TOKEN" in done.stderr


@pytest.mark.parametrize(
    "command", ["serve", "demo", "demo --check", "policy check --channels p.yaml"]
)
def test_an_agents_install_says_what_to_install(plain: Installation, command: str) -> None:
    (plain.folder / "p.yaml").write_text("default: review\n")
    done = plain.run(plain.hitl, *command.split(), **SLACK)
    assert done.returncode == 2, done.stdout
    assert done.stderr == ('hitl: aiohttp is not installed. Run: pip install "hitl-core[slack]"\n')


def test_a_bot_with_slack_needs_nothing_of_teams(with_slack: Installation) -> None:
    """Given only the extra `slack`; then the bot can be imported, and settings of Teams name its extra."""
    script = "import hitl_bot.app, sys; print('microsoft_teams' in sys.modules)"
    done = with_slack.run(with_slack.python, "-c", script)
    assert (done.stdout, done.stderr) == ("False\n", "")

    done = with_slack.run(with_slack.hitl, "serve", **TEAMS)
    assert done.returncode == 2
    assert done.stderr == (
        'hitl: microsoft_teams is not installed. Run: pip install "hitl-core[teams]"\n'
    )


def test_an_agents_install_never_imports_the_bot(plain: Installation) -> None:
    """Neither the library nor the commands of its own do; `hitl --help` works there, too."""
    (plain.folder / "p.yaml").write_text("default: review\n")
    script = (
        "import sys, hitl_core\n"
        "from hitl_core.cli import main\n"
        "assert main(['policy', 'check', 'p.yaml']) == 0\n"
        "print([name for name in sys.modules if name.startswith(('hitl_bot', 'hitl_slack'))])\n"
    )
    done = plain.run(plain.python, "-c", script)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    helped = plain.run(plain.hitl, "--help")
    assert (helped.returncode, "\n    serve " in helped.stdout) == (0, True), helped.stderr
