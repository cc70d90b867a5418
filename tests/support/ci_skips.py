"""In CI (if the variable CI is set), a skipped test of Redis or of the browser counts as failed."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

NEVER_SKIPPED = ("redis", "browser")
#: Tests that also need npm's registry may be skipped.
UNLESS = "node"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected = hasattr(report, "wasxfail")
    must_run = any(item.get_closest_marker(name) for name in NEVER_SKIPPED)
    must_run &= item.get_closest_marker(UNLESS) is None
    if must_run and not expected:
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """No module may be skipped as a whole (`importorskip`), because that hides the marks of its tests."""
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and os.environ.get("CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"must not be skipped in CI: {reason}"
