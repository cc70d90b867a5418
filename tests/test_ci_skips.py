"""A developer's machine without Redis or a browser skips their tests; CI may not."""

from __future__ import annotations

import pytest

SUITE = """
    import pytest

    @pytest.mark.redis
    def test_of_redis():
        pytest.skip("no server")

    @pytest.mark.browser
    @pytest.mark.skip(reason="no browser")
    def test_of_the_page():
        pass

    @pytest.mark.redis
    @pytest.mark.node
    def test_of_node():
        pytest.skip("no npm")

    def test_of_something_else():
        pytest.skip("not on this system")
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\nmarkers =\n  redis\n  browser\n  node")
    pytester.makepyfile(SUITE)
    return pytester


def run(suite: pytest.Pytester) -> pytest.RunResult:
    return suite.runpytest_inprocess("-p", "tests.support.ci_skips")


def test_at_home_they_are_skipped(suite: pytest.Pytester):
    run(suite).assert_outcomes(skipped=4)


def test_in_ci_they_fail_with_the_reason(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """The skip of Redis and of the browser is a failure; that of Node or of anything else is not."""
    monkeypatch.setenv("CI", "1")

    result = run(suite)

    result.assert_outcomes(failed=1, errors=1, skipped=2)
    result.stdout.fnmatch_lines(["*must not be skipped in CI: Skipped: no server"])
    result.stdout.fnmatch_lines(["*must not be skipped in CI: Skipped: no browser"])


def test_in_ci_no_module_is_skipped_whole(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """A missing package would otherwise hide a module's tests and their marks."""
    monkeypatch.setenv("CI", "1")
    suite.makepyfile(test_missing="import pytest; pytest.importorskip('no_such_package')")

    run(suite).stdout.fnmatch_lines(["*must not be skipped in CI:*no_such_package*"])
