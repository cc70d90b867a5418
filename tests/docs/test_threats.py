"""Each threat has a test, or a reason why it has none; docs/security.md has the table."""

from __future__ import annotations

import pytest

from tests.docs.threats import THREATS, WITHOUT_TEST, find_tests


@pytest.mark.parametrize("threat", THREATS)
def test_each_threat_has_a_test_or_a_reason(threat: str) -> None:
    """A threat whose last test is gone must get another one, or a reason that people can read."""
    assert threat in find_tests() or threat in WITHOUT_TEST, f"no test names {threat}"


def test_every_number_that_a_test_names_is_a_threat() -> None:
    assert find_tests().keys() - THREATS.keys() == set()
    assert WITHOUT_TEST.keys() <= THREATS.keys()
