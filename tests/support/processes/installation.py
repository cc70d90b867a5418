"""The wheel in a separate environment outside the checkout, as pip would install it from an index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
#: The files of the checkout that a build of the wheel needs.
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "hitl_core",
    "bot",
    "slack_sandbox",
    "teams_sandbox",
)


class Installation(NamedTuple):
    """`folder`: an empty folder outside the checkout, in which commands run."""

    venv: Path
    folder: Path

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def hitl(self) -> Path:
        return self.venv / "bin" / "hitl"

    @property
    def environment(self) -> dict[str, str]:
        """The environment without variables that lead to the checkout, and without our settings."""
        ours = ("HITL_", "SLACK_", "TEAMS_", "PYTHONPATH", "VIRTUAL_ENV")
        return {name: value for name, value in os.environ.items() if not name.startswith(ours)}

    def run(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command, which may take two minutes at most."""
        return subprocess.run(
            [str(word) for word in words], cwd=self.folder, env=self.environment | environment,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip


def build_wheel(source: Path, folder: Path) -> Path:
    """Builds the wheel as the Dockerfile does, without a download."""
    _pip("wheel", "--no-build-isolation", "--no-deps", f"--wheel-dir={folder}", str(source))
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_sources(folder: Path) -> Path:
    """Copies only the sources of the wheel, so that a build can't use other files of the checkout."""
    folder.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def install(wheel: Path, folder: Path, *extras: str) -> Installation:
    """Installs the wheel with the packages that it and these extras require, and no others. The packages are
    links to those of this environment, so nothing is downloaded.
    """
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    _pip(f"--python={venv}/bin/python", "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = venv.glob("lib/python*/site-packages")
    (ours,) = Distribution.discover(name="hitl-core", path=[str(packages)])
    for requirement in _requirements(ours, set(extras), set()):
        for name in _top_level_names(requirement):
            link = packages / name
            if not link.exists():
                link.symlink_to(Path(str(requirement.locate_file(name))))
    (folder / "empty").mkdir()
    return Installation(venv, folder / "empty")


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _requirements(
    package: Distribution, extras: set[str], seen: set[str]
) -> Iterator[Distribution]:
    """All distributions that a distribution requires, directly or not."""
    for text in package.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            continue
        if requirement.name not in seen:
            seen.add(requirement.name)
            needed = distribution(requirement.name)
            yield needed
            yield from _requirements(needed, requirement.extras, seen)


def _top_level_names(package: Distribution) -> set[str]:
    """Its folders and files in site-packages."""
    names = {file.parts[0] for file in package.files or ()}
    return {name for name in names if name not in ("..", "__pycache__")}
