"""`hitl_core` imports the gate, its values and the policy only when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hitl_core


def test_every_public_name_can_be_imported():
    for name in hitl_core.__all__:
        assert getattr(hitl_core, name).__name__ == name
    assert set(hitl_core.__all__) <= set(dir(hitl_core))


def test_the_package_alone_loads_no_library():
    script = "import hitl_core, sys; print(*{'pydantic', 'redis', 'jsonschema'} & {*sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'hitl_core' has no attribute 'Gates'"):
        hitl_core.Gates  # noqa: B018
