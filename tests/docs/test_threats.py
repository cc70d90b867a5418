"""Each threat and each fault has a test, or a reason why it has none; and the tables in the docs are up to
date.
"""

from __future__ import annotations

import pytest

from tests.docs.faults import FAULTS, faults_of
from tests.docs.named_tests import find_tests
from tests.docs.threats import THREATS, WITHOUT_TEST, threats_of


@pytest.mark.parametrize("threat", THREATS)
def test_each_threat_has_a_test_or_a_reason(threat: str) -> None:
    """A threat whose last test is gone must get another one, or a reason that people can read."""
    assert threat in find_tests(threats_of) or threat in WITHOUT_TEST, f"no test names {threat}"


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_a_test(fault: str) -> None:
    assert fault in find_tests(faults_of), f"no test names the fault {fault}"


def test_every_number_that_a_test_names_is_a_threat_or_a_fault() -> None:
    assert find_tests(threats_of).keys() - THREATS.keys() == set()
    assert find_tests(faults_of).keys() - FAULTS.keys() == set()
    assert WITHOUT_TEST.keys() <= THREATS.keys()
